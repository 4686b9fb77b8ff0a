"""Responses and Chat Completions through the real program: both tutorial tasks
on every wire, played by `rein script`, and the handed cases of these wires. Every
request passes the handed checker of histories."""
import glob
import http.client
import http.server
import json
import os
import select
import subprocess
import sys
import threading
import unittest

from harness import CASES, PROGRAM, CaseTest, step

TASKS = {"README": "README.md의 첫 줄을 읽고, 그다음 지금 몇 시인지 알려 줘",
         "lodash": "이 프로젝트에서 lodash를 쓰고 있나요? GitHub에서 어떤 상태인지도 알아봐 주세요"}
REPOSITORY = {"full_name": "lodash/lodash", "stargazers_count": 60123, "open_issues_count": 7,
              "archived": False, "pushed_at": "2026-01-02T03:04:05Z", "forks_count": 1,
              "subscribers_count": 2, "default_branch": "main", "description": "x", "license": None}


def chunk(**choice):
    return "data: " + json.dumps({"id": "c", "model": "m", "choices": [{"index": 0, **choice}]},
                                 ensure_ascii=False) + "\n\n"


CHAT_OK = chunk(delta={"content": "됐습니다"}, finish_reason="stop") + "data: [DONE]\n\n"
RESPONSES_OK = "data: " + json.dumps({"type": "response.completed", "response": {
    "id": "r", "output": [{"type": "message", "role": "assistant", "id": "m", "content": [
        {"type": "output_text", "text": "됐습니다"}]}]}}) + "\n\n"


class Recorder(http.server.BaseHTTPRequestHandler):
    """Passes model requests on to `rein script` and keeps them; is GitHub, too."""

    def log_message(self, *words):
        pass

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, "application/json", json.dumps(REPOSITORY).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.kept.append((self.path, dict(self.headers), body))
        behind = http.client.HTTPConnection(self.server.behind, timeout=30)
        behind.request("POST", self.path, body)
        got = behind.getresponse()
        self.answer(got.status, got.getheader("content-type"), got.read())
        behind.close()


