"""The bodies of made-up conversations pass the handed checker of histories, which
knows what real servers refuse: those of test_write, and of test_write_openai for
the servers that need something of their own."""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("REIN_ROOT", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
SHARED = os.environ.get("REIN_SHARED", os.path.join(ROOT, "../shared"))
BUILD = os.environ.get("REIN_BUILD", os.path.join(ROOT, "build"))
CHECKER = os.path.join(SHARED, "cases/_tools/check_history.py")


@unittest.skipUnless(os.path.exists(CHECKER), "the handed checker is not there")
class History(unittest.TestCase):
    def check(self, program, protocol, pattern, count):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.path.join(BUILD, "asan/tests/wire", program)],
                           env={**os.environ, "REIN_BODIES": folder}, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            bodies = sorted(glob.glob(os.path.join(folder, pattern)))
            self.assertEqual(len(bodies), count)
            done = subprocess.run([sys.executable, CHECKER, protocol, *bodies],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_messages(self):
        self.check("test_write", "anthropic", "*.json", 20 * 12)

    def test_responses(self):
        self.check("test_write_openai", "responses", "openai-*.json", 10 * 12)

    def test_chat(self):
        self.check("test_write_openai", "chat", "chat-*.json", 4 * 10 * 12)


if __name__ == "__main__":
    unittest.main()
