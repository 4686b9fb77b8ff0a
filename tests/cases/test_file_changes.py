"""The handed cases of writing, editing and deleting, through the real program:
each test is one case, and what its expect.md asks is what it asserts."""
import hashlib
import json
import os
import random
import signal
import subprocess
import time
import unicodedata
import unittest

import test_cases
from harness import OK, CaseTest, call_stream, step
from test_cases import arguments

ALLOW = [word for tool in ("write_file", "edit_file", "delete_file") for word in ("--policy", tool + "=allow")]


class Changes(CaseTest):
    below = test_cases.Paths.below
    setup_tree = test_cases.Paths.setup_tree

    def change(self, *calls):
        return self.play_calls([(name, arguments(**members)) for name, members in calls], *ALLOW)[1]

    def bytes_of(self, *parts):
        with open(os.path.join(self.root, *parts), "rb") as f:
            return f.read()

    def test_F05_edit_semantics(self):
        self.copy_case("F05")
        os.makedirs(self.root)
        rows = json.loads(self.read_case("cases.json"))
        for i, row in enumerate(rows):
            with open(os.path.join(self.root, f"{i}.txt"), "w", encoding="utf-8", newline="") as f:
                f.write(row["file"])
        results = self.change(*[("edit_file", {"path": f"{i}.txt", "old": r["old"], "new": r["new"]})
                                for i, r in enumerate(rows)])
        for i, (row, (is_error, text)) in enumerate(zip(rows, results)):
            bad = row["want"].startswith("error")
            self.assertEqual(is_error, bad, text)
            self.assertEqual(self.bytes_of(f"{i}.txt").decode(), row["file"] if bad else row["want"])
        self.assertRegex(results[0][1], r"lines 1, 1")
        self.assertIn("white space", results[4][1])

    def test_T05_bytes_that_are_no_utf8(self):
        self.copy_case("T05")
        calls = json.loads(self.read_case("calls.json"))
        with open(os.path.join(self.case, "want.bin"), "rb") as f:
            want = f.read()
        results = self.change(*[(c["name"], c["input"]) for c in calls])
        self.assertEqual([r[0] for r in results], [False, True, False], results)
        self.assertEqual(self.bytes_of("설정.c"), want)
        self.assertIn("looks like CP949", results[1][1])
        self.assertEqual(self.bytes_of("stray.txt"), b"\xea\xb0\x80\xeb\x82\x98\xeb\x8b\xa4\n\xff raw\nx = 2\n")
        edit = {"path": "설정.c", "old": "// 설정 값", "new": "// 바뀐 값", "encoding": "cp949"}
        (edited, read, written) = self.change(("edit_file", edit), ("read_file", {"path": "설정.c"}),
                                              ("write_file", {"path": "설정.c", "content": "새 값\n"}))
        self.assertEqual((edited[0], read[0]), (False, False), edited)
        self.assertIn("바뀐 값", read[1])
        self.assertIn("CP949", read[1])
        self.assertIn("the old file was CP949", written[1])
        self.assertEqual(self.bytes_of("설정.c").decode(), "새 값\n")

    def test_T06_line_ends_and_marks(self):
        self.copy_case("T06")
        calls = json.loads(self.read_case("calls.json"))
        with open(os.path.join(self.case, "want", "crlf.txt"), "rb") as f:
            want = f.read()
        mixed = self.bytes_of("mixed.txt")
        results = self.change(*[("edit_file", {k: c[k] for k in ("path", "old", "new")}) for c in calls])
        self.assertEqual([r[0] for r in results], [False, True, True], results)
        self.assertEqual(self.bytes_of("crlf.txt"), want)
        self.assertEqual(self.bytes_of("mixed.txt"), mixed)
        self.assertIn("nothing would change", results[2][1])

    def test_T04_names_in_the_other_form(self):
        self.setup_tree("T04")
        self.root = os.path.join(self.area, "tree")
        nfd = unicodedata.normalize("NFD", "학점인정 안내.md")
        results = self.change(("read_file", {"path": "학점인정 안내.md"}),
                              ("edit_file", {"path": "학점인정 안내.md", "old": "NFD", "new": "고침"}),
                              ("write_file", {"path": "both/보고서.txt", "content": "c"}),
                              ("delete_file", {"path": unicodedata.normalize("NFD", "both/보고서.txt")}),
                              ("write_file", {"path": "새 글.txt", "content": "n"}))
        self.assertEqual([r[0] for r in results], [False] * 5, results)
        for is_error, text in results[:2]:
            self.assertIn("another Unicode form", text)
        self.assertEqual(self.bytes_of(nfd).decode(), "고침 파일\n")
        self.assertEqual(os.listdir(os.path.join(self.root, "both")), ["보고서.txt"])
        self.assertEqual(self.bytes_of("both", "보고서.txt"), b"c")
        self.assertIn("새 글.txt", os.listdir(self.root))

    def test_P01_siblings_are_not_written(self):
        self.setup_tree("P01")
        rows = [line.split("\t") for line in self.read_case("paths.tsv").splitlines()]
        before = self.below()
        calls = [(tool, {"path": path.replace("$ROOT", self.root), **members}) for path, _ in rows
                 for tool, members in (("write_file", {"content": "ok\n"}), ("edit_file", {"old": "ok", "new": "good"}),
                                       ("delete_file", {}))]
        results = self.change(*calls)
        for i, ((tool, members), (is_error, text)) in enumerate(zip(calls, results)):
            self.assertEqual(is_error, rows[i // 3][1] == "out", f"{tool} {members['path']}: {text}")
        self.assertEqual(self.below(), before)

    def test_P02_links_are_not_ways_out(self):
        self.setup_tree("P02")
        before = self.below()
        rows = [line.split("\t") for line in self.read_case("ops.tsv").splitlines()[1:]]
        members = {"write": {"content": "x"}, "edit": {"old": "원본", "new": "x"}, "delete": {}}
        rows = [r for r in rows if r[0] in members]
        results = self.change(*[(op + "_file", {"path": path, **members[op]}) for op, path, _ in rows])
        for (op, path, want), (is_error, text) in zip(rows, results):
            self.assertEqual(is_error, want == "refused", f"{op} {path}: {text}")
            self.assertNotIn("원본", text)
        self.assertEqual(self.bytes_of("real", "g.txt"), b"x")
        self.assertFalse(os.path.lexists(os.path.join(self.root, "out")))
        self.assertEqual(self.below(), before)
        subprocess.run(["sha256sum", "-c", "outside.sum"], cwd=self.area, check=True, capture_output=True)

    def test_P03_odd_spellings_are_written_as_they_are(self):
        self.setup_tree("P03")
        before = self.below()
        rows = json.loads(self.read_case("paths.json"))
        ran, results = self.play_calls([("write_file", json.dumps({"path": r["p"], "content": "x"})) for r in rows],
                                       *ALLOW)
        for row, (is_error, text) in zip(rows, results):
            literal = "literal" in row["want"] or row["want"].startswith("ok")
            self.assertEqual(is_error, not literal, f"{row['p'][:40]!r}: {text}")
            self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\u202e]")
        self.assertNotRegex(ran.said, "[\x00-\x08\x0b-\x1f\u202e]")
        self.assertEqual(self.below(), before)
        self.assertEqual(self.bytes_of("sub", "f"), b"x")
        self.assertEqual(self.bytes_of("~", ".ssh", "id_rsa"), b"x")

    def test_P07_what_would_run_is_not_written(self):
        self.setup_tree("P07")
        os.makedirs(os.path.join(self.root, ".git", "hooks"))
        os.makedirs(os.path.join(self.root, "sub"))
        os.symlink(".git", os.path.join(self.root, "innocent"))
        paths = [line for line in self.read_case("paths.txt").splitlines() if "git/" in line.lower()]
        paths += [".rein/config.json", "innocent/config", "innocent/hooks/post-commit", ".git"]
        results = self.change(*[("write_file", {"path": p, "content": "x"}) for p in paths],
                              ("write_file", {"path": ".gitattributes", "content": "x"}))
        self.assertEqual([r[0] for r in results], [True] * len(paths) + [False], results)
        made = [os.path.join(f, n) for f, _, names in os.walk(self.root) for n in names]
        self.assertEqual(made, [os.path.join(self.root, ".gitattributes")])

    def test_a_change_since_the_read_is_a_conflict(self):
        os.makedirs(self.root)
        path = os.path.join(self.root, "x.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.write("one\n")
        calls = ("read_file", {"path": "x.txt"}), ("edit_file", {"path": "x.txt", "old": "one", "new": "two"})
        url = self.serve([step(call_stream([(n, arguments(**m)) for n, m in calls])),
                          step(call_stream([("edit_file", arguments(path="x.txt", old="two", new="three"))]),
                               delay_ms=1500), step(OK)])
        child = subprocess.Popen(self.argv(*ALLOW), env=self.env(url), stdin=subprocess.DEVNULL, cwd=self.dir,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until = time.monotonic() + 20
        while self.bytes_of("x.txt") != b"two\n":
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)
        with open(path, "a", encoding="utf-8") as f:
            f.write("by hand\n")
        child.communicate(timeout=30)
        ((is_error, text),) = self.results(self.check_history()[2])
        self.assertTrue(is_error)
        self.assertIn("changed by somebody else since it was read", text)
        self.assertIn("read it again", text)
        self.assertEqual(self.bytes_of("x.txt"), b"two\nby hand\n")

    def test_F06_kill_leaves_old_or_new(self):
        os.makedirs(self.root)
        path = os.path.join(self.root, "big.txt")
        texts = ["가" * 1_000_000, "나" * 1_000_000]
        sums = {hashlib.sha256(t.encode()).hexdigest() for t in texts}
        with open(path, "w", encoding="utf-8") as f:
            f.write(texts[0])
        os.chmod(path, 0o750)
        chance = random.Random(7)
        seen = set()
        for i in range(8):
            call = ("write_file", arguments(path="big.txt", content=texts[(i + 1) % 2]))
            url = self.serve([step(call_stream([call])), step(OK)])
            child = subprocess.Popen(self.argv(*ALLOW, "--token-budget", "off"), env=self.env(url), stdin=subprocess.DEVNULL, cwd=self.dir,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                child.wait(chance.random() * 0.4 if i % 7 else 60)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.wait()
            got = hashlib.sha256(self.bytes_of("big.txt")).hexdigest()
            self.assertIn(got, sums)
            seen.add(got)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o750)
        self.assertEqual(len(seen), 2)
        self.change(("write_file", {"path": "other.txt", "content": "x"}))
        self.assertEqual(sorted(os.listdir(self.root)), ["big.txt", "other.txt"])


if __name__ == "__main__":
    unittest.main()
