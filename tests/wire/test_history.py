"""The bodies of test_write's made-up conversations pass the handed checker of
histories, which knows what real servers refuse."""
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
PROGRAM = os.path.join(BUILD, "asan/tests/wire/test_write")


class History(unittest.TestCase):
    @unittest.skipUnless(os.path.exists(CHECKER), "the handed checker is not there")
    def test_bodies(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM], env={**os.environ, "REIN_BODIES": folder}, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            bodies = sorted(glob.glob(os.path.join(folder, "*.json")))
            self.assertEqual(len(bodies), 20 * 12)
            done = subprocess.run([sys.executable, CHECKER, "anthropic", *bodies],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    unittest.main()
