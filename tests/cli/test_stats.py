"""rein stats: the spread of what finished runs needed, counted again here."""
import json
import math
import unittest

from bench import CliTest

TURNS = [1, 1, 2, 2, 3, 3, 4, 5, 8, 20]


def rank(numbers, percent):
    return sorted(numbers)[max(math.ceil(len(numbers) * percent / 100) - 1, 0)]


class Stats(CliTest):
    def carry(self, turns, *more):
        script = self.write("script.json", json.dumps(
            {"replies": [{"calls": [{"name": "get_time", "input": {}}]}] * turns + [{"text": "done"}]}))
        return self.rein("-m", "script:" + script, "-q", "--no-progress", "off", *more, "go")

    def stats(self):
        return json.loads(self.rein("stats", "--output", "json").out)

    def test_nothing_yet(self):
        ended = self.rein("stats")
        self.assertEqual((ended.code, ended.out), (0, ""))
        self.assertIn("no run", ended.err)
        self.assertEqual(self.stats()["finished"], 0)

    def test_spread_and_limits(self):
        spent = []
        for turns in TURNS:
            ended = self.carry(turns, "--output", "json")
            self.assertEqual(ended.code, 0, ended.err)
            usage = json.loads(ended.out)["usage"]
            spent.append(usage["total"])
        self.assertEqual(self.carry(5, "--max-turns", "2").code, 10)  # none that finished
        told = self.stats()
        self.assertEqual((told["runs"], told["finished"]), (len(TURNS) + 1, len(TURNS)))
        for key, numbers in (("turns", TURNS), ("tokens", spent)):
            one = told[key]
            self.assertEqual([one[k] for k in ("min", "p25", "p50", "p75", "p90", "max")],
                             [min(numbers)] + [rank(numbers, p) for p in (25, 50, 75, 90)] + [max(numbers)])
            self.assertGreaterEqual(one["suggested"], 1.5 * one["p90"])
            self.assertEqual(one["would_have_cut"], sum(n > one["suggested"] for n in numbers))
        self.assertEqual(told["turns"]["would_have_cut"], 1)
        self.assertNotIn("cost", told)  # a script has no price
        text = self.rein("stats").out
        self.assertIn("10 of 11 runs finished", text)
        self.assertIn(f"--max-turns {told['turns']['suggested']} would have cut 1 of 10", text)
        self.assertIn("█", text)
        self.assertIn("턴: 1 █", self.rein("stats", "--lang", "ko").out)


if __name__ == "__main__":
    unittest.main()
