"""What stdout, stderr, the log and the exit code say, and that they agree."""
import json
import os
import re
import stat
import subprocess
import unittest

from bench import KEY, PROGRAM, WAIT_S, CliTest, call_block, calls, end, says, start, text_block, slurp

LOOP = calls(("read_file", {"path": "README.md"}))
MEMBERS = ["run", "outcome", "exit", "text", "turns", "requests", "usage", "cost_usd", "duration_ms",
           "reason", "refused"]


class Output(CliTest):
    def setUp(self):
        super().setUp()
        self.write("README.md", "# 안녕\nsecond\n")

    def test_text(self):
        model = self.model(calls(("read_file", {"path": "README.md"}), text="I look."), says("It says 안녕."))
        ended = self.rein("look", model=model)
        self.assertEqual((ended.code, ended.out), (0, "It says 안녕.\n"))
        lines = ended.err.split("\n")
        self.assertEqual(lines[:4], ["I look.",
                                     '[turn 1] model requests tool: read_file({"path": "README.md"})',
                                     '[turn 1] tool returned: "# 안녕\\nsecond\\n"',
                                     "[turn 2] model wraps up (end_turn)"])
        self.assertRegex(lines[4], r"^1 tool turn, 2 model requests, 4,000 tokens in, 40 out, \d+\.\d s$")
        self.assertEqual(lines[5:], [""])

    def test_text_in_korean(self):
        model = self.model(LOOP, says("끝\n"))
        ended = self.rein("look", "--lang", "ko", model=model)
        self.assertEqual((ended.code, ended.out), (0, "끝\n"))
        lines = ended.err.split("\n")
        self.assertEqual(lines[:3], ['[턴 1] 호출 read_file {"path": "README.md"}',
                                     '[턴 1] 결과 "# 안녕\\nsecond\\n"', "[턴 2] 마무리 (end_turn)"])
        self.assertRegex(lines[3], r"^도구 호출 1턴, 모델 요청 2회로 끝났습니다\. ")

    def test_quiet(self):
        model = self.model(LOOP, says("done"))
        ended = self.rein("look", "-q", model=model)
        self.assertEqual((ended.code, ended.out, ended.err), (0, "done\n", ""))

    def test_long_lines_are_cut_and_controls_are_seen(self):
        self.write("big", "\x1b[31m" + "가" * 500)
        model = self.model(calls(("read_file", {"path": "big"})), says("done"))
        ended = self.rein("look", model=model)
        line = [l for l in ended.err.split("\n") if "returned" in l][0]
        self.assertIn("\\u{1b}[31m가가", line)
        self.assertTrue(line.endswith(' …"'), line)
        self.assertLess(len(line), 150)
        self.assertNotIn("\x1b", ended.err)

    def test_json(self):
        model = self.model(LOOP, says("done"))
        ended = self.rein("look", "--output", "json", model=model)
        self.assertEqual((ended.code, ended.err), (0, ""))
        self.assertEqual(ended.out.count("\n"), 1)
        told = json.loads(ended.out)
        self.assertEqual(list(told), MEMBERS)
        self.assertEqual((told["outcome"], told["exit"], told["text"], told["turns"], told["requests"]),
                         ("finished", 0, "done", 1, 2))
        self.assertEqual(told["usage"]["total"], 4040)

    def test_stream(self):
        model = self.model(calls(("get_time", {}), text="I look."), says("done"))
        ended = self.rein("look", "--output", "stream-json", model=model)
        lines = [json.loads(line) for line in ended.out.splitlines()]
        self.assertEqual(lines[0]["event"], "start")
        self.assertEqual([l["event"] for l in lines if "event" in l],
                         ["start", "say", "granted", "reply", "started", "result", "granted", "reply", "outcome"])
        self.assertEqual("".join(l["text"] for l in lines if l.get("stream") == "piece"), "I look.done")
        self.assertEqual(list(lines[-1]), MEMBERS)

    def test_outcomes_agree(self):
        """Exit code, object and sentence, for each way to end that a model can bring about."""
        refusal = start() + text_block("I won't") + end("refusal")
        cases = [
            ("turns", 10, [LOOP], ["--max-turns", "1"], "the limit of tool turns (1)"),
            ("turns", 10, [LOOP], ["--max-turns", "0"], "no tool turn is allowed here"),
            ("tokens", 11, [says("x")], ["--token-budget", "600"], "tokens"),
            ("tokens", 11, [says("x")], ["--token-budget", "0"], "tokens"),
            ("time", 13, [{"body": start(), "hang": True}], ["--time-limit", "300ms"], "time limit of 0.3 s"),
            ("no_progress", 14, [LOOP], [], "no progress"),
            ("no_progress", 14, [LOOP], ["--no-progress", "2-turns"], "no progress"),
            ("unapproved", 15, [calls(("write_report", {"path": "reports/x", "content": "x"})), says("ok")],
             ["--policy", "write_report=ask"], "--policy 'write_report=allow'"),
            ("refused", 16, [refusal], [], "refus"),
            ("truncated", 17, [says("half", "max_tokens")], [], "max_tokens"),
            ("context_full", 18, [says("half", "model_context_window_exceeded")], [], "context window"),
            ("empty", 19, [start() + end("end_turn")], [], "empty reply"),
            ("model_error", 20, [says("x", "solar_flare")], [], "solar_flare"),
            ("model_error", 20, [{"status": 400, "type": "application/json", "body":
              '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: bad"}}'}], [], "max_tokens: bad"),
            ("model_error", 20, [{"body": start() + text_block("ha"), "hang": True}],
             ["--idle-limit", "300ms", "--retries", "0"], "stall"),
            ("bad_tool", 22, [{"status": 400, "type": "application/json", "body":
              '{"type":"error","error":{"type":"invalid_request_error","message":"tools.0.custom.input_schema: bad"}}'}], [],
             "tools.0.custom.input_schema: bad"),
            ("not_authorised", 21, [{"status": 401, "type": "application/json", "body":
              '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}'}], [], "invalid x-api-key"),
            ("finished", 0, [calls(("get_time", {})), says("ok")], ["--policy", "get_time=deny"], None),
        ]
        for outcome, exit_code, answers, argv, sentence in cases:
            with self.subTest(outcome=outcome, argv=argv):
                model = self.model(*answers)
                text = self.rein("look", *argv, model=model)
                told = self.rein("look", *argv, "--output", "json", model=self.model(*answers))
                stream = self.rein("look", *argv, "--output", "stream-json", model=self.model(*answers))
                self.assertEqual((text.code, told.code, stream.code), (exit_code,) * 3, text.err + told.err)
                for object_ in (json.loads(told.out), json.loads(stream.out.splitlines()[-1])):
                    self.assertEqual((object_["outcome"], object_["exit"]), (outcome, exit_code))
                self.assertEqual(told.out.count("\n"), 1)
                if sentence:
                    self.assertIn(sentence, text.err)
                    self.assertIn(sentence, told.err)
                    self.assertRegex(text.err.rstrip().split("\n")[-1], r"^\d+ tool turns?, \d+ model requests?")

    def test_what_stdout_holds_where_the_run_did_not_finish(self):
        cut = self.rein("x", model=self.model(says("half an ans", "max_tokens")))
        self.assertEqual(cut.out, "half an ans\n")
        stopped = self.rein("x", "--max-turns", "0", model=self.model(calls(("get_time", {}), text="let me see")))
        self.assertEqual(stopped.out, "")
        self.assertIn("let me see", stopped.err)
        self.assertIn('tool failed: "not run: the limit of tool turns (0)', stopped.err)

    def test_nobody_can_be_asked(self):
        for data in (None, "y\ny\n"):
            model = self.model(calls(("write_report", {"path": "reports/x.md", "content": "x"})), says("ok"))
            ended = self.rein("go", "--policy", "write_report=ask", model=model, stdin=data)
            self.assertEqual((ended.code, ended.out), (15, "ok\n"))
            self.assertIn("needs approval (write_report", ended.err)
            self.assertIn("--policy 'write_report=allow'", ended.err)
            self.assertFalse(os.path.exists(os.path.join(self.root, "reports/x.md")))
            block = model.requests[1][2]["messages"][-1]["content"][0]
            self.assertTrue(block["is_error"])

    def test_retry_is_told(self):
        overloaded = {"status": 529, "type": "application/json", "body":
                      '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'}
        ended = self.rein("x", model=self.model(overloaded, says("ok")))
        self.assertEqual((ended.code, ended.out), (0, "ok\n"))
        self.assertRegex(ended.err, r"the request failed \(HTTP 529: Overloaded\): trying again in 0\.\d s")
        lines = [json.loads(l) for l in self.rein("x", "--output", "stream-json", model=self.model(
            {"body": start() + text_block("half"), "cut": 9}, says("ok"))).out.splitlines()]
        self.assertEqual([l["stream"] for l in lines if "stream" in l],
                         ["piece", "withdrawn", "retry", "piece"])

    def test_stdout_that_fails(self):
        model = self.model(says("a long answer"))
        argv = [PROGRAM, "x", "-m", "anthropic/mock", "--base-url", model.url]
        for more in ([], ["--output", "json"], ["--output", "stream-json"]):
            with self.subTest(argv=more), open("/dev/full", "wb") as full:
                done = subprocess.run(argv + more, stdout=full, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                      cwd=self.root, env=self.env(), timeout=WAIT_S)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"stdout cannot be written: No space left", done.stderr)
            with self.subTest(argv=more, to="closed pipe"):
                reader, writer = os.pipe()
                os.close(reader)
                done = subprocess.run(argv + more, stdout=writer, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                      cwd=self.root, env=self.env(), timeout=WAIT_S)
                os.close(writer)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"stdout cannot be written: Broken pipe", done.stderr)
        for argv in (["--help"], ["--version"], ["tools"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, *argv], stdout=full, stderr=subprocess.PIPE, env=self.env(),
                                      stdin=subprocess.DEVNULL, timeout=WAIT_S)
                self.assertEqual(done.returncode, 1)


