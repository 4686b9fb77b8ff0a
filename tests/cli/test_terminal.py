"""The program on a terminal: streaming, the status line, the question, signals."""
import json
import os
import re
import signal
import subprocess
import termios
import time
import unittest

from bench import WAIT_S, PROGRAM, CliTest, calls, end, says, start, text_block, slurp

REPORT = calls(("write_report", {"path": "reports/x.md", "content": "본문"}))
ASK = ["--policy", "write_report=ask"]
QUESTION = "[v] show all > "
# Of everything shown at the question: nothing of this may reach the terminal.
HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\x80-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


class Screen(CliTest):
    def test_stream_and_status(self):
        self.write("README.md", "# 안녕\n")
        terminal = self.terminal("look", model=self.model(
            calls(("read_file", {"path": "README.md"}), text="I look."), says("It says 안녕.")))
        self.assertEqual(terminal.wait(), 0)
        lines = [line.rstrip() for line in terminal.lines]
        self.assertEqual(lines[0], "I look.")
        self.assertEqual(lines[3], "It says 안녕.")
        self.assertEqual(lines[4], "[turn 2] model wraps up (end_turn)")
        self.assertTrue(lines[5].startswith("1 tool turn, 2 model requests"), lines)
        self.assertEqual(lines[6:], [""], "nothing of the status line is left")
        self.assertRegex(terminal.text, r"turns 1/30 \| tokens 2.0k/300k \| 0:00 \| waiting for the model")
        self.assertIn("\x1b[2m", terminal.text)

    def test_no_color(self):
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            terminal = self.terminal("look", model=self.model(says("ok")), **env)
            self.assertEqual(terminal.wait(), 0)
            self.assertNotIn("m", "".join(re.findall(r"\x1b\[[0-9;]*([A-Za-z])", terminal.text)), env)
            if "TERM" in env:
                self.assertNotIn("\x1b", terminal.text)
                self.assertNotIn("\r\x1b", terminal.text)
        terminal = self.terminal("look", model=self.model(says("ok")), NO_COLOR="")
        terminal.wait()
        self.assertIn("\x1b[2m", terminal.text)

    def test_quiet_shows_no_status(self):
        terminal = self.terminal("look", "-q", model=self.model(says("ok")))
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(terminal.text, "ok\r\n")

    def test_narrow(self):
        for columns in (1, 2, 10, 33, 34):
            terminal = self.terminal("look", "--lang", "ko", columns=columns, model=self.model(says("ok")))
            self.assertEqual(terminal.wait(), 0)
            for status in re.findall(r"\x1b\[2m(턴 0/30[^\x1b]*)\x1b", terminal.text):
                wide = sum(2 if ord(c) >= 0x1100 else 1 for c in status)
                self.assertLess(wide, columns if columns > 1 else 80, status)

    def test_status_counts_seconds(self):
        terminal = self.terminal("look", "--time-limit", "2500ms", model=self.model({"body": start(), "hang": True}))
        terminal.until("0:00/0:02")
        terminal.until("0:01/0:02")
        self.assertEqual(terminal.wait(), 13)

    def test_controls_of_the_answer_are_seen(self):
        terminal = self.terminal("look", model=self.model(says("a\x1b]52;c;xx\x07b\u202ec")))
        self.assertEqual(terminal.wait(), 0)
        self.assertIn("a\\u{1b}]52;c;xx\\u{7}b\\u{202e}c", terminal.text)
        self.assertEqual(self.rein("look", model=self.model(says("a\x1bb"))).out, "a\x1bb\n")

    def test_withdrawn(self):
        terminal = self.terminal("look", model=self.model(
            {"body": start() + text_block("half a rep"), "cut": 9}, says("whole")))
        self.assertEqual(terminal.wait(), 0)
        text = "\n".join(terminal.lines)
        self.assertLess(text.index("half a rep"), text.index("(withdrawn: "))
        self.assertLess(text.index("(withdrawn: "), text.index("whole"))

    def test_an_answer_that_a_lowered_limit_cut_is_asked_for_again(self):
        half = start(1500) + text_block("half a rep") + end("max_tokens")
        task, budget = "x" * 6000, ("--token-budget", "9000", "-t", "none")
        terminal = self.terminal(task, *budget, model=self.model(half, says("whole")))
        self.assertEqual(terminal.wait(), 0)
        text = "\n".join(terminal.lines)
        self.assertLess(text.index("half a rep"), text.index("(withdrawn: "))
        self.assertIn("there is more room", text)
        model = self.model(half, says("whole"))
        ended = self.rein(task, *budget, "--output", "stream-json", model=model)
        lines = [json.loads(line) for line in ended.out.splitlines()]
        self.assertEqual([line["stream"] for line in lines if "stream" in line],
                         ["piece", "withdrawn", "warning", "piece"])
        self.assertEqual((lines[-1]["text"], lines[-1]["requests"]), ("whole", 2))
        first, second = (request[2] for request in model.requests)
        self.assertGreaterEqual(second.pop("max_tokens"), first.pop("max_tokens") + 512)
        self.assertEqual(first, second)

    def test_stdout_elsewhere(self):
        path = os.path.join(self.dir, "out")
        with open(path, "wb") as out:
            terminal = self.terminal("look", stdout=out.fileno(), model=self.model(
                calls(("get_time", {}), text="I look."), says("answer")))
            self.assertEqual(terminal.wait(), 0)
        self.assertEqual(slurp(path), "answer\n")
        self.assertIn("I look.", terminal.text)
        self.assertNotIn("answer", terminal.text)

    def test_terminal_is_left_as_it_was(self):
        reader, writer = os.openpty()
        before = termios.tcgetattr(writer)
        model = self.model(REPORT, says("ok"))
        child = subprocess.Popen([PROGRAM, "x", *ASK, "-m", "anthropic/mock", "--base-url", model.url],
                                 stdin=writer, stdout=writer, stderr=writer, cwd=self.root, env=self.env())
        seen = b""
        while QUESTION.encode() not in seen:
            seen += os.read(reader, 65536)
        self.assertTrue(os.get_blocking(writer), "the shell's terminal must stay blocking")
        os.write(reader, b"n\n")
        self.assertEqual(child.wait(WAIT_S), 0)
        self.assertEqual(termios.tcgetattr(writer), before)
        os.close(writer)
        os.close(reader)


