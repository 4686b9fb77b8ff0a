"""http_get and http_post against servers on loopback: where they may go, what is
told of an answer, and what never leaves."""
import gzip
import http.server
import json
import threading
import unittest

from bench import CliTest

KEY = "sk-never-sent-0123456789"


class Site:
    """answers[path]: (status, headers, body), and what was asked."""

    def __init__(self, answers):
        self.answers, self.requests = answers, []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                site.requests.append((self.command, self.path, dict(self.headers.items()), body))
                status, headers, body = site.answers.get(self.path.split("?")[0], (404, {}, b"nothing here"))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if status != 204:
                    self.send_header("content-length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass

            do_GET = do_POST = serve

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                pass  # whoever asked had enough

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class HttpTest(CliTest):
    def site(self, **answers):
        site = Site({"/" + path: answer for path, answer in answers.items()})
        self.addCleanup(site.close)
        return site

    def call(self, tool, args, *rules, **env):
        """What the model reads, and whether it is an error."""
        self.write("script.json", json.dumps({"replies": [
            {"calls": [{"name": tool, "input": args}]},
            {"text": "ok {{result 1}}", "text_if_error": "error {{error}}"}]}))
        policy = [x for rule in (tool + "=allow", *rules) for x in ("--policy", rule)]
        done = self.rein("-q", "--no-store", "-m", "script:script.json", *policy, "go",
                         ANTHROPIC_API_KEY=KEY, GITHUB_TOKEN=KEY, **env)
        kind, _, text = done.out.partition(" ")
        self.assertIn(kind, ("ok", "error"), done.err)
        return kind, text

    def get(self, url, *rules, **env):
        return self.call("http_get", {"url": url}, *rules, **env)


HERE = "host(127.0.0.1)=allow"


class Where(HttpTest):
    def test_inside_only_where_a_rule_spells_it(self):
        site = self.site(a=(200, {"content-type": "text/plain"}, b"hello"))
        for rules in ((), ("host(*)=allow",), ("host(localhost)=allow",)):
            kind, text = self.get(site.url + "/a", *rules)
            self.assertEqual(kind, "error", rules)
            self.assertIn("host(127.0.0.1)=allow", text)
        self.assertEqual(site.requests, [])
        self.assertEqual(self.get(site.url + "/a", HERE)[0], "ok")
        self.assertEqual(self.get(f"http://localhost:{site.port}/a", "host(localhost)=allow")[0], "ok")

    def test_by_hand_the_rules_hold_too(self):
        site = self.site(a=(200, {"content-type": "text/plain"}, b"hello"))
        args = ("tools", "test", "http_get", json.dumps({"url": site.url + "/a"}))
        self.assertEqual((self.rein(*args).code, site.requests), (3, []))
        self.assertIn("hello", self.rein(*args, "--policy", HERE).out)

    def test_every_spelling_is_the_same_place(self):
        site = self.site(a=(200, {}, b"x"))
        for host in ("2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0",
                     "127.0.0.1.", "①27.0.0.1", "localhost"):
            kind, text = self.get(f"http://{host}:{site.port}/a")
            self.assertEqual(kind, "error", (host, text))
        self.assertEqual(site.requests, [])

    def test_a_deny_of_the_address_holds_for_its_names(self):
        site = self.site(a=(200, {}, b"x"))
        kind, _ = self.get(f"http://localhost:{site.port}/a", "host(localhost)=allow", "host(127.0.0.1)=deny")
        self.assertEqual((kind, site.requests), ("error", []))

    def test_no_address(self):
        for url in ("", "x", "file:///etc/passwd", "ftp://a.example/", "http://", "http:///x", "http://a b/",
                    "http://user:pw@a.example/", "gopher://a.example", "http://a.example:99999/", "//a.example",
                    "http://a.example/\r\nX: y", "http://[::1", "http://" + "a" * 9000):
            self.assertEqual(self.get(url, "host(*)=allow")[0], "error", url)


class Answers(HttpTest):
    def test_kinds_of_answers(self):
        site = self.site(
            text=(200, {"content-type": "text/plain; charset=utf-8"}, "가나\n".encode()),
            korean=(200, {"content-type": "text/html; charset=euc-kr"}, "한글".encode("cp949")),
            broken=(200, {"content-type": "text/plain"}, b"a\xffb"), none=(204, {}, b""), bare=(200, {}, b""),
            binary=(200, {"content-type": "image/png"}, b"\x89PNG\r\n\x1a\n\0\0"),
            teapot=(418, {"content-type": "text/plain"}, b"short and stout"))
        for path, word in (("text", "가나"), ("korean", "한글"), ("broken", "a\ufffdb"), ("none", "204"), ("bare", "200"),
                           ("binary", "image/png"), ("teapot", "short and stout")):
            kind, text = self.get(site.url + "/" + path, HERE)
            self.assertIn(word, text, path)
            self.assertEqual(kind, "ok", path)
        self.assertNotIn("\0", text)

    def test_a_redirect_is_the_result(self):
        other = self.site(x=(200, {}, b"secret"))
        site = self.site(go=(302, {"location": other.url + "/x?q=1"}, b""), near=(301, {"location": "/b?c=1"}, b""))
        kind, text = self.get(site.url + "/go", HERE)
        self.assertIn(f"127.0.0.1:{other.port}/x", text)
        self.assertEqual((kind, other.requests), ("error", []))
        self.assertIn(site.url + "/b?c=1", self.get(site.url + "/near", HERE)[1])
        self.assertEqual(len(site.requests), 2)

    def test_bodies_have_a_ceiling(self):
        site = self.site(big=(200, {"content-type": "text/plain"}, b"x" * (3 << 20)),
                         bomb=(200, {"content-type": "text/plain", "content-encoding": "gzip"},
                               gzip.compress(b"\0" * (64 << 20))))
        kind, text = self.get(site.url + "/big", HERE)
        self.assertEqual(kind, "ok")
        self.assertLess(len(text), 200000)
        self.assertLess(len(self.get(site.url + "/bomb", HERE)[1]), 200000)

    def test_nothing_of_ours_goes_along(self):
        site = self.site(a=(200, {"set-cookie": "id=7"}, b"x"))
        for _ in range(2):
            self.get(site.url + "/a", HERE)
        self.call("http_post", {"url": site.url + "/a", "body": "x=1"}, HERE)
        for request in site.requests:
            told = json.dumps(request[:3])
            self.assertNotIn(KEY, told)
            self.assertFalse({"cookie", "authorization", "x-api-key", "referer"} & {h.lower() for h in request[2]}, told)


class Posts(HttpTest):
    def test_bodies_and_types(self):
        site = self.site(a=(200, {}, b"taken"))
        self.call("http_post", {"url": site.url + "/a", "body": "{\"가\":1}", "content_type": "application/json"}, HERE)
        self.call("http_post", {"url": site.url + "/a", "body": "", "content_type": "text/plain"}, HERE)
        self.assertEqual((site.requests[0][0], site.requests[0][3]), ("POST", "{\"가\":1}".encode()))
        self.assertEqual(site.requests[0][2]["content-type"], "application/json")
        self.assertEqual(site.requests[1][3], b"")
        for kind in ("a\r\nX: y", "가/나", "x" * 9000, "text/plain\0"):
            told = self.call("http_post", {"url": site.url + "/a", "body": "x", "content_type": kind}, HERE)
            self.assertEqual(told[0], "error", kind)
        self.assertEqual(len(site.requests), 2)

    def test_nobody_to_ask(self):
        site = self.site(a=(200, {}, b"x"))
        self.write("script.json", json.dumps({"replies": [
            {"calls": [{"name": "http_post", "input": {"url": site.url + "/a", "body": "x"}}]}, {"text": "."}]}))
        done = self.rein("-q", "--no-store", "-m", "script:script.json", "--policy", HERE.replace("host", "http_get"), "go")
        self.assertEqual((done.code, site.requests), (15, []))


class Proxies(HttpTest):
    def test_a_proxy_leads_around_no_rule(self):
        proxy = self.site()
        kind, text = self.get("http://a.example/x", https_proxy=proxy.url)
        self.assertEqual((kind, proxy.requests), ("error", []))
        kind, text = self.get("http://127.0.0.1:1/x", https_proxy=proxy.url)
        self.assertEqual((kind, proxy.requests), ("error", []))
        self.get("http://a.example/x", "host(a.example)=allow", https_proxy=proxy.url)
        self.assertEqual([r[1] for r in proxy.requests], ["http://a.example/x"])


if __name__ == "__main__":
    unittest.main()
