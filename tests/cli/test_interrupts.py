"""A signal ends the run at whatever point it comes: one object that says so, its exit code,
each open call answered; a second one changes nothing for the worse."""
import json
import os
import signal
import socket
import subprocess
import time
import unittest

from bench import PROGRAM, WAIT_S, CliTest, calls, says, start, text_block

ENDS = ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129))
SOON_S = 4  # a second is promised; the machine that tests is busy
OVERLOADED = {"status": 529, "type": "application/json", "headers": {"retry-after": "60"},
              "body": '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'}
LOOKS_UP = calls(("github_repo_info", {"owner": "a", "repo": "b"}), ("get_time", {}))


class Interrupts(CliTest):
    def begin(self, output, *answers, **env):
        model = self.model(*answers)
        child = subprocess.Popen([PROGRAM, "x", "--output", output, "-m", "anthropic/mock", "--base-url", model.url],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 cwd=self.root, env=self.env(**env))
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        return child

    def mute_server(self):
        """Takes a connection and never answers."""
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        return server, f"http://127.0.0.1:{server.getsockname()[1]}"

    def until(self, child, word):
        for line in child.stdout:
            if word in line.decode():
                return
        self.fail(f"{word} never came: {child.stderr.read()}")

    def stop(self, child, number, code):
        began = time.monotonic()
        child.send_signal(number)
        out, err = child.communicate(timeout=WAIT_S)
        self.assertLess(time.monotonic() - began, SOON_S)
        told = json.loads(out.splitlines()[-1])
        self.assertEqual((child.returncode, told["exit"], told["outcome"]), (code, code, "cancelled"), err)
        self.assertIn(f"signal {int(number)}", told["reason"])
        return out.decode(), err.decode()

    def test_at_any_point(self):
        points = {"waiting": ('"granted"', {"body": "", "hang": True}),
                  "streaming": ('"piece"', {"body": start() + text_block("half an ans"), "hang": True}),
                  "in a retry's pause": ('"retry"', OVERLOADED)}
        for name, (word, answer) in points.items():
            for number, code in ENDS:
                with self.subTest(name, number=number):
                    child = self.begin("stream-json", answer)
                    self.until(child, word)
                    self.stop(child, number, code)

    def test_while_a_tool_runs(self):
        for number, code in ENDS:
            for output in ("text", "stream-json"):
                with self.subTest(number=number, output=output):
                    server, url = self.mute_server()
                    child = self.begin(output, LOOKS_UP, says("ok"), GITHUB_API_URL=url)
                    peer, _ = server.accept()
                    self.addCleanup(peer.close)
                    if output == "stream-json":
                        self.stop(child, number, code)
                        continue
                    began = time.monotonic()
                    child.send_signal(number)
                    out, err = child.communicate(timeout=WAIT_S)
                    self.assertLess(time.monotonic() - began, SOON_S)
                    self.assertEqual((child.returncode, out), (code, b""), err)
                    self.assertIn("interrupted by the user while it ran", err.decode())

    def test_at_the_question_and_in_a_pause_on_a_terminal(self):
        asks = calls(("write_report", {"path": "reports/x.md", "content": "x"}), ("get_time", {}))
        for number, code in ENDS:
            for answer, word in ((asks, "write_report"), (OVERLOADED, "waiting to try again")):
                with self.subTest(number=number, word=word):
                    terminal = self.terminal("x", "--policy", "write_report=ask", model=self.model(answer, says("ok")))
                    terminal.until(word)
                    if answer is asks:
                        terminal.until("[v] show all > ")
                    began = time.monotonic()
                    if number == signal.SIGINT:
                        terminal.type("\x03")
                    else:
                        os.kill(terminal.pid, number)
                    self.assertEqual(terminal.wait(), code)
                    self.assertLess(time.monotonic() - began, SOON_S)
                    self.assertFalse(os.path.exists(os.path.join(self.root, "reports/x.md")))
                    if answer is asks:
                        self.assertEqual(terminal.text.count("not run: interrupted by the user"), 2, terminal.text)

    def test_two_at_once(self):
        """Stopped meanwhile, so that the program finds both when it goes on."""
        for first, second in ((2, 2), (15, 2), (2, 15), (1, 1)):
            child = self.begin("stream-json", {"body": start(), "hang": True})
            self.until(child, '"granted"')
            child.send_signal(signal.SIGSTOP)
            child.send_signal(first)
            child.send_signal(second)
            began = time.monotonic()
            child.send_signal(signal.SIGCONT)
            out, err = child.communicate(timeout=WAIT_S)
            self.assertLess(time.monotonic() - began, SOON_S)
            told = json.loads(out.splitlines()[-1])
            self.assertEqual((told["outcome"], told["exit"]), ("cancelled", child.returncode), err)
            self.assertIn(child.returncode, (128 + first, 128 + second))


if __name__ == "__main__":
    unittest.main()