class Secrets(CliTest):
    ECHO = {"status": 401, "type": "application/json", "body": json.dumps(
        {"type": "error", "error": {"type": "authentication_error", "message": f"bad key {KEY}"}})}

    def test_key_is_sent_and_shown_nowhere(self):
        log = os.path.join(self.dir, "log")
        for output in ("text", "json", "stream-json"):
            model = self.model(self.ECHO)
            ended = self.rein("x", "--output", output, "--log", log, model=model, ANTHROPIC_API_KEY=f" {KEY}\n")
            self.assertEqual(ended.code, 21)
            self.assertEqual({k.lower(): v for k, v in model.requests[0][1].items()}["x-api-key"], KEY)
            self.assertNotIn(KEY, ended.out + ended.err)
            self.assertNotIn(KEY, slurp(log))

    def test_dry_run(self):
        for output in ("text", "json"):
            ended = self.rein("안녕", "--dry-run", "--output", output, "-m", "anthropic/claude-x",
                              ANTHROPIC_API_KEY=KEY)
            self.assertEqual((ended.code, ended.err), (0, ""))
            self.assertNotIn(KEY, ended.out)
            self.assertIn("***", ended.out)
            self.assertIn("안녕", ended.out)
            self.assertIn("https://api.anthropic.com/v1/messages", ended.out)

    def test_dry_run_shows_what_is_sent(self):
        model = self.model(says("ok"))
        shown = json.loads(self.rein("x", "--dry-run", "--output", "json", model=model, ANTHROPIC_API_KEY=KEY).out)
        self.assertEqual(model.requests, [])
        self.rein("x", model=model, ANTHROPIC_API_KEY=KEY)
        path, headers, body = model.requests[0]
        self.assertEqual(shown["url"], model.url + path)
        self.assertEqual(shown["body"], body)
        sent = {k.lower(): v for k, v in headers.items()}
        for name, value in shown["headers"].items():
            self.assertEqual("***" if name == "x-api-key" else sent[name], value)
        self.assertLessEqual(set(sent) - set(shown["headers"]), {"host", "content-length", "accept-encoding"})

    def test_dry_run_needs_no_key(self):
        shown = json.loads(self.rein("x", "--dry-run", "--output", "json", "-m", "anthropic/x").out)
        self.assertEqual((shown["key_from"], shown["key_set"]), ("ANTHROPIC_API_KEY", False))

    def test_log(self):
        log = os.path.join(self.dir, "log")
        model = self.model({"status": 529, "type": "application/json", "body": '{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}'},
                           calls(("get_time", {})), says("ok"))
        self.assertEqual(self.rein("x", "--log", log, "-q", model=model).code, 0)
        self.assertEqual(stat.S_IMODE(os.stat(log).st_mode), 0o600)
        lines = [json.loads(line) for line in slurp(log).splitlines()]
        for line in lines:
            self.assertRegex(line["at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual([l["record"]["event"] for l in lines if "record" in l],
                         ["start", "say", "granted", "failed", "tick", "granted", "reply", "started",
                          "result", "granted", "reply", "outcome"])
        self.assertEqual(lines[-1]["end"]["outcome"], "finished")
        self.assertTrue(any("Busy" in l.get("note", "") for l in lines))
        self.assertIn("req_test_7", json.dumps(lines))
        self.assertEqual(self.rein("x", "--log", log, "-q", model=model).code, 0)
        self.assertGreater(len(slurp(log).splitlines()), len(lines))

    def test_log_that_fails(self):
        ended = self.rein("x", "--log", "/dev/full", model=self.model(says("ok")))
        self.assertEqual((ended.code, ended.out), (0, "ok\n"))
        self.assertEqual(ended.err.count("the log /dev/full cannot be written any more"), 1)

    def test_log_on_a_pipe_that_nobody_reads(self):
        os.mkfifo(os.path.join(self.root, "pipe"))
        ended = self.rein("x", "--log", "pipe", model=self.model(says("ok")))
        self.assertEqual(ended.code, 2)
        self.assertIn("the log pipe cannot be opened", ended.err)


class Proxies(CliTest):
    def test_proxy_is_used_and_its_password_masked(self):
        proxy = self.model(says("through"))
        address = proxy.url.replace("http://", "http://user:geheim-passwort@")
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            ended = self.rein("x", "-m", "anthropic/mock", "--base-url", "http://model.invalid", ANTHROPIC_API_KEY=KEY,
                              **{name: address})
            self.assertEqual((ended.code, ended.out), (0, "through\n"), ended.err)
            self.assertEqual(proxy.requests[-1][0], "http://model.invalid/v1/messages")
        log = os.path.join(self.dir, "log")
        ended = self.rein("x", "-m", "anthropic/mock", "--base-url", "http://model.invalid", "--retries", "0",
                          "--log", log, ANTHROPIC_API_KEY=KEY, HTTP_PROXY="http://user:geheim-passwort@127.0.0.1:1")
        self.assertEqual(ended.code, 20)
        self.assertNotIn("geheim-passwort", ended.err + slurp(log))

    def test_this_machine_and_no_proxy_go_direct(self):
        model = self.model(says("direct"))
        self.assertEqual(self.rein("x", model=model, HTTP_PROXY="http://127.0.0.1:1").out, "direct\n")
        ended = self.rein("x", "-m", "anthropic/mock", "--base-url", "http://model.invalid", "--retries", "0",
                          ANTHROPIC_API_KEY=KEY, HTTP_PROXY=model.url, NO_PROXY="other.invalid,.invalid")
        self.assertEqual(ended.code, 20)


class Tools(CliTest):
    def test_list(self):
        told = json.loads(self.rein("tools", "--output", "json", "--policy", "get_time=deny").out)
        self.assertEqual([t["name"] for t in told], ["get_time", "read_file", "list_files", "search_files",
                                                     "github_repo_info", "http_get", "http_post",
                                                     "write_file", "edit_file", "delete_file",
                                                     "write_report", "exec", "git_diff"])
        self.assertEqual([t["verdict"] for t in told], ["deny"] + ["allow"] * 4 + ["ask"] * 5 + ["allow", "ask", "allow"])
        self.assertEqual(told[1]["schema"]["required"], ["path"])
        self.assertEqual(told[7]["touches"], ["writes"])
        text = self.rein("tools").out
        for tool in told:
            self.assertIn(tool["name"], text)
            self.assertIn(tool["description"], text)

    def test_denied_at_the_start_is_not_offered(self):
        model = self.model(calls(("get_time", {})), says("ok"))
        ended = self.rein("x", "--policy", "get_time=deny", model=model)
        self.assertEqual(ended.code, 0)
        self.assertNotIn("get_time", [t["name"] for t in model.requests[0][2]["tools"]])
        self.assertIn("the policy forbids it", json.dumps(model.requests[1][2]["messages"]))


class Demo(CliTest):
    FIRST = "README.md의 첫 줄을 읽고, 그다음 지금 몇 시인지 알려 줘"
    SECOND = "이 프로젝트에서 lodash를 쓰고 있나요? GitHub에서 어떤 상태인지도 알아봐 주세요"

    def test_first(self):
        self.write("README.md", "# 고삐\n")
        ended = self.rein("-m", "demo", self.FIRST, "--lang", "ko")
        self.assertEqual(ended.code, 0)
        self.assertIn("# 고삐", ended.out)
        self.assertRegex(ended.out, r"\d{4}-\d\d-\d\dT\d\d:\d\d")
        self.assertRegex(ended.err, r"\[턴 1\] 호출 read_file ")
        self.assertRegex(ended.err, r"\[턴 2\] 호출 get_time ")
        self.assertIn("[턴 3] 마무리 (end_turn)\n도구 호출 2턴, 모델 요청 3회로 끝났습니다.", ended.err)

    def test_second(self):
        self.write("package.json", '{"dependencies": {"lodash": "^4.17.21"}}\n')
        model = self.model(says("unused"))
        model.page = {"full_name": "lodash/lodash", "description": "utilities", "archived": False,
                      "stargazers_count": 60000, "pushed_at": "2026-01-01T00:00:00Z"}
        ended = self.rein("-m", "demo", self.SECOND, "--lang", "ko", GITHUB_API_URL=model.url)
        self.assertEqual(ended.code, 0, ended.err)
        self.assertEqual(model.requests[0][0], "/repos/lodash/lodash")
        self.assertIn("최종 답변:", ended.out)
        self.assertIn("도구 호출 3턴, 모델 요청 4회로 끝났습니다.", ended.err)

    def test_served(self):
        """The demo over HTTP, played by another rein; the server ends with a signal."""
        self.write("README.md", "# 고삐\n")
        server = subprocess.Popen([PROGRAM, "script", "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  stdin=subprocess.DEVNULL, cwd=self.root, env=self.env())
        try:
            url = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline().decode())[0]
            ended = self.rein("-m", "anthropic/any", "--base-url", url, self.FIRST, "--lang", "ko")
            self.assertEqual(ended.code, 0, ended.err)
            self.assertIn("도구 호출 2턴, 모델 요청 3회로 끝났습니다.", ended.err)
        finally:
            server.terminate()
            server.communicate(timeout=WAIT_S)

    def test_script_file(self):
        ended = self.rein("-m", f"script:{self.write('bad.json', '{')}", "x")
        self.assertEqual(ended.code, 2)
        self.assertIn("bad.json", ended.err)


if __name__ == "__main__":
    unittest.main()
