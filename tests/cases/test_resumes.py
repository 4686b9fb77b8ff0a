"""The handed cases that show only when a run goes on from its journal, through the
real program: what was signed goes back as it came, after an end and after kill -9."""
import json
import signal
import subprocess
import time
import unittest

from harness import CaseTest, step


class Thinking(CaseTest):
    def argv(self, *options, task="해 줘"):
        return [a for a in super().argv(*options, task=task) if a != "--no-store"]

    def resume(self, url, *words):
        ran = subprocess.run([self.argv()[0], "resume", "--last", "--output", "json", *words], env=self.env(url),
                             stdin=subprocess.DEVNULL, cwd=self.dir, capture_output=True, timeout=40)
        self.sane(ran)
        return ran

    def check_thinking(self, request):
        content = request["messages"][1]["content"]
        for block in content:
            block.pop("cache_control", None)
        self.assertEqual(content, json.loads(self.read_case("want.json")))

    def test_M03_after_an_end(self):
        self.copy_case("M03")
        self.rein(self.serve([step(file="stream.sse"), step(file="ok.sse")]))
        ran = self.resume(self.serve([step(file="ok.sse")]), "더")
        made = self.check_history()
        self.assertEqual((ran.returncode, len(made)), (0, 1), ran.said)
        self.check_thinking(made[0])

    def test_M03_after_kill_9(self):
        self.copy_case("M03")
        url = self.serve([step(file="stream.sse"), {"status": 200, "delay_ms": 3_600_000}])
        child = subprocess.Popen(self.argv(), env=self.env(url), stdin=subprocess.DEVNULL, cwd=self.dir,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while len(self.requests()) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        child.send_signal(signal.SIGKILL)
        child.wait()
        before = self.requests()
        self.assertEqual(len(before), 2)
        ran = self.resume(self.serve([step(file="ok.sse")]))
        made = self.check_history()
        self.assertEqual((ran.returncode, len(made)), (0, 1), ran.said)
        self.assertEqual(made[0]["messages"], before[1]["messages"])
        self.check_thinking(made[0])

    def test_M03_refused_after_a_resume(self):
        self.copy_case("M03")
        self.rein(self.serve([step(file="stream.sse"), step(file="ok.sse")]))
        ran = self.resume(self.serve("refuse.json"), "더")
        made = self.check_history()
        self.assertEqual((ran.returncode, len(made)), (0, 2), ran.said)
        self.check_thinking(made[0])
        kinds = [b["type"] for b in made[1]["messages"][1]["content"]]
        self.assertEqual(kinds, ["tool_use", "tool_use"])


if __name__ == "__main__":
    unittest.main()
