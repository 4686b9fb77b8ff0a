"""dev/install against a pretended package system: what is there is left alone,
what is missing is named and installed, and without root nothing is tried."""
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.environ.get("REIN_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

DPKG = '#!/bin/sh\nfor p; do :; done\ngrep -qx "$p" "$FAKE/installed" && echo -n installed\n'
APT = ('#!/bin/sh\necho "$@" >> "$FAKE/calls"\n'
       'case $1 in update) touch "$FAKE/index" ;;\n'
       'install) [ ! -e "$FAKE/stale" ] || { [ -e "$FAKE/index" ]; } ;; esac\n')
CACHE = '#!/bin/sh\n[ -e "$FAKE/index" ] || [ -e "$FAKE/known" ]\n'


class Install(unittest.TestCase):
    def setUp(self):
        self.fake = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.fake)
        os.mkdir(os.path.join(self.fake, "bin"))
        self.command("dpkg-query", DPKG)
        self.command("apt-get", APT)
        self.command("apt-cache", CACHE)
        self.user(0)
        self.put("list", "# a comment\nalpha\nbeta # why\n")
        self.put("installed", "")

    def put(self, name, text):
        with open(os.path.join(self.fake, name), "w", encoding="utf-8") as f:
            f.write(text)

    def command(self, name, text):
        self.put("bin/" + name, text)
        os.chmod(os.path.join(self.fake, "bin", name), 0o755)

    def user(self, number):
        self.command("id", f"#!/bin/sh\necho {number}\n")

    def install(self):
        env = dict(os.environ, FAKE=self.fake, PATH=os.path.join(self.fake, "bin") + ":" + os.environ["PATH"])
        ran = subprocess.run([os.path.join(ROOT, "dev/install"), os.path.join(self.fake, "list")],
                             env=env, capture_output=True, text=True)
        calls = os.path.join(self.fake, "calls")
        return ran, open(calls).read().splitlines() if os.path.exists(calls) else []

    def test_nothing_missing_calls_nothing(self):
        self.put("installed", "alpha\nbeta\n")
        ran, calls = self.install()
        self.assertEqual((ran.returncode, ran.stdout, calls), (0, "", []))

    def test_only_the_missing_is_installed_and_named(self):
        self.put("installed", "alpha\n")
        self.put("known", "")
        ran, calls = self.install()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("installing: beta", ran.stdout)
        self.assertEqual(calls, ["install -y --no-install-recommends beta -q"])

    def test_an_empty_index_is_filled_first(self):
        ran, calls = self.install()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(calls, ["update -q", "install -y --no-install-recommends alpha beta -q"])

    def test_a_stale_index_is_refreshed_once(self):
        self.put("known", "")
        self.put("stale", "")
        ran, calls = self.install()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual([c.split()[0] for c in calls], ["install", "update", "install"])

    def test_without_root_the_line_is_printed_and_nothing_is_tried(self):
        self.user(1000)
        ran, calls = self.install()
        self.assertEqual((ran.returncode, calls), (1, []))
        self.assertIn("  apt-get install -y --no-install-recommends alpha beta\n", ran.stderr)

    def test_a_failing_install_fails(self):
        self.command("apt-get", "#!/bin/sh\nexit 100\n")
        ran, _ = self.install()
        self.assertNotEqual(ran.returncode, 0)


class ParseTime(unittest.TestCase):
    """A fresh machine has gcc and make: the Makefile is read without any tool."""

    @unittest.skipUnless(shutil.which("make"), "make is not installed")
    def test_makefile_is_read_without_tools(self):
        empty = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, empty)
        ran = subprocess.run([shutil.which("make"), "-C", ROOT, "-n", "B=" + empty + "/b", "rein"],
                             env={"PATH": empty}, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stderr, "")
        self.assertIn("dev/install dev/packages-build", ran.stdout)


if __name__ == "__main__":
    unittest.main()