class Wires(CaseTest):
    wire = "anthropic"

    def env(self, url, more=None):
        base = url if self.wire == "anthropic" else url + "/v1"
        keys = {"OPENAI_API_KEY": "test-key", "OPENAI_BASE_URL": base}
        return super().env(url, {**keys, **(more or {})})

    def argv(self, *options, task="해 줘"):
        made = super().argv(*options, task=task)
        made[made.index("anthropic/mock-1")] = self.wire + "/mock-1"
        return made

    def check(self, protocol, paths):
        ran = subprocess.run([sys.executable, os.path.join(CASES, "_tools/check_history.py"), protocol, *paths],
                             capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def check_history(self):
        paths = sorted(glob.glob(os.path.join(self.out, "req-*.json")))
        self.assertTrue(paths, "no request was made")
        self.check({"openai": "responses"}.get(self.wire, self.wire), paths)
        return self.requests()

    def results(self, request):
        """The results at the end of the request, as texts."""
        if self.wire == "chat":
            return [m["content"] for m in request["messages"] if m["role"] == "tool"]
        return [i["output"] for i in request["input"] if i.get("type") == "function_call_output"]


class Tutorial(Wires):
    def serve_script(self):
        child = subprocess.Popen([PROGRAM, "script", "demo"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.assertTrue(select.select([child.stdout], [], [], 20)[0], "rein script did not start")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
        server.behind = child.stdout.readline().decode().strip().removeprefix("http://")
        server.kept = []
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server, f"http://127.0.0.1:{server.server_port}"

    def play(self, wire, task):
        self.wire = wire
        os.makedirs(self.root, exist_ok=True)
        for name, text in (("README.md", "# 작은 프로젝트\n둘째 줄\n"), ("a.js", "require('lodash')\n"),
                           ("package.json", '{"dependencies": {"lodash": "4"}}\n')):
            with open(os.path.join(self.root, name), "w", encoding="utf-8") as f:
                f.write(text)
        server, url = self.serve_script()
        ran = self.rein(url, task=TASKS[task], env={"GITHUB_API_URL": url})
        self.assertEqual((ran.returncode, ran.json["outcome"]), (0, "finished"), ran.said)
        paths = []
        for i, (_, headers, body) in enumerate(server.kept):
            paths.append(os.path.join(self.dir, f"{wire}-{task}-{i}.json"))
            with open(paths[-1], "wb") as f:
                f.write(body)
            key = headers.get("x-api-key") or headers.get("authorization")
            self.assertIn(key, ("test-key", "Bearer test-key"))
        self.check({"openai": "responses"}.get(wire, wire), paths)
        self.check_prefix(wire, [body for _, _, body in server.kept])
        return ran, server.kept

    def check_prefix(self, wire, bodies):
        """Cache marks left out, a request begins with the last one's messages."""
        end = {"anthropic": b'],"max_tokens"', "openai": b'],"max_output_tokens"', "chat": b'],"max_tokens"'}[wire]
        bare = [body.replace(b',"cache_control":{"type":"ephemeral"}', b"") for body in bodies]
        for before, after in zip(bare, bare[1:]):
            until = before.rindex(end)
            self.assertTrue(after.startswith(before[:until]))

    def test_readme_on_each_wire(self):
        for wire in ("anthropic", "openai", "chat"):
            with self.subTest(wire):
                ran, kept = self.play(wire, "README")
                self.assertIn('"# 작은 프로젝트"', ran.json["text"])
                self.assertEqual((ran.json["turns"], ran.json["requests"], len(kept)), (2, 3, 3))

    def test_lodash_on_each_wire(self):
        said = set()
        for wire in ("anthropic", "openai", "chat"):
            with self.subTest(wire):
                ran, kept = self.play(wire, "lodash")
                self.assertIn("60123", ran.json["text"])
                self.assertEqual((ran.json["turns"], ran.json["requests"], len(kept)), (3, 4, 4))
                said.add(ran.json["text"])
        self.assertEqual(len(said), 1)

    def test_paths_of_requests(self):
        for wire, path in (("openai", "/v1/responses"), ("chat", "/v1/chat/completions")):
            _, kept = self.play(wire, "README")
            self.assertEqual({p for p, _, _ in kept}, {path})


class Chat(Wires):
    wire = "chat"

    def test_S05_stream_without_its_end_is_a_failure(self):
        self.copy_case("S05")
        ran = self.rein(self.serve([step(file="cut-chat.sse")]))
        self.assertEqual((ran.returncode, len(self.requests())), (20, 3))
        ran = self.rein(self.serve([step(file="chat-nodone.sse")]))
        self.assertEqual((ran.returncode, ran.json["text"], len(self.requests())), (0, "완료", 1))

    def test_S07_parallel_calls_are_not_merged(self):
        self.copy_case("S07")
        os.makedirs(self.root)
        for name in ("가.txt", "나.txt"):
            with open(os.path.join(self.root, name), "w", encoding="utf-8") as f:
                f.write(name + "의 내용\n")
        for name in ("same-index", "no-index", "interleaved", "null-fields"):
            with self.subTest(name):
                url = self.serve([step(file=name + ".sse", cuts="each"), step(CHAT_OK)])
                ran = self.rein(url)
                self.assertEqual(ran.returncode, 0, ran.said)
                made = self.check_history()
                results = self.results(made[1])
                self.assertEqual(len(results), 2)
                self.assertIn("가.txt의 내용", results[0])
                self.assertIn("나.txt의 내용", results[1])

    def test_S09_no_arguments_are_an_empty_object(self):
        self.copy_case("S09")
        for name in ("chat-empty.sse", "chat-space.sse"):
            with self.subTest(name):
                ran = self.rein(self.serve([step(file=name), step(CHAT_OK)]))
                made = self.check_history()
                self.assertEqual((ran.returncode, len(made)), (0, 2), ran.said)
                call = made[1]["messages"][1]["tool_calls"][0]
                self.assertEqual(call["function"]["arguments"], "{}")
                self.assertEqual(len(self.results(made[1])), 1)
                self.assertNotIn("Error: ", self.results(made[1])[0])

    def test_M08_lying_stream_runs_nothing(self):
        self.copy_case("M08")
        ran = self.rein(self.serve([step(file="lying.sse"), step(CHAT_OK)]))
        made = self.check_history()
        self.assertEqual((ran.returncode, len(made)), (0, 2), ran.said)
        sent = json.loads(made[1]["messages"][1]["tool_calls"][0]["function"]["arguments"])
        self.assertEqual(sent, {"INVALID_JSON": '{"path":"보고서.md","content":"가나'})
        self.assertRegex(self.results(made[1])[0], "^Error: ")
        self.assertEqual(glob.glob(os.path.join(self.root, "**", "보고서.md"), recursive=True), [])


class Responses(Wires):
    wire = "openai"

    def test_S05_stream_without_its_end_is_a_failure(self):
        self.copy_case("S05")
        ran = self.rein(self.serve([step(file="cut-responses.sse")]))
        self.assertEqual((ran.returncode, len(self.requests())), (20, 3))

    def test_S11_terminal_events_end_at_once(self):
        self.copy_case("S11")
        for script in ("replay-error.json", [step(file="failed.sse", end="hang")]):
            ran = self.rein(self.serve(script), "--retries", "0")
            self.assertEqual((ran.returncode, len(self.requests())), (20, 1), ran.said)
            self.assertLess(ran.seconds, 2)
            self.assertRegex(ran.said, "busy|내부 오류")

    def test_S11_incomplete_runs_no_call(self):
        self.copy_case("S11")
        ran = self.rein(self.serve([step(file="incomplete.sse", end="hang"), step(RESPONSES_OK)]))
        made = self.check_history()
        self.assertEqual((ran.returncode, ran.json["text"], len(made)), (0, "됐습니다", 2), ran.said)
        self.assertRegex(self.results(made[1])[0], "^Error: .*limit")
        self.assertEqual(made[1]["input"][1]["id"], "fc1")

    def test_items_go_back_and_ids_do_not_repeat(self):
        """Servers that count calls anew in each response (call_0, call_0, …)."""
        item = {"type": "function_call", "id": "fc", "call_id": "call_0", "name": "get_time",
                "arguments": "{}", "status": "completed", "phase": "commentary"}
        secret = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "abc"}
        again = "data: " + json.dumps({"type": "response.completed", "response": {
            "id": "r", "output": [secret, item]}}) + "\n\n"
        ran = self.rein(self.serve([step(again), step(again), step(RESPONSES_OK)]))
        made = self.check_history()
        self.assertEqual((ran.returncode, len(made)), (0, 3), ran.said)
        items = made[2]["input"]
        self.assertEqual([i["type"] for i in items], ["message"] + ["reasoning", "function_call",
                                                                    "function_call_output"] * 2)
        self.assertEqual((items[1], items[2]), (secret, item))
        self.assertEqual(items[5]["phase"], "commentary")
        self.assertNotEqual(items[2]["call_id"], items[5]["call_id"])
        self.assertEqual(items[5]["call_id"], items[6]["call_id"])
        self.assertEqual((made[2]["store"], made[2]["stream"]), (False, True))
        self.assertEqual({t["strict"] for t in made[2]["tools"]}, {False})


if __name__ == "__main__":
    unittest.main()
