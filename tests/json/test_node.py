"""The reader against Node's JSON.parse: generated texts, right ones and wrong ones.

Each text goes to both; taken or refused, and what was read, must be equal. Node
sees the text as a program would that reads a file: bytes that are not UTF-8 are
refused before. Seeds are fixed; REIN_LONG multiplies the number of texts.
"""
import glob
import os
import random
import shutil
import struct
import subprocess
import tempfile
import unittest

BUILD = os.environ.get("REIN_BUILD", "build")
SHARED = os.environ.get("REIN_SHARED", "../shared")
DUMP = os.path.join(BUILD, "asan", "tests", "json", "test_dump")
ROUNDS = 8 if os.environ.get("REIN_LONG") == "1" else 1
DEPTH_MAX = 512  # JSON_DEPTH_MAX; Node knows no such limit

NODE = r"""
const fs = require('fs');
const data = fs.readFileSync(process.argv[1]);
const strict = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true});
const bits = new DataView(new ArrayBuffer(8));
const hex = (n, size) => n.toString(16).padStart(size, '0');
function units(s) {
  let out = 's';
  for (let i = 0; i < s.length; i++) out += hex(s.charCodeAt(i), 4);
  return out;
}
function dump(v) {
  if (typeof v === 'string') return units(v);
  if (typeof v === 'number') {
    bits.setFloat64(0, v);
    return 'n' + hex(bits.getUint32(0), 8) + hex(bits.getUint32(4), 8);
  }
  if (v === null || typeof v === 'boolean') return String(v);
  if (Array.isArray(v)) return '[' + v.map(x => dump(x) + ',').join('') + ']';
  const members = Object.keys(v).map(k => [units(k), v[k]]);
  members.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0);
  return '{' + members.map(([k, x]) => k + ':' + dump(x) + ',').join('') + '}';
}
const lines = [];
for (let at = 0; at < data.length;) {
  const size = data.readUInt32LE(at);
  const text = data.subarray(at + 4, at + 4 + size);
  at += 4 + size;
  let line = 'no';
  try { line = dump(JSON.parse(strict.decode(text))); } catch (e) {
    if (!(e instanceof SyntaxError || e instanceof TypeError)) throw e;
  }
  lines.push(line);
}
fs.writeSync(1, lines.join('\n') + '\n');
"""

WORDS = ["", "a", "id", "__proto__", "constructor", "0", "10", "한글", "é", "e\u0301", "😀", "\u2028",
         "\x7f", "path/to", "\ud83d", "\udc00x", "\\", "\"", "\n", "\x00", "\ufeff", "\uffff", "~1", "'"]
NUMBERS = ["0", "-0", "1", "-1", "0.1", "1e5", "1E-7", "1e400", "-1e400", "1e-400", "5e-324",
           "2.4703282292062327e-324", "2.4703282292062328e-324", "1.7976931348623157e308",
           "1.7976931348623159e308", "9007199254740993", "9223372036854775808", "123456789012345678901234567890",
           "0.000000000000000000000000000001", "4.35", "1.0000000000000001110223024625156540423631668090820312",
           "1.00000000000000011102230246251565404236316680908203125",
           "1.00000000000000011102230246251565404236316680908203126", "0e99", "-0.0", "1e+2"]
TOKENS = ["{", "}", "[", "]", ",", ":", "\"", "\\", "0", "-", "+", ".", "e", "E", "true", "false", "null",
          "NaN", "Infinity", "//", "/*", "*/", "'", "\\u", "\\ud83d", "\\ude00", "\\x", "\x00", "\x1f", "\t",
          "\n", "\r", " ", "\x0b", "\xa0", "\ufeff", "\u2028", "한", "undefined", "01", "1.", ".5", "1e", "#"]


