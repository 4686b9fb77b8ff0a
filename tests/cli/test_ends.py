"""How the program ends where its surroundings do not go along: signals at once,
an output that takes no more, limits of the system, keys that come back."""
import base64
import json
import os
import resource
import signal
import subprocess
import time
import unittest
import urllib.parse

from bench import KEY, PROGRAM, WAIT_S, CliTest, calls, end, event, says, slurp, start


class Signals(CliTest):
    def begin(self, model, *argv, **more):
        child = subprocess.Popen([PROGRAM, "x", *argv, "-m", "anthropic/mock", "--base-url", model.url],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.root,
                                 env=self.env(), **more)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        return child

    def test_many_at_once_tell_one_object(self):
        for numbers in ((2, 15), (15, 2, 1), (2, 2, 2)):
            for output in ("json", "stream-json"):
                model = self.model({"body": start(), "hang": True})
                child = self.begin(model, "--output", output)
                while not model.requests:
                    time.sleep(0.005)
                for number in numbers:
                    child.send_signal(number)
                out, err = child.communicate(timeout=WAIT_S)
                told = json.loads(out.splitlines()[-1])
                self.assertEqual((told["outcome"], told["exit"]), ("cancelled", child.returncode), err)
                self.assertIn(child.returncode - 128, numbers)

    def test_a_pager_that_reads_no_further(self):
        """stdout takes no more, and nobody knows for how long: a signal ends it."""
        for argv in ([], ["--output", "json"], ["--output", "stream-json"]):
            with self.subTest(argv=argv):
                child = self.begin(self.model(says("z" * 400000)), *argv)
                err = child.stderr if argv else None
                if err is None:
                    self.assertIn(b"model wraps up", child.stderr.readline())
                time.sleep(0.5)  # until it stands in the write
                self.assertIsNone(child.poll())
                child.send_signal(signal.SIGINT)
                self.assertEqual(child.wait(WAIT_S), 130)
                self.assertIn("interrupted by signal 2 while stdout took no more", child.stderr.read().decode())

    def test_a_slow_reader_gets_it_all(self):
        child = self.begin(self.model(says("가" * 300000)), "-q")
        time.sleep(0.3)
        out, _ = child.communicate(timeout=WAIT_S)
        self.assertEqual((child.returncode, out.decode()), (0, "가" * 300000 + "\n"))

    def test_a_file_that_may_not_grow(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        path = os.path.join(self.dir, "log")
        child = self.begin(self.model(calls(("write_report", {"path": "reports/x", "content": "z" * 500})), says("ok")),
                           "--log", path, "--no-store", preexec_fn=limit)
        out, err = child.communicate(timeout=WAIT_S)
        self.assertEqual((child.returncode, out), (0, b"ok\n"), err)
        self.assertIn(b"cannot be written any more: File too large", err)
        self.assertEqual(os.listdir(os.path.join(self.root, "reports")), [])

    def test_few_descriptors(self):
        for limit in range(4, 12):
            def few(limit=limit):
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            child = self.begin(self.model(says("ok")), "--retries", "0", preexec_fn=few)
            _, err = child.communicate(timeout=WAIT_S)
            # 127: not even its libraries could be opened
            self.assertIn(child.returncode, (0, 1, 20, 23, 127), err)
            if child.returncode in (1, 23):
                self.assertIn(b"Too many open files", err)


def delta(text):
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


class Keys(CliTest):
    def parts(self, *pieces):
        return (start() + event("content_block_start", index=0, content_block={"type": "text", "text": ""}) +
                "".join(map(delta, pieces)) + event("content_block_stop", index=0) + end("end_turn"))

    def test_a_key_that_comes_back_is_shown_nowhere(self):
        refusal = {"status": 401, "type": "application/json",
                   "body": json.dumps({"type": "error", "error": {"type": "a", "message": "bad " + KEY}})}
        spelled = urllib.parse.quote("x:" + KEY) + " " + base64.b64encode(KEY.encode()).decode()
        answers = {"refusal": refusal, "spellings": {**refusal, "body": spelled}, "text": says("it is " + KEY),
                   "split": self.parts("it is ", KEY[:3], KEY[3:9], KEY[9:], " so"), "stop": says("x", KEY),
                   "tool": calls((KEY, {"path": KEY}))}
        for name, answer in answers.items():
            for output in ("text", "json", "stream-json"):
                with self.subTest(name, output=output):
                    log = os.path.join(self.dir, f"{name}-{output}")
                    ended = self.rein("x", "--output", output, "--log", log, "--max-turns", "1",
                                      model=self.model(answer, says("ok")), ANTHROPIC_API_KEY=KEY)
                    told = ended.out + ended.err + slurp(log)
                    for secret in (KEY, KEY[6:], base64.b64encode(KEY.encode()).decode()[:28]):
                        self.assertNotIn(secret, told)

    def test_a_key_split_on_the_screen(self):
        terminal = self.terminal("x", model=self.model(self.parts("it is ", KEY[:3], KEY[3:9], KEY[9:], " so sk")),
                                 ANTHROPIC_API_KEY=KEY)
        self.assertEqual(terminal.wait(), 0, terminal.text)
        self.assertIn("it is [key] so sk", terminal.text)

    def test_what_only_begins_like_a_key_is_shown(self):
        pieces = ["sk", "-can", "ape ", KEY[:-1], "!"]
        ended = self.rein("x", "--output", "stream-json", model=self.model(self.parts(*pieces)), ANTHROPIC_API_KEY=KEY)
        shown = "".join(json.loads(line).get("text", "") for line in ended.out.splitlines() if '"stream":"piece"' in line)
        self.assertEqual(shown, "".join(pieces))

    def test_a_key_that_is_too_long_is_told_so(self):
        ended = self.rein("x", model=self.model(says("ok")), ANTHROPIC_API_KEY="k" * 20000)
        self.assertEqual(ended.code, 2)
        self.assertRegex(ended.err, r"the API key has 20000 bytes, more than the \d+")


if __name__ == "__main__":
    unittest.main()