class Question(CliTest):
    def ask(self, *argv, answers=None, **env):
        self.m = self.model(*(answers or [REPORT, says("끝")]))
        return self.terminal("go", *ASK, *argv, model=self.m, **env)

    def result(self, i=-1):
        """The results that the model was sent last."""
        return self.m.requests[i][2]["messages"][-1]["content"]

    def written(self):
        return os.path.exists(os.path.join(self.root, "reports/x.md"))

    def say(self, terminal, text, pause=0.6):
        """Answers once the question has been on screen long enough."""
        time.sleep(pause)  # a person reads: this is the time that is tested
        terminal.type(text)

    def test_yes(self):
        for answer in ("\n", "ㅛ\n"):  # the other spellings: test_words.c
            with self.subTest(answer=answer):
                terminal = self.ask()
                terminal.until("write_report wants to run, and it needs approval (write_report")
                terminal.until("path: reports/x.md")
                terminal.until("content: 본문")
                terminal.until(QUESTION)
                self.say(terminal, answer)
                self.assertEqual(terminal.wait(), 0)
                self.assertFalse(self.result()[0].get("is_error"), self.result())
                os.remove(os.path.join(self.root, "reports/x.md"))

    def test_no(self):
        for answer, reason in (("n\n", ""), ("\x04", ""), ("n 먼저 백업\n", "먼저 백업")):
            with self.subTest(answer=answer):
                terminal = self.ask()
                terminal.until(QUESTION)
                terminal.type(answer)  # a no may come at once
                self.assertEqual(terminal.wait(), 0, terminal.text)
                block = self.result()[0]
                self.assertTrue(block["is_error"])
                self.assertIn("denied by the user" + (": " + reason if reason else ""), json.dumps(block, ensure_ascii=False))
                self.assertFalse(self.written())

    def test_no_among_others(self):
        """M06: four calls, each with another end, answered in order and in one message."""
        with open(os.path.join(self.root, "가.txt"), "w", encoding="utf-8") as f:
            f.write("첫 줄\n")
        four = calls(("read_file", {"path": "가.txt"}), ("list_files", {}), ("read_file", {"path": "없음.txt"}),
                     ("write_report", {"path": "reports/x.md", "content": "본문"}))
        terminal = self.ask("--policy", "list_files=deny", answers=[four, says("끝")])
        terminal.until(QUESTION)
        terminal.type("n 먼저 백업\n")
        self.assertEqual(terminal.wait(), 0, terminal.text)
        said, last = self.m.requests[-1][2]["messages"][-2:]
        results = last["content"]
        self.assertEqual([b["type"] for b in results], ["tool_result"] * 4)
        self.assertEqual([b["tool_use_id"] for b in results],
                         [b["id"] for b in said["content"] if b["type"] == "tool_use"])
        self.assertEqual([b.get("is_error", False) for b in results], [False, True, True, True])
        words = [json.dumps(b, ensure_ascii=False) for b in results]
        for word, want in zip(words, ("첫 줄", "the policy forbids it", "없음.txt", "denied by the user: 먼저 백업")):
            self.assertIn(want, word)
        self.assertFalse(self.written())

    def test_no_is_listed_and_finishes(self):
        path = os.path.join(self.dir, "out")
        with open(path, "wb") as out:
            terminal = self.ask("--output", "json", stdout=out.fileno())
            terminal.until(QUESTION)
            terminal.type("n later\n")
            self.assertEqual(terminal.wait(), 0)
        told = json.loads(slurp(path))
        self.assertEqual((told["outcome"], told["exit"]), ("finished", 0))
        self.assertEqual([(r["tool"], r["by"]) for r in told["refused"]], [("write_report", "person")])

    def test_yes_typed_ahead_never_counts(self):
        for typed in ("\n", "\n\n\ny\na\n"):
            with self.subTest(typed=typed):
                gate = self.model(calls(("get_time", {})), REPORT, says("끝"))
                terminal = self.terminal("go", *ASK, model=gate)
                terminal.type(typed)
                terminal.until(QUESTION)
                time.sleep(0.7)  # what was typed ahead would have been taken by now
                terminal.read()
                self.assertNotIn("tool returned: \"wrote", terminal.text)
                self.assertEqual(len(gate.requests), 2)
                terminal.type("n\n")
                self.assertEqual(terminal.wait(), 0)
                self.assertFalse(self.written())

    def test_no_typed_ahead_is_thrown_away(self):
        terminal = self.terminal("go", *ASK, model=self.model(calls(("get_time", {})), REPORT, says("끝")))
        terminal.type("n typed before the question\n")
        terminal.until(QUESTION)
        self.say(terminal, "\n")
        self.assertEqual(terminal.wait(), 0)
        self.assertTrue(self.written())

    def test_yes_too_soon_asks_again(self):
        for typed in ("\n", "a\n"):
            with self.subTest(typed=typed):
                terminal = self.ask()
                terminal.until(QUESTION)
                terminal.type(typed)
                terminal.until("that came too soon")
                terminal.until(QUESTION)
                self.assertFalse(self.written())
                self.say(terminal, "y\n")
                self.assertEqual(terminal.wait(), 0)
                self.assertTrue(self.written())
                os.remove(os.path.join(self.root, "reports/x.md"))

    def test_anything_else_asks_again(self):
        terminal = self.ask()
        for answer, words in (("maybe\n", "it takes y, n, a, A or v"), ("nope\n", ""), ("ny\n", ""),
                              ("y n\n", ""), ("v\n", "content: 본문")):
            terminal.until(QUESTION)
            self.say(terminal, answer)
            if words:
                terminal.until(words)
            self.assertFalse(self.written())
        terminal.until(QUESTION)
        terminal.type("n\n")
        self.assertEqual(terminal.wait(), 0)

    def test_this_call_for_the_run(self):
        other = calls(("write_report", {"path": "reports/x.md", "content": "other"}))
        terminal = self.ask(answers=[REPORT, REPORT, other, says("끝")])
        terminal.until(QUESTION)
        self.say(terminal, "a\n")
        terminal.until(QUESTION)  # for the other one alone
        self.assertEqual(len(self.m.requests), 3)
        terminal.type("n\n")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(terminal.text.count("wants to run"), 2)

    def test_korean(self):
        terminal = self.ask("--lang", "ko")
        terminal.until("write_report 실행에 승인이 필요합니다(")
        terminal.until("모두 보기 > ")
        self.say(terminal, "ㅛ\n")
        self.assertEqual(terminal.wait(), 0)

    def test_it_shows_the_truth(self):
        spaces = "git status #" + " " * 4000 + "\nrm -rf build"
        for text in ("git status\x1b[1A\x1b[2K\x1b[G\nrm -rf build", "git status\rrm -rf build", spaces,
                     "git status \u009b2J;rm -rf build", "git status \u202e dliub fr- mr ;\u202c;rm -rf build",
                     "echo \x1b]52;c;cm0gLXJm\x07;rm -rf build", "\u200b\u2060rm -rf build",
                     "한글" * 3000 + ";rm -rf build", "tool\x00;rm -rf build", "a\u3164\u00ad\ufe0f\U000e0041rm -rf build",
                     "x\n" * 3000 + "rm -rf build"):
            with self.subTest(text=text[:40]):
                terminal = self.ask(answers=[calls(("write_report", {"path": "reports/x", "content": text})), says("끝")],
                                    NO_COLOR="1")
                terminal.until(QUESTION)
                shown = terminal.text[terminal.text.index("wants to run"):]
                self.assertIn("rm -rf build", shown)
                self.assertIsNone(HIDDEN.search(shown.replace("\r\n", "\n").replace("\r", "\x0b")), repr(shown))
                self.assertNotIn("\x1b", shown)
                self.assertLess(shown.count("\n"), 24)
                if len(text) > 800:
                    self.assertRegex(shown, r"\d+ of \d+ characters not shown here: v shows all")
                terminal.type("n\n")
                self.assertEqual(terminal.wait(), 0)

    def test_time_limit_holds_while_it_waits(self):
        terminal = self.ask("--time-limit", "1s")
        terminal.until(QUESTION)
        self.assertEqual(terminal.wait(), 13)
        self.assertFalse(self.written())
        self.assertIn("time limit", terminal.lines[-3])

    def test_input_elsewhere_is_no_answer(self):
        """stderr is a terminal, stdin is not: nobody can be asked."""
        reader, writer = os.openpty()
        model = self.model(REPORT, says("끝"))
        done = subprocess.run([PROGRAM, "x", *ASK, "-m", "anthropic/mock", "--base-url", model.url],
                              input=b"y\ny\n", stdout=subprocess.PIPE, stderr=writer, cwd=self.root,
                              env=self.env(), timeout=WAIT_S)
        os.close(writer)
        os.close(reader)
        self.assertEqual(done.returncode, 15)
        self.assertFalse(self.written())

    def test_hangup_at_the_question(self):
        terminal = self.ask()
        terminal.until(QUESTION)
        os.kill(terminal.pid, signal.SIGHUP)
        self.assertEqual(terminal.wait(), 129)


