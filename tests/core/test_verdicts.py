"""Whether a call runs is the full schema's to say, whatever was sent to the provider.

Generated tools (the generator of test_dialects) in a strict and a loose dialect; generated
arguments, also as a strict mode writes them: null for every optional member that is absent.
The dispatcher's verdict on what it was given equals the full schema's on what was meant.
Who says what the full schema takes: Ajv, where it is installed, else rein's own validator
on the schema as written. A strict tool takes no member that it does not name, besides.
"""
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("REIN_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
SCHEMA_TESTS = os.path.join(ROOT, "tests", "schema")
sys.path.insert(0, SCHEMA_TESTS)
from test_ajv import NPM, is_explained  # noqa: E402
from test_dialects import Schemas  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("REIN_BUILD", "build"))
OURS = os.path.join(BUILD, "asan", "tests", "core", "test_verdicts")
PAIRS = os.path.join(BUILD, "asan", "tests", "schema", "test_pairs")
AJV = shutil.which("node") and os.path.isdir(os.path.join(NPM, "node_modules", "ajv"))
SETS = 10000 if os.environ.get("REIN_LONG") == "1" else 2000
EACH = 20  # argument sets of one tool
WORDS = ["", "x", "yy", "abc", "가나", "a@b.c", "2020-01-01", "c"]


def strip(schema):
    """Without what Ajv takes for something else: formats, "nullable", another draft."""
    if isinstance(schema, list):
        return [strip(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: v if k in ("enum", "const", "default") else strip(v) for k, v in schema.items()
            if k not in ("format", "nullable", "$schema")}


def takes_null(s):
    return isinstance(s, dict) and ("null" in s.get("type", []) or None in s.get("enum", [])) and \
        not {"allOf", "not", "if"} & set(s)


class Arguments:
    def __init__(self, seed, root):
        self.random, self.root = random.Random(seed), root

    def some(self, chance):
        return self.random.random() < chance

    def any(self):
        return self.random.choice([1, 0, -4, 2.5, "x", "never", True, False, [], ["x"], {}, {"a": "x"}])

    def fit(self, s, depth=6):
        """A value that the schema mostly takes."""
        r = self.random
        if depth == 0 or not isinstance(s, dict) or self.some(.04):
            return self.any()
        if "$ref" in s:
            defs = self.root.get("$defs", {})
            at = self.root if s["$ref"] == "#" else defs.get(s["$ref"].split("/")[-1], defs.get("d3"))
            return self.fit(at, depth - 1)
        if "const" in s:
            return copy.deepcopy(s["const"])
        if "enum" in s and "type" != "object":
            return copy.deepcopy(r.choice(s["enum"]))
        for word in ("anyOf", "oneOf"):
            if word in s and "properties" not in s:
                return self.fit(r.choice(s[word]), depth - 1)
        if "allOf" in s and "properties" not in s:
            return self.fit(r.choice(s["allOf"]), depth - 1)
        kinds = s.get("type", [])
        kind = kinds if isinstance(kinds, str) else r.choice(kinds) if kinds else None
        if kind == "object" or (kind is None and "properties" in s):
            return self.object(s, depth)
        if kind == "array" or (kind is None and "items" in s):
            return self.array(s, depth)
        made = {"string": lambda: r.choice(WORDS), "boolean": lambda: self.some(.5), "null": lambda: None,
                "integer": lambda: r.choice([0, 1, 2, 7, 50]), "number": lambda: r.choice([0, 1, 2.5, 9])}
        return made[kind]() if kind else self.any()

    def object(self, s, depth):
        named = {k: v for k, v in s.get("properties", {}).items() if v is not False}
        keys = [k for k in named if k in s.get("required", []) or self.some(.5)]
        if depth < 3:
            keys = [k for k in keys if k in s.get("required", [])]
        made = {k: self.fit(named[k], depth - 1) for k in keys}
        # A null that its schema does not plainly take would mean "absent".
        return {k: v for k, v in made.items() if v is not None or takes_null(named[k])}

    def array(self, s, depth):
        first = [self.fit(one, depth - 1) for one in s.get("prefixItems", [])]
        rest = s.get("items", True)
        return first if rest is False else first + [self.fit(rest, depth - 1) for _ in
                                                    range(self.random.randint(0, 3))]


def with_nulls(full, sent, args):
    """What a strict mode makes of `args`: null for what is absent. Only where null can mean
    nothing else: an optional member whose own schema names one type, and not null."""
    if isinstance(args, list) and isinstance(full, dict) and isinstance(sent, dict) and \
            "prefixItems" not in full and isinstance(sent.get("items"), dict):
        return [with_nulls(full.get("items"), sent["items"], a) for a in args]
    if not isinstance(args, dict) or not isinstance(full, dict) or "properties" not in full or \
            "properties" not in sent:
        return args
    out = {}
    for key, value in sent["properties"].items():
        own = full["properties"].get(key)
        kind = own.get("type") if isinstance(own, dict) else None
        if key in args:
            out[key] = with_nulls(own, value, args[key])
        elif key not in full.get("required", []) and isinstance(kind, str) and kind != "null":
            out[key] = None
    out.update({k: v for k, v in args.items() if k not in out})
    return out


def lines(argv, rows):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False, encoding="utf-8") as f:
        for row in rows:
            f.write(json.dumps(row, ensure_ascii=False) + "\n")
    try:
        out = subprocess.run([*argv, f.name], stdout=subprocess.PIPE, check=True)
    finally:
        os.unlink(f.name)
    return out.stdout.decode().splitlines()


