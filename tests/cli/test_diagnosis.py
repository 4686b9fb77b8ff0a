"""rein show: a line behind the records where a tool looks miswired, and none elsewhere."""
import json
import unittest

from bench import CliTest


class Diagnosis(CliTest):
    def carry(self, paths, words):
        calls = [{"calls": [{"name": "read_file", "input": {"path": p}}]} for p in paths]
        script = self.write("script.json", json.dumps({"replies": calls + [{"text": "done"}]}))
        ended = self.rein("-m", "script:" + script, "-q", "--no-progress", "off", words)
        self.assertEqual(ended.code, 0, ended.err)

    def test_guessed_paths_are_told(self):
        self.carry(["src/app.py", "src/main.py", "lib/\u202ex.py"], "Fix the tests")
        shown = self.rein("show", "--last")
        last = shown.out.splitlines()[-1]
        self.assertIn("paths given to read_file look guessed: 3 in 3 calls", last)
        self.assertIn("src/app.py, src/main.py, lib/", last)
        self.assertNotIn("\u202e", shown.out)
        self.assertIn("추측인 것 같습니다", self.rein("show", "--last", "--lang", "ko").out)
        lines = self.rein("show", "--last", "--output", "json")
        for line in lines.out.splitlines():
            json.loads(line)
        self.assertIn("look guessed", lines.err)

    def test_named_paths_are_not(self):
        self.carry(["src/app.py", "src/main.py", "lib/x.py"], "Read src/app.py, src/main.py and lib/x.py")
        shown = self.rein("show", "--last")
        self.assertNotIn("guessed", shown.out)
        self.assertEqual(shown.err, "")


if __name__ == "__main__":
    unittest.main()
