"""What list_files leaves out, beside `git check-ignore` on generated trees: nested
lists, negation, anchors, stars, classes, blanks, backslashes, folders only."""
import json
import os
import random
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.environ.get("REIN_ROOT", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("REIN_BUILD", os.path.join(ROOT, "build"))
HELPER = os.path.join(BUILD, "asan", "tests", "host", "test_walk")
LONG = os.environ.get("REIN_LONG") == "1"
GIT = shutil.which("git")

NAMES = ["a", "b", "ab", "abc", "a.o", "b.o", "foo", "foobar", "foo.c", "bar", "x y", "t ", "t", "#h",
         "!n", "n", "[a]", "a*b", "가", "가나", ".hid", "A", "a1", "a-b", "back\\slash", "build"]
PARTS = ["a", "b", "foo", "bar", "build", "가", "*", "**", "*.o", "a*", "*b", "f*r", "?", "??", "a?c",
         "[ab]", "[!a]", "[^a]*", "[a-c]*", "[[:alpha:]]", "[[:digit:]]*", "[]a]", "[a", "a\\*b",
         "\\#h", "\\!n", "t\\ ", "x y", "foo**", "**r", "a**c", "***", "\\a", "back\\\\slash", "[\\a]",
         "[a-]", "[[:nope:]]", "\\[a\\]", "foo\\", "[a/b]", "f[o]o*", "?*", "*.c"]


def pattern(dice):
    text = "/".join(dice.choice(PARTS) for _ in range(dice.choice((1, 1, 1, 2, 2, 3))))
    text = dice.choice(("", "", "", "/", "**/")) + text + dice.choice(("", "", "", "/", "/**", "/*"))
    text = dice.choice(("", "", "", "!")) + text
    return text + dice.choice(("", "", "", "", " ", "  ", "\t", "\r", "\\ "))


def build(top, dice):
    folders = [""]
    for _ in range(dice.randint(3, 9)):
        above = dice.choice(folders)
        path = os.path.join(above, dice.choice(NAMES))
        if path not in folders and path.count("/") < 4:
            folders.append(path)
            os.mkdir(os.path.join(top, path))
    for _ in range(40):
        path = os.path.join(top, dice.choice(folders), dice.choice(NAMES))
        if not os.path.lexists(path):
            with open(path, "w", encoding="ascii"):
                pass
    for folder in [""] + dice.sample(folders, min(len(folders), 2)):
        lines = [dice.choice(("", "# word", pattern(dice), pattern(dice), pattern(dice)))
                 for _ in range(dice.randint(1, 6))]
        mark = dice.choice(("", "", "\ufeff"))
        with open(os.path.join(top, folder, ".gitignore"), "w", encoding="utf-8", newline="") as f:
            f.write(mark + "\n".join(lines) + dice.choice(("", "\n")))
    with open(os.path.join(top, ".git", "info", "exclude"), "w", encoding="utf-8") as f:
        f.write("\n".join(pattern(dice) for _ in range(dice.randint(0, 2))) + "\n")


def git_leaves(top):
    paths = []
    for folder, dirs, files in os.walk(top):
        dirs[:] = [d for d in dirs if not (folder == top and d == ".git")]
        inside = os.path.relpath(folder, top)
        paths += [os.path.normpath(os.path.join(inside, n)) for n in dirs + files]
    done = subprocess.run([GIT, "-c", "core.excludesFile=", "check-ignore", "-z", "--stdin"], cwd=top,
                          input="\0".join(paths).encode() + b"\0", stdout=subprocess.PIPE, check=False)
    named = {p.decode() for p in done.stdout.split(b"\0") if p}
    return {p for p in paths if p not in named}


def rein_leaves(top):
    done = subprocess.run([HELPER, "--list", top], stdout=subprocess.PIPE, check=True)
    return {p.decode() for p in done.stdout.split(b"\0") if p}


@unittest.skipUnless(GIT, "git is not here")
class Ignore(unittest.TestCase):
    def test_as_git(self):
        seen = left = 0
        for seed in range(600 if LONG else 40):
            dice = random.Random(seed)
            with tempfile.TemporaryDirectory() as top, self.subTest(seed=seed):
                subprocess.run([GIT, "init", "-q", top], check=True,
                               env={"PATH": os.environ["PATH"], "HOME": top})
                build(top, dice)
                git, rein = git_leaves(top), rein_leaves(top)
                seen, left = seen + len(git), left + 1
                lists = {}
                for folder, _, files in os.walk(top):
                    if ".gitignore" in files:
                        with open(os.path.join(folder, ".gitignore"), "rb") as f:
                            lists[os.path.relpath(folder, top)] = f.read().decode()
                self.assertEqual(git, rein, json.dumps({"git alone": sorted(git - rein),
                                                        "rein alone": sorted(rein - git),
                                                        "lists": lists}, ensure_ascii=False))
        self.assertGreater(seen, 5 * left)


    def test_above_the_root(self):
        """The root is a folder of a repository: its rules still hold."""
        looked = 0
        for seed in range(600 if LONG else 8):
            dice = random.Random(seed)
            with tempfile.TemporaryDirectory() as top, self.subTest(seed=seed):
                subprocess.run([GIT, "init", "-q", top], check=True, env={"PATH": os.environ["PATH"], "HOME": top})
                build(top, dice)
                whole = git_leaves(top)
                roots = [p for p in whole if os.path.isdir(os.path.join(top, p)) and not hidden(p, whole)]
                for root in sorted(roots):
                    looked += 1
                    git = {os.path.relpath(p, root) for p in whole if p.startswith(root + "/")}
                    self.assertEqual(git, rein_leaves(os.path.join(top, root)), root)
        self.assertGreater(looked, 8)

    def test_anchors_above_and_below_the_root(self):
        with tempfile.TemporaryDirectory() as top:
            app = os.path.join(top, "pkg", "app")
            for folder in (".git/info", "pkg/app/deep"):
                os.makedirs(os.path.join(top, folder))
            for folder, rules in (("", "/pkg/app/a\n/b\n"), ("pkg", "/app/c\n/d\n"),
                                  ("pkg/app", "/e\n"), ("pkg/app/deep", "/f\n"), (".git/info", "/pkg/app/g\n")):
                name = "exclude" if folder == ".git/info" else ".gitignore"
                with open(os.path.join(top, folder, name), "w", encoding="ascii") as f:
                    f.write(rules)
            for name in "abcdefg":
                for folder in (app, os.path.join(app, "deep")):
                    with open(os.path.join(folder, name), "w", encoding="ascii"):
                        pass
            self.assertEqual(rein_leaves(app), {".gitignore", "b", "d", "f", "deep", "deep/.gitignore"}
                             | {"deep/" + n for n in "abcdeg"})


def hidden(path, whole):
    """One of the folders above is left out: git leaves out all, and rein was told to look there."""
    while path:
        if path not in whole:
            return True
        path = os.path.dirname(path)
    return False


if __name__ == "__main__":
    unittest.main()
