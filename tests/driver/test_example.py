"""examples/agent.c: small, on librein alone, and it does what it says, offline."""
import os
import re
import subprocess
import unittest

ROOT = os.environ.get("REIN_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
PROGRAM = os.path.join(ROOT, os.environ.get("REIN_BUILD", "build"), "plain", "examples", "agent")


class Example(unittest.TestCase):
    def test_size_and_includes(self):
        with open(os.path.join(ROOT, "examples", "agent.c"), encoding="utf-8") as f:
            text = f.read()
        self.assertLessEqual(text.count("\n"), 60)
        self.assertEqual(re.findall(r"#include (\S+)", text),
                         ["<rein.h>", "<stdio.h>", "<stdlib.h>"])

    def run_it(self, *args):
        if not os.path.exists(PROGRAM):
            self.skipTest(f"{PROGRAM} is not built: make examples")
        return subprocess.run([PROGRAM, *args], cwd=ROOT, capture_output=True, text=True,
                              timeout=60, env={"PATH": os.environ["PATH"]})

    def test_it_runs(self):
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), [
            '  [approve] reorder({"item":"tea","count":10}), because of: reorder',
            "  [reorder] 10 ordered",
            "There were three left, so I ordered ten: ordered, arriving tomorrow.",
            "(the model finished)"])

    def test_it_says_what_is_wrong(self):
        done = self.run_it("anthropic/some-model")
        self.assertEqual(done.returncode, 2)
        self.assertIn("needs a key", done.stderr)


if __name__ == "__main__":
    unittest.main()
