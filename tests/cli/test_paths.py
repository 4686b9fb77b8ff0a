"""Files as a whole run meets them: roots of all kinds, names that text cannot
spell, links, other encodings. What a path may be is tests/host's business."""
import os
import unicodedata
import unittest

from bench import CliTest, calls, says


class Paths(CliTest):
    def play(self, *wanted, argv=(), **env):
        """The results of these calls, as (is_error, text)."""
        model = self.model(calls(*wanted), says("끝"))
        ended = self.rein("go", *argv, model=model, **env)
        self.assertEqual(ended.code, 0, ended.err)
        results = model.requests[1][2]["messages"][-1]["content"]
        self.assertEqual(len(results), len(wanted))
        return [(bool(r.get("is_error")), r["content"]) for r in results]

    def reads(self, *paths, **more):
        return self.play(*[("read_file", {"path": p}) for p in paths], **more)

    def test_a_root_that_is_a_link_has_two_names(self):
        self.write("a.txt", "inside\n")
        link = os.path.join(self.dir, "link")
        os.symlink(self.root, link)
        for path in ("a.txt", self.root + "/a.txt", link + "/a.txt", link + "//./a.txt", "../tree/a.txt"):
            with self.subTest(path):
                self.assertEqual(self.reads(path, argv=["-C", link]), [(False, "inside\n")])
        for path in (link + "-other/a.txt", link, os.path.dirname(link) + "/a.txt"):
            self.assertTrue(self.reads(path, argv=["-C", link])[0][0], path)

    def test_the_whole_system_as_root(self):
        self.write("a.txt", "inside\n")
        got = self.reads(self.root + "/a.txt", ".." + self.root + "/a.txt", "/dev/zero", "/proc/self/root/etc/passwd",
                         "/proc/self/cwd/a.txt", "proc/self/fd/0", argv=["-C", "/"])
        self.assertEqual([r[0] for r in got], [False, False, True, True, True, True])
        self.assertNotIn("root:", str(got))

    def test_names_in_the_other_form(self):
        apart = unicodedata.normalize("NFD", "학점인정.md")
        self.write(apart, "제목\n둘\n")
        (error, text), = self.reads("학점인정.md")
        self.assertFalse(error)
        self.assertTrue(text.startswith("제목\n둘\n[no file is named 학점인정.md byte for byte: this is " + apart), text)
        self.assertEqual(self.reads(apart), [(False, "제목\n둘\n")])
        (_, found), (_, listed) = self.play(("search_files", {"pattern": "제목", "dir": "학점인정.md"}),
                                            ("list_files", {"glob": "*.md"}))
        self.assertEqual((found, listed), (apart + ":1:제목", apart))
        self.write("학점인정.md", "새것\n")
        self.assertEqual(self.reads("학점인정.md", apart), [(False, "새것\n"), (False, "제목\n둘\n")])

    def test_names_that_are_no_text(self):
        for name in (b"\xc7\xd1\xb1\xdb.txt", b"a\x1b[31m\nb.txt"):  # the first: CP949
            with open(os.path.join(self.root.encode(), name), "wb") as f:
                f.write(b"x\n")
        (_, listed), = self.play(("list_files", {}))
        self.assertEqual(self.reads(*listed.splitlines()), [(False, "x\n")] * 2)

    def test_reins_own_places_below_the_root(self):
        config, state, log = (os.path.join(self.root, n) for n in ("cfg", "state", "rein.log"))
        self.write("cfg/rein/config.json", '{"lang": "en"}\n')
        self.write("cfg/other.json", "lang\n")
        os.symlink("cfg/rein", os.path.join(self.root, "way"))
        wanted = [(tool, {"path": p, **more}) for p in ("cfg/rein/config.json", "way/config.json") for tool, more in (
            ("read_file", {}), ("write_file", {"content": "x"}), ("delete_file", {}))]
        wanted += [("read_file", {"path": "state/rein/runs.db"}), ("write_file", {"path": "rein.log", "content": "x"}),
                   ("write_file", {"path": "cfg/rein/new/f", "content": "x"}), ("delete_file", {"path": "rein.log"})]
        open_to_all = [("search_files", {"pattern": "lang", "glob": "*.json"}),
                       ("write_file", {"path": "cfg/mine", "content": "x"})]
        allow = [a for t in ("write_file", "delete_file") for a in ("--policy", t + "=allow")]
        got = self.play(*wanted, *open_to_all, argv=[*allow, "--log", log],
                        XDG_CONFIG_HOME=config, XDG_STATE_HOME=state)
        for call, (error, text) in zip(wanted, got):
            self.assertTrue(error and "rein's own places" in text, (call, text))
        self.assertEqual(got[-2:], [(False, "cfg/other.json:1:lang"), (False, "wrote cfg/mine, 1 bytes")])
        self.assertEqual(os.listdir(os.path.join(config, "rein")), ["config.json"])

    def test_reports_through_links(self):
        self.write("reports/real/f.md", "old")
        self.write("reports/hidden/.git/config", "old")
        os.makedirs(os.path.join(self.dir, "outside"))
        for target, name in (("real", "in"), ("real/f.md", "file"), ("../../outside/new", "dangling"),
                             ("../../outside", "out"), ("../a.txt", "up"), ("hidden/.git/config", "kept"), ("me", "me")):
            os.symlink(target, os.path.join(self.root, "reports", name))
        paths = ["in/g.md", "file", "dangling", "out/x", "up", "kept", "me", "a/" * 40 + "x", ".rein/config.json"]
        got = self.play(*[("write_report", {"path": "reports/" + p, "content": "new"}) for p in paths],
                        argv=["--policy", "path(reports/.rein/*)=allow"])
        self.assertEqual([r[0] for r in got], [False, False] + [True] * 7, got)
        self.assertIn("at most 32 names", got[7][1])
        self.assertEqual((self.read("reports/real/g.md"), self.read("reports/real/f.md")), ("new", "new"))
        self.assertTrue(os.path.islink(os.path.join(self.root, "reports/file")))
        self.assertEqual(os.listdir(os.path.join(self.dir, "outside")), [])
        self.assertFalse(os.path.exists(os.path.join(self.root, "a.txt")))
        self.assertEqual(self.read("reports/hidden/.git/config"), "old")

    def test_encodings(self):
        for name, data in (("cp949", "한글".encode("cp949")), ("utf16", "한글".encode("utf-16")), ("bom", b"\xef\xbb\xbfab\r\n"),
                           ("nul", b"a\n\0"), ("cut", "끝".encode()[:2])):
            with open(os.path.join(self.root, name), "wb") as f:
                f.write(data)
        cp949, utf16, bom, nul, cut = [text for _, text in self.reads("cp949", "utf16", "bom", "nul", "cut")]
        self.assertIn("CP949", cp949)
        self.assertIn("UTF-16", utf16)
        self.assertEqual(bom, "ab\r\n")
        self.assertEqual(nul, "(this is a binary file, 3 bytes: it cannot be read as text)")
        self.assertTrue(cut.startswith("\ufffd\n["), cut)


if __name__ == "__main__":
    unittest.main()
