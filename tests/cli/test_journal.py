"""Journals that others wrote: kept from this version on, torn, glued, damaged.

The golden files were made by the version in their name; each later one must read
them, and bring out each request as it went.
"""
import json
import os
import shutil
import unittest

from bench import CliTest, ROOT

GOLDEN = os.path.join(ROOT, "tests/golden")


class Journals(CliTest):
    def put(self, data):
        path = os.path.join(self.dir, "run.jsonl")
        with open(path, "wb") as f:
            f.write(data)
        return path

    def golden(self):
        with open(os.path.join(GOLDEN, "v1.jsonl"), "rb") as f:
            return f.read()

    def database(self):
        return shutil.copy(os.path.join(GOLDEN, "v1.db"), os.path.join(self.dir, "runs.db"))

    def test_golden_lines_and_database(self):
        ended = self.rein("replay", os.path.join(GOLDEN, "v1.jsonl"))
        self.assertEqual((ended.code, ended.err), (0, ""))
        ended = self.rein("replay", "--last", "--store", self.database())
        self.assertEqual((ended.code, ended.err), (0, ""))
        self.assertIn("3 requests", ended.out)
        shown = self.rein("show", "--last", "--output", "json", "--store", self.database())
        self.assertEqual(shown.out.encode(), self.golden())

    def test_another_request_is_told(self):
        changed = self.golden().replace("첫 줄을 읽고".encode(), "끝 줄을 읽고".encode(), 1)
        ended = self.rein("replay", self.put(changed))
        self.assertEqual(ended.code, 3)
        self.assertIn("request 1 (record 3) differs", ended.err)

    def test_torn_glued_and_damaged_lines(self):
        whole = self.golden()
        lines = whole.splitlines(keepends=True)
        last = len(whole) - len(lines[-1])
        for cut in range(last + 1, len(whole) - 1, 40):
            ended = self.rein("show", self.put(whole[:cut]))
            self.assertEqual(ended.code, 0, ended.err)
            records = [l for l in ended.out.splitlines() if not l.startswith("cache of request")]
            self.assertEqual(len(records), len(lines) - 1)
            self.assertIn("its last line is torn", ended.err)
        glued = lines[0] + lines[1].rstrip() + b"".join(lines[2:])
        self.assertEqual(self.rein("replay", self.put(glued)).code, 0)
        ended = self.rein("replay", self.put(lines[0] + b"\0" * 512 + b"".join(lines[1:])))
        self.assertEqual(ended.code, 0)
        self.assertIn("512 NUL bytes", ended.err)
        ended = self.rein("fork", self.put(lines[0] + lines[1][:20] + b"\n" + b"".join(lines[2:])), "go on")
        self.assertEqual(ended.code, 2)
        self.assertIn("line 2", ended.err)
        ended = self.rein("show", self.put(lines[0] + b'{"event":"\xff\xfe"}\n' + b"".join(lines[2:])))
        self.assertIn("line 2", ended.err)

    def test_a_torn_file_goes_on(self):
        torn = self.put(self.golden()[:-30])
        ended = self.rein("fork", torn, "고마워", "-C", self.root)
        self.assertEqual(ended.code, 0, ended.err)
        shown = self.rein("show", "--last", "--output", "json")
        records = [json.loads(l) for l in shown.out.splitlines()]
        kept = [json.loads(l) for l in self.golden().splitlines()[:-1]]
        self.assertEqual(records[1:len(kept)], kept[1:])
        self.assertEqual(records[-1]["outcome"], "finished")
        self.assertEqual(self.rein("replay", "--last").code, 0)

    def test_a_damaged_database_is_told(self):
        path = self.database()
        with open(path, "rb") as f:
            whole = f.read()
        for change in (whole[:5000], whole[:100], whole[:4096] + b"\0" * 8192 + whole[12288:],
                       whole.replace(b'"event":"granted"', b'"event":"grXnted"'), b"x" * 9000):
            with open(path, "wb") as f:
                f.write(change)
            ended = self.rein("show", "--last", "--store", path)
            self.assertIn(ended.code, (0, 2, 23), ended.err)
            if ended.code:
                self.assertTrue(ended.err.startswith("rein: "), ended.err)


if __name__ == "__main__":
    unittest.main()
