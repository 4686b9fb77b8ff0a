"""The checkers of dev/ find what they are there for: each is given a small tree
that holds one breakage, and must fail and name it; and one clean tree, which
must pass. A checker that cannot fail checks nothing."""
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.environ.get("REIN_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLEAN = '#include "base/x.h"\n\n#include <string.h>\n\nint x(int a) {\n  return a;\n}\n'


class Tree(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree(os.path.join(ROOT, "dev"), os.path.join(self.root, "dev"))
        os.makedirs(os.path.join(self.root, "include"))
        for folder in ("tests", "examples", "fuzz"):
            os.makedirs(os.path.join(self.root, folder))
        self.put("src/base/x.h", "#pragma once\nint x(int a);\n")
        self.put("src/base/x.c", CLEAN)

    def put(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def check(self, name, *more):
        ran = subprocess.run([os.path.join(self.root, "dev", name), *more], cwd=self.root,
                             capture_output=True, text=True)
        return ran.returncode, ran.stdout + ran.stderr

    def passes(self, name, *more):
        code, said = self.check(name, *more)
        self.assertEqual(code, 0, said)

    def fails(self, name, word, *more):
        code, said = self.check(name, *more)
        self.assertEqual(code, 1, said)
        self.assertIn(word, said)


class Floors(Tree):
    def test_clean_tree_passes(self):
        self.put("src/cli/main.c", '#include "driver/d.h"\n\n#include <microhttpd.h>\n#include <unistd.h>\n')
        self.put("src/tools/t.c", '#include "core/tool.h"\n#include <rein.h>\n')
        self.passes("check-floors")

    def test_upward_include_fails(self):
        self.put("src/base/x.c", '#include "host/loop.h"\n')
        self.fails("check-floors", 'src/base/x.c:1: base may not include "host/loop.h"')

    def test_impure_header_in_pure_floor_fails(self):
        self.put("src/core/x.c", "#include <time.h>\n")
        self.fails("check-floors", "core is pure and may not include <time.h>")

    def test_library_of_another_floor_fails(self):
        self.put("src/tools/x.c", "#include <curl/curl.h>\n")
        self.fails("check-floors", "tools may not include the library <curl/curl.h>")

    def test_core_beyond_its_nouns_fails(self):
        self.put("src/tools/x.c", '#include "core/agent.h"\n')
        self.fails("check-floors", "nouns of core")

    def test_folder_without_a_row_fails(self):
        self.put("src/misc/x.c", "")
        self.fails("check-floors", "no row")

    def test_computed_include_fails(self):
        self.put("src/base/x.c", '#define H "host/loop.h"\n#include H\n')
        self.fails("check-floors", "computed")

    def test_relative_include_fails(self):
        self.put("src/base/x.c", '#include "../host/loop.h"\n')
        self.fails("check-floors", "FLOOR/NAME")

    def test_public_header_includes_nothing_of_ours(self):
        self.put("include/rein.h", '#include "base/x.h"\n')
        self.fails("check-floors", "include/rein.h:1")


class Banned(Tree):
    def one(self, statement, word, name="src/base/y.c"):
        self.put(name, "void y(void) {\n  " + statement + "\n}\n")
        self.fails("check-banned", word)

    def test_clean_tree_passes(self):
        self.put("src/base/y.c", '/* never strcpy(a, b) */\nconst char *s = "system(x)";\n'
                                 'void y(void) { printf("%d", 1); filesystem(1); p->gets(2); }\n')
        self.passes("check-banned")

    def test_banned_functions_fail(self):
        for name in ("strcpy", "strcat", "sprintf", "strtok", "atoi", "gets", "system", "popen",
                     "mktemp", "alloca"):
            with self.subTest(name):
                self.one(f"{name}(a);", f"{name} is banned")

    def test_format_that_is_no_literal_fails(self):
        self.one("fprintf(stderr, text);", "not a literal")
        self.one("snprintf(out, sizeof(out), f(a, b), 1);", "not a literal")

    def test_thread_local_and_typedef_fail(self):
        self.put("src/base/y.h", "typedef struct y y_t;\n")
        self.fails("check-banned", "typedef")
        self.put("src/base/y.h", "static _Thread_local int y;\n")
        self.fails("check-banned", "thread-local")

    def test_marks_fail(self):
        for mark in ("TO" + "DO", "FIX" + "ME", "X" + "XX"):
            with self.subTest(mark):
                self.one(f"/* {mark}: later */", "unfinished")

    def test_machine_paths_registries_and_keys_fail(self):
        self.put("docs/a.md", "see /wo" + "rk/main/x\n")
        self.fails("check-banned", "docs/a.md:1: a path")
        self.put("docs/a.md", "from https://registry.npm" + "js.org/x\n")
        self.fails("check-banned", "registry")
        self.put("docs/a.md", "key sk-ant-" + "a1B2" * 8 + "\n")
        self.fails("check-banned", "real key")


class Lengths(Tree):
    def body(self, lines, before=""):
        return before + "int y(int a)\n{\n".replace(")\n{", ") {") + "  a++;\n" * lines + "  return a;\n}\n"

    def test_limits_pass(self):
        self.put("src/base/y.c", self.body(57) + "\n" + self.body(97, "/* dispatch */\n").replace("y(", "z("))
        self.passes("check-lengths")

    def test_long_function_fails(self):
        self.put("src/base/y.c", self.body(58))
        self.fails("check-lengths", "src/base/y.c:1: a function of 61 lines")

    def test_long_function_with_wrapped_head_fails(self):
        self.put("src/base/y.c", self.body(58).replace("int y(int a)", "static enum rein_code y(int a,\n    int b)"))
        self.fails("check-lengths", "a function of 62 lines")

    def test_long_dispatcher_fails(self):
        self.put("src/base/y.c", self.body(98, "/* dispatch */\n"))
        self.fails("check-lengths", "a function of 101 lines")

    def test_long_file_and_line_fail(self):
        self.put("src/base/y.h", "\n" * 601)
        self.fails("check-lengths", "601 lines")
        self.put("src/base/y.h", "/* " + "가" * 50 + " */\n")
        self.fails("check-lengths", "106 columns")

    @unittest.skipUnless(shutil.which("pmccabe"), "pmccabe is not installed")
    def test_complexity_fails(self):
        self.put("src/base/y.c", "int y(int a) {\n" + "".join(
            f"  if (a == {i})\n    return {i + 1};\n" for i in range(12)) + "  return a;\n}\n")
        self.fails("check-lengths", "y has complexity 13")


@unittest.skipUnless(shutil.which("gcc") and shutil.which("ar"), "gcc is not installed")
class Pure(Tree):
    def archive(self, source):
        self.put("p.c", source)
        subprocess.run("gcc -c p.c -o p.o && rm -f p.a && ar rcs p.a p.o", shell=True, check=True, cwd=self.root)
        return os.path.join(self.root, "p.a")

    def test_pure_archive_passes(self):
        self.passes("check-pure", "--archive", self.archive(
            "#include <string.h>\nint f(const char *a); int g(void) { return 1; }\n"
            "int f(const char *a) { return (int)strlen(a) + g(); }\n"))

    def test_clock_and_print_fail(self):
        self.fails("check-pure", "calls time,", "--archive", self.archive(
            "#include <time.h>\nlong f(void); long f(void) { return time(0); }\n"))
        self.fails("check-pure", "calls puts,", "--archive", self.archive(
            "#include <stdio.h>\nvoid f(void); void f(void) { puts(\"a\"); }\n"))

    def test_empty_archive_fails(self):
        subprocess.run(["ar", "rcs", "p.a"], check=True, cwd=self.root)
        self.fails("check-pure", "no symbols", "--archive", os.path.join(self.root, "p.a"))


@unittest.skipUnless(shutil.which("clang-format-14") or shutil.which("clang-format"), "no clang-format")
class Format(Tree):
    def test_layout(self):
        shutil.copy(os.path.join(ROOT, ".clang-format"), self.root)
        self.passes("check-format")
        self.put("src/base/y.c", "int  y( int a ){ return a; }\n")
        self.fails("check-format", "src/base/y.c")


class Docs(Tree):
    """With stand-ins for the two programs whose output the pages hold."""

    def setUp(self):
        super().setUp()
        marks = ("<!-- states: printed by make docs -->\n", "<!-- end of states -->\n")
        self.put("docs/ARCHITECTURE.md", "a\n" + marks[0] + "old\n" + marks[1] + "z\n")
        for name in ("README.md", "README.ko.md"):
            self.put(name, "a\n<!-- transcript: demo -->\n<!-- end of transcript -->\nz\n")
        self.program("states", "echo new")
        self.program("rein", "echo said at 12:00")

    def program(self, name, line):
        self.put("build/plain/" + name, "#!/bin/sh\n" + line + "\n")
        os.chmod(os.path.join(self.root, "build/plain", name), 0o755)

    def test_stale_pages_fail_and_written_ones_pass(self):
        self.fails("check-docs", "docs/ARCHITECTURE.md, README.md, README.ko.md")
        self.passes("check-docs", "--write")
        self.passes("check-docs")
        self.program("rein", "echo said at 13:07")  # numbers may differ
        self.passes("check-docs")
        self.program("rein", "echo something else")
        self.fails("check-docs", "README.md")

    def test_lost_marks_and_failing_programs_fail(self):
        self.passes("check-docs", "--write")
        self.program("rein", "exit 3")
        self.fails("check-docs", "ended with 3")
        self.put("docs/ARCHITECTURE.md", "nothing\n")
        self.fails("check-docs", "lost its marks")


class Runner(Tree):
    """dev/run-tests itself: what fails, hangs or counts nothing is a failure."""

    def run_tests(self, text, folder="tests/base", wanted=("tests",)):
        self.put(folder + "/test_a.py", text)
        return self.check("run-tests", *wanted)

    def test_counts(self):
        code, said = self.run_tests(
            "import unittest\nclass T(unittest.TestCase):\n"
            "  def test_a(self): pass\n  def test_b(self): self.fail('seen')\n"
            "  def test_c(self): self.skipTest('because')\n")
        self.assertEqual(code, 1)
        self.assertIn("seen", said)
        self.assertIn("because", said)
        self.assertEqual(said.splitlines()[-1], "1 passed, 1 failed, 1 skipped")

    def test_passing(self):
        code, said = self.run_tests("import unittest\nclass T(unittest.TestCase):\n  def test_a(self): pass\n")
        self.assertEqual((code, said.splitlines()[-1]), (0, "1 passed, 0 failed"))

    def test_death_without_a_count_fails(self):
        code, said = self.run_tests("import os\nos._exit(0)\n")
        self.assertEqual((code, said.splitlines()[-1]), (1, "0 passed, 1 failed"))

    def test_program_that_was_not_built_fails(self):
        self.put("tests/base/test_c.c", "")
        code, said = self.check("run-tests", "tests")
        self.assertEqual((code, said.splitlines()[-1]), (1, "0 passed, 1 failed"))

    def test_nothing_to_run_fails(self):
        code, _ = self.check("run-tests", "tests/none")
        self.assertEqual(code, 1)


if __name__ == "__main__":
    unittest.main()