class Texts:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.suite = [open(p, "rb").read() for p in
                      sorted(glob.glob(os.path.join(SHARED, "data/json-parsing/test_*/*.json")))]
        self.suite = [t for t in self.suite if len(t) < 5000]

    def blank(self):
        return "".join(self.random.choice(" \t\r\n") for _ in range(self.random.choice([0, 0, 0, 1, 3])))

    def unit(self, c):
        return "".join("\\u" + "".join(self.random.choice([d, d.upper()]) for d in f"{u:04x}")
                       for u in struct.unpack(f"<{len(c.encode('utf-16-le', 'surrogatepass')) // 2}H",
                                              c.encode("utf-16-le", "surrogatepass")))

    def string(self):
        r, out = self.random, []
        for c in "".join(r.choice(WORDS) for _ in range(r.choice([0, 1, 1, 2, 9]))):
            short = {"\"": "\\\"", "\\": "\\\\", "\n": "\\n", "/": "\\/"}.get(c)
            if short and r.random() < 0.7:
                out.append(short)
            elif ord(c) < 0x20 or c in "\"\\" or 0xD800 <= ord(c) < 0xE000 or r.random() < 0.15:
                out.append(self.unit(c))
            else:
                out.append(c)
        return "\"" + "".join(out) + "\""

    def number(self):
        r = self.random
        if r.random() < 0.4:
            return r.choice(NUMBERS)
        text = r.choice(["", "-"]) + str(r.getrandbits(r.choice([1, 8, 40, 64, 200])))
        if r.random() < 0.5:
            text += "." + "".join(r.choice("0123456789") for _ in range(r.choice([1, 3, 17, 30])))
        if r.random() < 0.4:
            text += r.choice("eE") + r.choice(["", "+", "-"]) + str(r.randrange(r.choice([10, 330])))
        return text

    def value(self, depth):
        r = self.random
        kind = r.random()
        if depth <= 0 or kind < 0.4:
            return r.choice([self.string, self.number, lambda: r.choice(["true", "false", "null"])])()
        parts = [self.blank() + (self.string() + self.blank() + ":" + self.blank() if kind < 0.7 else "") +
                 self.value(depth - 1) + self.blank() for _ in range(r.choice([0, 1, 2, 3, 20 if depth < 2 else 4]))]
        return "{" + ",".join(parts) + "}" if kind < 0.7 else "[" + ",".join(parts) + "]"

    def nested(self):
        n = self.random.choice([3, 50, DEPTH_MAX - 1, DEPTH_MAX])
        opens = [self.random.choice(["[", "{\"a\":"]) for _ in range(n)]
        return "".join(opens) + "1" + "".join("]" if o == "[" else "}" for o in reversed(opens))

    def right(self):
        text = self.nested() if self.random.random() < 0.01 else \
            self.blank() + self.value(self.random.choice([0, 1, 2, 4])) + self.blank()
        return text.encode("utf-8")

    def wrong(self):
        """A right text, or one of the suite's, changed in one to three places."""
        r = self.random
        text = bytearray(r.choice(self.suite) if self.suite and r.random() < 0.5 else self.right())
        for _ in range(r.choice([1, 1, 2, 3])):
            at = r.randrange(len(text) + 1)
            kind = r.random()
            if kind < 0.15:
                del text[at:]
            elif kind < 0.35:
                del text[at:at + r.choice([1, 1, 2, 5])]
            elif kind < 0.5 and text:
                text[at % len(text)] = r.randrange(256)
            elif kind < 0.6 and text:
                text[at % len(text)] ^= 1 << r.randrange(8)
            elif kind < 0.7 and text:
                other = r.randrange(len(text))
                text[at:at] = text[other:other + r.choice([1, 4, 12])]
            else:
                text[at:at] = r.choice(TOKENS).encode("utf-8", "surrogatepass")
        return bytes(text)

    def batch(self, n):
        return [self.right() if i % 5 < 2 else self.wrong() for i in range(n)]


@unittest.skipUnless(shutil.which("node"), "node is not installed")
class AgreesWithNode(unittest.TestCase):
    def outcomes(self, texts):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "texts")
            with open(path, "wb") as f:
                for text in texts:
                    f.write(struct.pack("<I", len(text)) + text)
            ours = subprocess.run([DUMP, path], stdout=subprocess.PIPE, check=True)
            theirs = subprocess.run(["node", "-e", NODE, path], stdout=subprocess.PIPE, check=True)
        split = [run.stdout.decode("ascii").split("\n") for run in (ours, theirs)]
        self.assertEqual([len(s) for s in split], [len(texts) + 1] * 2)
        return split

    def agree(self, texts):
        ours, theirs = self.outcomes(texts)
        apart = [(t, a[:300], b[:300]) for t, a, b in zip(texts, ours, theirs) if a != b]
        self.assertEqual(apart[:5], [], f"{len(apart)} of {len(texts)} differ (text, ours, Node's)")
        return sum(line != "no" for line in ours[:-1])

    def test_generated(self):
        for seed in range(ROUNDS):
            with self.subTest(seed=seed):
                taken = self.agree(Texts(seed).batch(5000))
                # Both kinds must be there, or the comparison says nothing.
                self.assertGreater(taken, 2000)
                self.assertGreater(5000 - taken, 1500)

    def test_suite(self):
        texts = Texts(0).suite
        if not texts:
            self.skipTest("the suite is not there")
        self.agree(texts)

    def test_every_single_change(self):
        """One small text with everything in it: each byte left out, doubled, replaced."""
        text = "{\"a\\n\\u00e9\": [1.5e+3, -0, true, \"한😀\"], \"\": {\"b\": null}}".encode()
        texts = []
        for i in range(len(text)):
            texts += [text[:i], text[:i] + text[i + 1:], text[:i] + text[i:i + 1] + text[i:]]
            texts += [text[:i] + c.to_bytes(1, "big") + text[i + 1:] for c in b"{}[],:\"\\/0-+.eEtfnu \n\x00\x80\xed\xff'"]
        self.agree(texts)

    def test_deeper_is_refused(self):
        ours, theirs = self.outcomes([b"[" * n + b"]" * n for n in (DEPTH_MAX, DEPTH_MAX + 1)])
        self.assertEqual(ours[0], theirs[0])
        self.assertEqual(ours[1], "no")


if __name__ == "__main__":
    unittest.main()
