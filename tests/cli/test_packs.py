"""Tools that packs describe, against a service on loopback that answers as it is told."""
import json
import os
import threading
import http.server
import unittest

from bench import CliTest, calls, says, slurp

SECRET = "pack-secret-0123456789"
PACK = {
    "pack": "shop", "url": "https://shop.invalid", "url_env": "SHOP_URL",
    "secrets": {"SHOP_TOKEN": "from the shop's settings"},
    "headers": {"Authorization": "Bearer ${SHOP_TOKEN}"},
    "error": {"message": "/message", "code": "/code"},
    "pace": {"wait_s": 0},
    "tools": [
        {"name": "shop_find", "description": "Finds things.", "touches": ["reads_private", "reads_outside"],
         "schema": {"type": "object", "properties": {"q": {"type": "string"}, "after": {"type": "string"}},
                    "required": ["q"]},
         "http": {"path": "/items/{{q}}", "query": {"after": "{{after}}"},
                  "paging": {"cursor": "/next", "as": "after", "pages": 2},
                  "result": {"at": "/items", "fields": {"id": "/id"}, "empty": "No such thing."}}},
        {"name": "shop_buy", "description": "Buys a thing.",
         "schema": {"type": "object", "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
                    "required": ["id"]},
         "http": {"method": "POST", "path": "/orders", "body": {"item": "{{id}}", "note": "for {{note}}"}}}]}


class Shop:
    """Answers request i with answers[i]: (status, body) or (status, body, headers)."""

    def __init__(self, answers):
        self.answers, self.requests = list(answers), []
        shop = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                shop.requests.append((self.command, self.path, dict(self.headers.items()), body.decode()))
                answer = shop.answers[min(len(shop.requests), len(shop.answers)) - 1]
                status, body, headers = (*answer, {})[:3]
                data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data) + (1 if status == 299 else 0)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = status == 299

            do_GET = do_POST = serve

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class PackTest(CliTest):
    def setUp(self):
        super().setUp()
        self.pack = self.write("shop.json", json.dumps(PACK))

    def shop(self, *answers):
        shop = Shop(answers)
        self.addCleanup(shop.close)
        return shop

    def hand(self, shop, tool, args, **env):
        env = {"SHOP_URL": shop.url, "SHOP_TOKEN": SECRET, **env}
        return self.rein("tools", "test", tool, json.dumps(args), "--pack", "./shop.json", **env)


class Files(PackTest):
    def test_shipped(self):
        done = self.rein("pack", "list")
        self.assertEqual(done.code, 0)
        for name in ("notion_read_page", "airtable_update_records", "github_create_draft_pr", "git_commit"):
            self.assertIn(name, done.out)
        shown = self.rein("pack", "show", "notion")
        self.assertIn('"pack": "notion"', shown.out)
        self.write("copy.json", shown.out)
        self.assertEqual(self.rein("pack", "check", "./copy.json").code, 0)
        self.assertEqual(json.loads(self.rein("pack", "show", "schema").out)["type"], "object")

    def test_init(self):
        done = self.rein("init", "--pack", "my_shop")
        self.assertEqual((done.code, done.out), (0, ""), done.err)
        self.assertIn("MY_SHOP_TOKEN", self.read("my_shop.json"))
        self.assertEqual(self.rein("pack", "check", "./my_shop.json").code, 0)
        again = self.rein("init", "--pack", "my_shop")
        self.assertEqual(again.code, 2)
        self.assertIn("already there", again.err)
        for argv in (["--pack", "My shop"], ["--pack", "../x"], []):
            self.assertEqual(self.rein("init", *argv).code, 2)
        self.assertEqual(sorted(os.listdir(self.root)), ["my_shop.json", "shop.json"])

    def test_slips_name_the_file_the_tool_and_the_field(self):
        for change, words in (({"url": "http://shop.invalid"}, ["shop", "http://shop.invalid", "https"]),
                              ({"tools": []}, ["shop", "/tools"]), ({"extra": 1}, ["shop", "extra"])):
            self.write("bad.json", json.dumps({**PACK, **change}))
            done = self.rein("pack", "check", "./bad.json")
            self.assertEqual((done.code, done.out), (2, ""))
            for word in ["bad.json", *words]:
                self.assertIn(word, done.err)
        self.write("bad.json", "{\n  \"pack\": }")
        self.assertIn("bad.json, line 2, column 11", self.rein("pack", "check", "./bad.json").err)
        for name, words in (("nope", "notion, airtable"), ("./nope.json", "nope.json")):
            done = self.rein("pack", "check", name)
            self.assertEqual(done.code, 2)
            self.assertIn(words, done.err)

    def test_without_its_secret_nothing_starts(self):
        done = self.rein("-m", "demo", "--pack", "./shop.json", "hi")
        self.assertEqual((done.code, done.out), (2, ""))
        self.assertIn("SHOP_TOKEN", done.err)
        self.assertIn("from the shop's settings", done.err)
        self.assertEqual(self.rein("-m", "demo", "--pack", "./shop.json", "-t", "get_time", "hi").code, 0)

    def test_names_cannot_be_shared(self):
        taken = {**PACK, "tools": [{**PACK["tools"][0], "name": "read_file"}]}
        self.write("taken.json", json.dumps(taken))
        done = self.rein("tools", "--pack", "./taken.json")
        self.assertEqual(done.code, 2)
        self.assertIn("read_file", done.err)
        self.assertEqual(self.rein("tools", "--pack", "./shop.json,./shop.json").code, 2)

    def test_stars_choose_tools(self):
        done = self.rein("tools", "--pack", "./shop.json", "-t", "shop_*,read_file", "--output", "json")
        self.assertEqual([t["name"] for t in json.loads(done.out)], ["shop_find", "shop_buy", "read_file"])
        self.assertEqual(self.rein("tools", "-t", "shop_*").code, 2)


