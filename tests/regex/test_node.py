"""src/regex beside a JavaScript engine: the handed cases, every unit of the BMP,
and generated patterns and subjects, whose answers must be the same or refused."""
import json
import os
import shutil
import subprocess
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("REIN_ROOT", os.path.join(HERE, "..", ".."))
BUILD = os.environ.get("REIN_BUILD", os.path.join(ROOT, "build"))
SHARED = os.environ.get("REIN_SHARED", os.path.join(ROOT, "..", "shared"))
HELPER = os.path.join(BUILD, "asan", "tests", "regex", "test_regex")
LONG = os.environ.get("REIN_LONG") == "1"
NODE = shutil.which("node")


def ask(cases):
    """[(flags, pattern, subjects)] -> the helper's line for each."""
    data = b""
    for flags, pattern, subjects in cases:
        texts = [t.encode() for t in (pattern, *subjects)]
        data += f"{flags}{' '.join(str(len(t)) for t in texts)}\n".encode() + b"".join(texts)
    done = subprocess.run([HELPER, "--batch"], input=data, capture_output=True, timeout=120)
    if done.returncode:
        raise AssertionError(done.stderr.decode(errors="replace")[-4000:])
    return [line.rstrip() for line in done.stdout.decode().split("\n")[:-1]]


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def handed(name):
    path = os.path.join(SHARED, "cases", name)
    if not os.path.isdir(path):
        raise unittest.SkipTest(f"{name} is not here")
    return path


class Handed(unittest.TestCase):
    def test_catastrophes_end(self):
        folder = handed("F01-regex-catastrophe")
        lines = text_of(folder, "evil.txt").split("\n")
        for pattern in text_of(folder, "patterns.tsv").splitlines():
            for flags in (0, 2):
                with self.subTest(pattern=pattern, flags=flags):
                    began = time.monotonic()
                    answer, = ask([(flags, pattern, lines)])
                    self.assertLess(time.monotonic() - began, 5)
                    self.assertTrue(answer.startswith("!") or len(answer.split()) == len(lines))
        for row in text_of(folder, "good.tsv").splitlines():
            pattern, hits = row.split("\t")
            answer, = ask([(0, pattern, lines)])
            self.assertEqual(sum(word not in "-?" for word in answer.split()), int(hits), answer)

    def test_javascript_semantics(self):
        for case in json.loads(text_of(handed("F02-javascript-regex-semantics"), "cases.json")):
            with self.subTest(pattern=case["pattern"]):
                lines = case["text"].split("\n")
                if "\n" in case["text"] and case["pattern"] in ("[^]", "\\cJ"):
                    lines.append(case["text"])
                answer, = ask([(0, case["pattern"], lines)])
                got = "error" if answer.startswith("!") else any(w != "-" for w in answer.split())
                self.assertNotIn("?", answer.split())
                if case["want"] is not None:
                    self.assertEqual(got, case["want"], answer)


@unittest.skipUnless(NODE, "node is not here")
class Engine(unittest.TestCase):
    def differ(self, what, seed, *flags):
        done = subprocess.run([NODE, os.path.join(HERE, "differ.mjs"), HELPER, str(what), str(seed),
                               "--batch", *flags], capture_output=True, timeout=2000)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        total = json.loads(done.stdout)
        shown = json.dumps(total["differences"][:8], ensure_ascii=False, indent=1)
        self.assertEqual(total["difference_count"], 0, shown)
        self.assertEqual(total["gave_up"], 0)
        return total

    def check_share(self, total):
        # Patterns that the engine takes and rein refuses: mostly lookbehinds.
        taken = total["patterns"] - total["errors"]
        print(f"{total['pairs']} pairs of {total['patterns']} patterns, {total['errors']} errors in "
              f"both, {total['refused']} of {taken} valid ones refused", flush=True)
        self.assertLess(total["refused"], 0.05 * taken)

    def test_generated_patterns(self):
        for seed in range(1, 13 if LONG else 2):
            with self.subTest(seed=seed):
                total = self.differ(20000 if LONG else 16000, seed)
                self.assertGreaterEqual(total["pairs"], 10000)
                self.check_share(total)

    def test_generated_patterns_with_the_u_flag(self):
        for seed in range(1, 13 if LONG else 2):
            with self.subTest(seed=seed):
                total = self.differ(f"unicode:{20000 if LONG else 12000}", seed)
                self.assertGreaterEqual(total["pairs"], 6000)
                self.assertLess(total["lenient"], 0.25 * total["patterns"])
                self.check_share(total)

    def test_every_unit(self):
        table = text_of(ROOT, "src", "regex", "fold.def").split("\n")[0]
        version = subprocess.run([NODE, "-p", "process.versions.unicode"], capture_output=True,
                                 text=True).stdout.strip()
        if f"Unicode {version}." not in table:
            self.skipTest(f"node has Unicode {version}, the table says {table.strip()}")
        self.differ("units-all" if LONG else "units", 1)


if __name__ == "__main__":
    unittest.main()
