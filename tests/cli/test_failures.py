"""The failures of docs/FAILURES.md, each as its one command."""
import os
import re
import subprocess
import unittest

from bench import PROGRAM, ROOT, WAIT_S, slurp

RUN = os.path.join(ROOT, "examples", "failures", "run")
WANT = {"loop": (14, "no progress"), "refused": (22, "'pattern' is not permitted"), "traces": (0, "no rule to make target"),
        "poll": (0, "The job is done."), "approval": (15, "write_report=allow"), "redirect": (0, "was not followed"),
        "page": (15, "taint=allow")}


class Failures(unittest.TestCase):
    def test_each(self):
        for name, (code, words) in WANT.items():
            with self.subTest(name):
                env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "REIN": PROGRAM,
                       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}
                done = subprocess.run([RUN, name], env=env, capture_output=True, text=True, timeout=WAIT_S,
                                      stdin=subprocess.DEVNULL, check=False)
                told = done.stdout + done.stderr
                self.assertEqual(done.returncode, code, told)
                self.assertIn(words, told)
                self.assertNotIn("frame_150", told)
                self.assertNotIn("stand-in-token", told)

    def test_the_page_lists_them(self):
        page = slurp(ROOT, "docs", "FAILURES.md")
        listed = {m[0]: int(m[1]) for m in re.findall(r"^\| `(\w+)` .*\| (\d+)[^|]*\|$", page, re.M)}
        self.assertEqual(listed, {name: code for name, (code, _) in WANT.items()})


if __name__ == "__main__":
    unittest.main()