class Requests(PackTest):
    def test_pages_are_joined(self):
        shop = self.shop((200, {"items": [{"id": 1, "x": 0}], "next": "한"}),
                         (200, {"items": [{"id": 2.50}], "next": "c2"}))
        done = self.hand(shop, "shop_find", {"q": "가 나"})
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(done.out, '[{"id":1},{"id":2.5}]\n[2 shown; more follow: read on with after = "c2"]\n')
        self.assertEqual([r[1] for r in shop.requests],
                         ["/items/%EA%B0%80%20%EB%82%98", "/items/%EA%B0%80%20%EB%82%98?after=%ED%95%9C"])
        self.assertEqual(shop.requests[0][2]["Authorization"], f"Bearer {SECRET}")

    def test_secrets_are_masked(self):
        shop = self.shop((401, {"message": f"bad key {SECRET}"}))
        done = self.hand(shop, "shop_find", {"q": "a"})
        self.assertEqual(done.code, 3)
        self.assertNotIn(SECRET, done.out + done.err)
        self.assertIn("SHOP_TOKEN", done.out)
        m = self.model(calls(("shop_find", {"q": "a"})), says("done"))
        done = self.rein("hi", "--pack", "./shop.json", "--policy", "shop_find=allow", "--log", "log.jsonl",
                         model=m, SHOP_URL=shop.url, SHOP_TOKEN=SECRET)
        self.assertEqual(done.code, 0, done.err)
        self.assertNotIn(SECRET, json.dumps(m.requests) + slurp(self.root, "log.jsonl") + done.err)
        for folder, _, files in os.walk(self.home):
            for name in files:
                with open(os.path.join(folder, name), "rb") as f:
                    self.assertNotIn(SECRET.encode(), f.read())

    def test_what_is_too_fast_is_asked_again(self):
        shop = self.shop((429, {}, {"retry-after": "0"}), (429, {}), (200, {"id": 7}))
        done = self.hand(shop, "shop_buy", {"id": 7, "note": "\"} x"})
        self.assertEqual((done.code, done.out), (0, '{"id":7}\n'))
        self.assertEqual(len(shop.requests), 3)
        self.assertEqual(json.loads(shop.requests[0][3]), {"item": 7, "note": "for \"} x"})
        shop = self.shop((429, {"message": "slow down"}, {"retry-after": "3600"}))
        done = self.hand(shop, "shop_find", {"q": "a"})
        self.assertEqual((done.code, len(shop.requests)), (3, 1))
        self.assertIn("3600", done.out)

    def test_a_write_that_may_have_happened_is_not_made_again(self):
        for status in (500, 299):
            shop = self.shop((status, {"message": "oops"}))
            done = self.hand(shop, "shop_buy", {"id": 1})
            self.assertEqual((done.code, len(shop.requests)), (3, 1))
            self.assertIn("not known whether", done.out)
            shop = self.shop((status, {}), (200, {"items": [{"id": 3}]}))
            done = self.hand(shop, "shop_find", {"q": "a"})
            self.assertEqual((done.out, len(shop.requests)), ('[{"id":3}]\n', 2))

    def test_redirects_take_no_key_along(self):
        other = self.shop((200, {"items": []}))
        shop = self.shop((302, "", {"location": other.url + "/x"}))
        done = self.hand(shop, "shop_find", {"q": "a"})
        self.assertEqual((done.code, other.requests), (3, []))
        self.assertIn(other.url, done.out)

    def test_three_kinds_of_nothing(self):
        done = self.hand(self.shop((200, {"items": []})), "shop_find", {"q": "a"})
        self.assertEqual((done.code, done.out), (0, "No such thing.\n"))
        done = self.hand(self.shop((404, {"message": "no such shelf", "code": "gone"})), "shop_find", {"q": "a"})
        self.assertEqual((done.code, done.out), (3, "shop_find: the service answered 404 gone: no such shelf\n"))
        done = self.hand(self.shop((200, {"elements": []})), "shop_find", {"q": "a"})
        self.assertEqual(done.code, 3)
        self.assertIn("/items", done.out)

    def test_arguments_that_want_out(self):
        shop = self.shop((200, {"items": []}))
        for value in ("..", "a/b", "", "a\r\nb", "\\x"):
            done = self.hand(shop, "shop_find", {"q": value})
            self.assertEqual(done.code, 3, value)
        self.assertEqual(shop.requests, [])
        self.assertEqual(self.hand(shop, "shop_find", {}).code, 2)
        self.assertIn("shop_find, shop_buy", self.hand(shop, "nonsense", {}).err)

    def test_a_dead_service_is_named(self):
        shop = self.shop((200, {}))
        shop.close()
        done = self.hand(shop, "shop_find", {"q": "a"})
        self.assertEqual(done.code, 3)
        self.assertIn(shop.url, done.out)

    def test_limits_of_the_schema_hold(self):
        m = self.model(calls(("airtable_update_records", {"base_id": "app" + "A" * 14, "table": "t", "records":
                             [{"id": "rec" + "A" * 14, "fields": {}}] * 6})), says("done"))
        shop = self.shop((200, {}))
        done = self.rein("hi", "--pack", "airtable", "--policy", "airtable_update_records=allow", model=m,
                         AIRTABLE_API_URL=shop.url, AIRTABLE_TOKEN=SECRET)
        self.assertEqual((done.code, shop.requests), (0, []))
        told = json.dumps(m.requests[-1][2]["messages"][-1])
        self.assertIn("5", told)
        self.assertIn("6", told)