class Signals(CliTest):
    def interrupt(self, terminal, number=signal.SIGINT):
        began = time.monotonic()
        if number == signal.SIGINT:
            terminal.type("\x03")
        else:
            os.kill(terminal.pid, number)
        code = terminal.wait()
        self.assertLess(time.monotonic() - began, 5)  # under a second, but for a busy machine
        return code

    def test_while_the_model_is_waited_for(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            terminal = self.terminal("x", model=self.model({"body": "", "hang": True}))
            terminal.until("waiting for the model")
            self.assertEqual(self.interrupt(terminal, number), code)
            self.assertIn("interrupted", terminal.text)

    def test_while_it_streams(self):
        model = self.model({"body": start() + text_block("half an ans"), "hang": True})
        terminal = self.terminal("x", model=model)
        terminal.until("half an ans")
        self.assertEqual(self.interrupt(terminal), 130)
        path = os.path.join(self.dir, "out")
        with open(path, "wb") as out:
            terminal = self.terminal("x", "--log", os.path.join(self.dir, "log"), stdout=out.fileno(), model=model)
            terminal.until("waiting for the model")
            self.assertEqual(self.interrupt(terminal), 130)
        self.assertEqual(slurp(path), "")

    def test_at_the_question(self):
        terminal = self.terminal("x", *ASK, model=self.model(REPORT, says("ok")))
        terminal.until(QUESTION)
        self.assertEqual(self.interrupt(terminal), 130)
        self.assertFalse(os.path.exists(os.path.join(self.root, "reports/x.md")))

    def test_in_json(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            for output in ("json", "stream-json"):
                model = self.model({"body": start(), "hang": True})
                child = subprocess.Popen([PROGRAM, "x", "--output", output, "-m", "anthropic/mock", "--base-url", model.url],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         cwd=self.root, env=self.env())
                while not model.requests:
                    time.sleep(0.01)
                child.send_signal(number)
                out, err = child.communicate(timeout=WAIT_S)
                told = json.loads(out.splitlines()[-1])
                self.assertEqual((child.returncode, told["exit"], told["outcome"]), (code, code, "cancelled"), err)

    def test_ignored_signals_stay_ignored(self):
        """As under nohup."""
        model = self.model({"body": start() + text_block("whole"), "hang": True})
        for argv in (["x"], []):
            child = subprocess.Popen(["sh", "-c", 'trap "" HUP; exec "$@"', "sh", PROGRAM, *argv, "--time-limit", "1s",
                                      "--output", "json", "-m", "anthropic/mock", "--base-url", model.url],
                                     stdin=subprocess.PIPE if not argv else subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.root, env=self.env())
            with self.assertRaises(subprocess.TimeoutExpired):
                child.wait(0.4)
            child.send_signal(signal.SIGHUP)
            out, err = child.communicate(b"x" if not argv else None, timeout=WAIT_S)
            self.assertEqual(json.loads(out)["outcome"], "time", err)

    def test_twice(self):
        model = self.model({"body": start(), "hang": True})
        terminal = self.terminal("x", model=model)
        terminal.until("waiting for the model")
        for _ in range(2):
            try:
                os.kill(terminal.pid, signal.SIGINT)
            except ProcessLookupError:
                break
        self.assertEqual(terminal.wait(), 130)


if __name__ == "__main__":
    unittest.main()
