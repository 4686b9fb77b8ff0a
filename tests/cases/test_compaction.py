"""Runs that outgrow the model's window, on each wire: what is summed up, what stays, what
is not tried again. Every request passes the handed checker of histories."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from compaction import ASKED, Model, texts
from harness import CASES, PROGRAM

CHECK = os.path.join(CASES, "_tools", "check_history.py")
WORDS = "파일을 하나씩 읽고 마지막에 한 줄로 답해 줘. 이 말은 그대로 남아야 한다."
KINDS = {"anthropic": "anthropic", "openai": "responses", "chat": "chat"}  # as the checker calls them


class CompactionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rein-compaction-")
        self.addCleanup(folder.cleanup)
        self.dir = folder.name
        self.root = os.path.join(self.dir, "tree")
        os.makedirs(self.root)
        for i in range(1, 60):
            with open(os.path.join(self.root, f"f{i}.txt"), "w", encoding="utf-8") as f:
                f.write(f"파일 {i}\n" + "문을 닫고 기다리십시오. Keep the lid closed.\n" * 20)

    def model(self, wire, *args, **named):
        model = Model(wire, *args, **named)
        self.addCleanup(model.close)
        return model

    def rein(self, *argv):
        env = {"PATH": os.environ["PATH"], "HOME": self.dir, "LANG": "C.UTF-8", "ANTHROPIC_API_KEY": "k-000000",
               "OPENAI_API_KEY": "k-000000", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}
        return subprocess.run([PROGRAM, *argv], cwd=self.root, env=env, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, check=False)

    def run_on(self, model, *argv):
        done = self.rein("-m", model.wire + "/mock", "--base-url", model.url, "-t", "read_file", "--output", "json",
                         "--max-turns", "60", "--token-budget", "off", "--output-limit", "1024", *argv, WORDS)
        return done, json.loads(done.stdout)

    def check_histories(self, model):
        if not os.path.exists(CHECK):
            self.skipTest("the handed checker is not here")
        for i, body in enumerate(model.bodies):
            path = os.path.join(self.dir, f"{i}.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(body, f)
        paths = [os.path.join(self.dir, f"{i}.json") for i in range(len(model.bodies))]
        for at in range(0, len(paths), 40):
            done = subprocess.run([sys.executable, CHECK, KINDS[model.wire], *paths[at:at + 40]], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])


class Window(CompactionTest):
    def test_older_turns_are_summed_up(self):
        for wire in KINDS:
            with self.subTest(wire):
                model = self.model(wire, 30, window=5000)
                done, result = self.run_on(model, "--context-window", "5000")
                self.assertEqual((done.returncode, result["text"], result["turns"]), (0, "끝났습니다", 30), done.stderr)
                self.assertGreaterEqual(model.asked, 2)
                self.assertEqual(model.refused, 0)
                for body in model.bodies:
                    self.assertIn(WORDS, "".join(t for _, t in texts(body)))
                self.assertIn("요약: 파일을 읽고 있다.", "".join(t for _, t in texts(model.bodies[-1])))
                self.check_histories(model)
                shown = self.rein("show", "--last")
                self.assertEqual(shown.returncode, 0)
                self.assertEqual(self.rein("replay", "--last").returncode, 0)

    def test_the_provider_says_that_it_is_full(self):
        for wire in KINDS:
            with self.subTest(wire):
                model = self.model(wire, 20, window=4000)
                done, result = self.run_on(model)
                self.assertEqual((done.returncode, result["text"]), (0, "끝났습니다"), done.stderr)
                self.assertGreaterEqual(model.asked, 1)
                self.check_histories(model)
                self.assertEqual(self.rein("replay", "--last").returncode, 0)

    def test_off(self):
        model = self.model("anthropic", 30, window=8000)
        done, result = self.run_on(model, "--compact-at", "off")
        self.assertEqual((done.returncode, result["outcome"], model.asked), (18, "context_full", 0))


class Loops(CompactionTest):
    def ends(self, model, *argv):
        done, result = self.run_on(model, *argv)
        self.assertNotEqual(done.returncode, 0)
        self.assertLessEqual(model.asked, 3)
        self.assertEqual(self.rein("replay", "--last").returncode, 0)
        self.assertEqual(self.rein("show", "--last").returncode, 0)
        return result

    def test_always_nearly_full(self):
        for wire in KINDS:
            model = self.model(wire, 40, used=lambda tokens: 95000)
            self.assertEqual(self.ends(model, "--context-window", "100000")["outcome"], "context_full")

    def test_empty_summary(self):
        model = self.model("anthropic", 30, window=9000, summary="")
        result = self.ends(model, "--context-window", "9000")
        self.assertEqual(result["outcome"], "context_full")

    def test_always_too_long(self):
        for wire in KINDS:
            model = self.model(wire, 30, window=10)
            self.assertEqual(self.ends(model)["outcome"], "context_full")
            self.assertLessEqual(len(model.bodies), 4)

    def test_the_same_loop_is_still_one(self):
        model = self.model("anthropic", 40, window=5000, call=lambda n: {"path": "f1.txt"})
        done, result = self.run_on(model, "--context-window", "5000")
        self.assertEqual((done.returncode, result["outcome"]), (14, "no_progress"), done.stderr)

    def test_the_budget_holds(self):
        model = self.model("anthropic", 40, window=9000)
        done, result = self.run_on(model, "--context-window", "9000", "--token-budget", "60000")
        self.assertEqual((done.returncode, result["outcome"]), (11, "tokens"))
        self.assertLessEqual(result["usage"]["total"], 60000)


if __name__ == "__main__":
    unittest.main()