def full_verdicts(pairs):
    if AJV:
        return lines(["node", os.path.join(SCHEMA_TESTS, "ajv.mjs"), NPM], pairs)
    return lines([PAIRS], pairs)


def ours(dialect, pairs):
    return [json.loads(line) for line in
            lines([OURS], [{"dialect": dialect, **p} for p in pairs])]


class Verdicts(unittest.TestCase):
    def pairs(self, first, count):
        made, seed = [], first
        while len(made) < count:
            schema = strip(Schemas(seed).tool())
            source = Arguments(seed, schema)
            values = [v for v in (source.object(schema, 6) for _ in range(EACH))]
            made.append({"schema": schema, "values": values})
            seed += 1
        return made

    def compare(self, pairs, told, ended):
        """Counts of y and n; every verdict the same but for Ajv's own faults."""
        apart, counts = [], {"y": 0, "n": 0}
        for pair, full, judged in zip(pairs, told, ended):
            if "bad" in judged or full.startswith("bad"):
                continue
            for value, a, b in zip(pair["values"], judged["verdicts"], full):
                counts[a] += 1
                if a != b and not (AJV and is_explained({**pair, "values": [value]}, a, b)):
                    apart.append((a, b, json.dumps(value, ensure_ascii=False),
                                  json.dumps(pair["schema"], ensure_ascii=False)))
        self.assertEqual(apart[:3], [], f"{len(apart)} of {sum(counts.values())} differ (ours, the schema's)")
        return counts

    def test_the_full_schema_decides(self):
        counts, meant = {"y": 0, "n": 0}, 0
        seed = 1000
        while sum(counts.values()) < SETS:
            pairs = self.pairs(seed, 50)
            seed += 50
            told = full_verdicts(pairs)
            loose = ours("openai", pairs)
            for k, n in self.compare(pairs, told, loose).items():
                counts[k] += n
            strict = ours("openai-strict", pairs)
            closed = [i for i, j in enumerate(strict) if j.get("strict") and not told[i].startswith("bad")]
            nulled = [{"schema": pairs[i]["schema"], "values": [
                with_nulls(pairs[i]["schema"], strict[i]["sent"], v) for v in pairs[i]["values"]]} for i in closed]
            self.compare([pairs[i] for i in closed], [told[i] for i in closed], ours("openai-strict", nulled))
            for i, made in zip(closed, nulled):
                meant += sum(full == "y" and a != b for full, a, b in
                             zip(told[i], pairs[i]["values"], made["values"]))
        self.assertGreater(counts["y"], SETS // 10)
        self.assertGreater(counts["n"], SETS // 10)
        self.assertGreater(meant, SETS // 50, "no null stood for absent: the test sees nothing")
        print(f"{counts} with {'Ajv' if AJV else 'the validator itself'}", file=sys.stderr)

    def test_strict_tools_are_closed(self):
        pairs = self.pairs(5000, 100)
        strict = ours("openai-strict", pairs)
        more = [{"schema": p["schema"], "values": [{**v, "unnamed member": 1} for v in p["values"]]} for p in pairs]
        seen = 0
        for judged, before in zip(ours("openai-strict", more), strict):
            if judged.get("strict"):
                self.assertEqual(set(judged["verdicts"]), {"n"})
                seen += "y" in before["verdicts"]
        self.assertGreater(seen, 5, "no strict tool ran without the member: the test sees nothing")


if __name__ == "__main__":
    unittest.main()