class Commands(PackTest):
    def setUp(self):
        super().setUp()
        tool = {"description": "d", "schema": {"type": "object", "properties": {
            "words": {"type": "array", "items": {"type": "string"}}, "n": {"type": "string"}}}}
        self.write("cmd.json", json.dumps({"pack": "cmd", "secrets": {"CMD_KEY": "k"}, "tools": [
            {**tool, "name": "echo", "command": {"argv": ["printf", "[%s]", "n={{n}}", "{{words}}"]}},
            {**tool, "name": "ends", "command": {"argv": ["printf", "[%s]", "--", "{{words}}"]}},
            {**tool, "name": "stdin", "command": {"argv": ["cat"], "stdin": "arguments"}},
            {**tool, "name": "key", "command": {"argv": ["sh", "-c", 'printf %s "$CMD_KEY" | wc -c'], "secrets": ["CMD_KEY"]}},
            {**tool, "name": "fails", "command": {"argv": ["sh", "-c", "echo why >&2; exit 4"]}}]}))

    def cmd(self, tool, args, **env):
        return self.rein("tools", "test", tool, json.dumps(args), "--pack", "./cmd.json", "--sandbox", "off",
                         **{"CMD_KEY": SECRET, **env})

    def test_words_stay_words(self):
        done = self.cmd("echo", {"n": "a b;$(id) '\"", "words": ["x y", "가", "*"]})
        self.assertEqual(done.out, "[n=a b;$(id) '\"][x y][가][*]\n")
        self.assertEqual(self.cmd("echo", {"words": []}).out, "[]\n")

    def test_no_option_is_made(self):
        self.assertEqual(self.cmd("echo", {"words": ["-v"]}).code, 3)
        self.assertEqual(self.cmd("ends", {"words": ["-v"]}).out, "[--][-v]\n")

    def test_stdin_key_and_failure(self):
        self.assertEqual(json.loads(self.cmd("stdin", {"n": "한"}).out), {"n": "한"})
        self.assertEqual(self.cmd("key", {}).out, f"{len(SECRET)}\n")
        self.assertEqual(self.cmd("fails", {}).out, "fails failed (exit status 4): why\n")


if __name__ == "__main__":
    unittest.main()
