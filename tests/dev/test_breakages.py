"""Seeded breakages: known ways to get an agent wrong are put into a copy of the
machine, and the tests of src/core must go red. A test suite that stays green
over them proves nothing. The whole, unbroken machine must be green the same way.

Compiles one file each and links it before the archives that `make check` built.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.environ.get("REIN_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(os.environ.get("REIN_BUILD") or os.path.join(ROOT, "build"))
ASAN = os.path.join(BUILD, "asan")
PURE = "base text json regex schema policy rpc core wire".split()

# name: (file, [(as it stands, as broken)...])
BREAKAGES = {
    "only the first of two calls is answered": ("src/core/turn.c", [
        ("for (size_t i = 0; i < a->turn.count; i++) {\n    const struct call *c = &a->turn.calls[i];\n"
         "    assert(c->state == CALL_ANSWERED);",
         "for (size_t i = 0; i < 1; i++) {\n    const struct call *c = &a->turn.calls[i];\n"
         "    assert(c->state == CALL_ANSWERED);"),
        ("transcript_results(&a->talk, results, a->turn.count, note, err)",
         "transcript_results(&a->talk, results, 1, note, err)"),
    ]),
    "a loop without any bound": ("src/core/agent.c", [
        ("  code = gate(a, &closed, err);\n  if (code || closed) return code;\n  size_t culprit;",
         "  closed = false;\n  (void)gate;\n  size_t culprit;"),
        ("if (output < 0) return end_budget(a, bound, err);", "if (output < 0) output = OUTPUT_LIMIT_MIN;"),
        ("  case PROGRESS_STOP:\n    return end_loop(a, culprit, err);\n", "  case PROGRESS_STOP:\n"),
        ("if (say != PROGRESS_STOP_IDLE) return first_attempt(a, err);",
         "if (say <= PROGRESS_NO_MEMORY) return first_attempt(a, err);"),
    ]),
}
# Those that take long besides: they prove what the others prove, many times.
SLOW = ("test_interleave", "test_oom")
BROKEN_S, WHOLE_S = 8, 100  # a broken loop may also hang: that is red as well


@unittest.skipUnless(os.path.exists(os.path.join(ASAN, "tests/core/test_agent")), "tests/core is not built")
class Breakages(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        with open(os.path.join(ASAN, "flags"), encoding="utf-8") as f:
            self.flags = f.read().split()

    def tool(self, *argv):
        ran = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def red(self, source, replacements):
        """True when a test of core fails with this in place of `source`."""
        with open(os.path.join(ROOT, source), encoding="utf-8") as f:
            text = f.read()
        for old, new in replacements:
            layout = re.compile(r"\s+".join(map(re.escape, old.split())))  # clang-format may move it
            text, count = layout.subn(lambda _: new, text)
            self.assertEqual(count, 1, f"the breakage no longer fits {source}: {old!r}")
        broken, made = os.path.join(self.dir, "broken.c"), os.path.join(self.dir, "broken.o")
        with open(broken, "w", encoding="utf-8") as f:
            f.write(text)
        self.tool(*self.flags, "-Wno-error", "-c", broken, "-o", made)
        tests = sorted(glob.glob(os.path.join(ROOT, "tests/core/test_*.c")))
        names = [n for n in (os.path.basename(t)[:-2] for t in tests) if n not in SLOW]
        self.assertTrue(names)
        return any([self.is_red(name, made, bool(replacements)) for name in names])

    def is_red(self, name, made, broken):
        sanitize = [f for f in self.flags if f.startswith(("-fsanitize", "-fno-sanitize"))]
        program = os.path.join(self.dir, "test")
        self.tool(self.flags[0], *sanitize, "-Wl,--wrap=mem_resize",
                  os.path.join(ASAN, f"obj/tests/core/{name}.o"), made, "-Wl,--start-group",
                  os.path.join(ASAN, "libsupport.a"), *[os.path.join(ASAN, f"lib{f}.a") for f in PURE],
                  "-Wl,--end-group", "-lcmocka", "@" + os.path.join(BUILD, "pure.libs"), "-o", program)
        try:
            ran = subprocess.run([program], cwd=self.dir, capture_output=True, text=True, timeout=BROKEN_S if broken else WHOLE_S)
        except subprocess.TimeoutExpired:
            return True
        if ran.returncode == 0:
            self.assertRegex(ran.stdout + ran.stderr, re.compile(r"test\(s\) run"))
        return ran.returncode != 0

    def test_the_whole_machine_is_green(self):
        for source in sorted({source for source, _ in BREAKAGES.values()}):
            self.assertFalse(self.red(source, []), source)

    def test_each_breakage_is_red(self):
        for name, (source, replacements) in BREAKAGES.items():
            with self.subTest(name):
                self.assertTrue(self.red(source, replacements), name)


if __name__ == "__main__":
    unittest.main()
