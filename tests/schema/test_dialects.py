"""What rein sends is accepted: generated tool schemas with every keyword, derived for
each dialect, against providers that refuse as the real ones do (dialect_server.py).

Seeds are fixed; REIN_LONG multiplies the number of schemas.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("REIN_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tests", "schema"))
from dialect_server import refusal  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("REIN_BUILD", "build"))
SHARED = os.environ.get("REIN_SHARED", os.path.join(ROOT, "../shared"))
DERIVE = os.path.join(BUILD, "asan", "tests", "schema", "test_derive")
DIALECTS = ["openai-strict-2024", "openai-strict", "openai", "anthropic-strict", "anthropic",
            "llama.cpp", "gemini"]
SCHEMAS = 3000 if os.environ.get("REIN_LONG") == "1" else 300
KEYS = ["a", "b", "name", "limit", "가", "x-y", "filter[id]", "$top", "k1", "kind", "Z"]


class Schemas:
    """Random schemas, valid in 2020-12, that tools might have and some they would not."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.defs = ["d1", "d2", "d3"]

    def some(self, chance):
        return self.random.random() < chance

    def pick(self, *values):
        return self.random.choice(values)

    def schema(self, depth):
        r = self.random
        if depth <= 0:
            return self.pick({"type": "string"}, {"type": "integer"}, {"type": "boolean"}, {}, True,
                             {"type": "null"}, {"const": self.pick(1, "c", None, True, 1.5)},
                             {"enum": ["x", "y"]}, {"enum": [1, "z", None]}, {"enum": [True]})
        kind = r.randrange(14)
        if kind < 3:
            out = self.string()
        elif kind < 5:
            out = self.number()
        elif kind < 7:
            out = self.array(depth)
        elif kind < 10:
            out = self.object(depth)
        elif kind == 10:
            out = {self.pick("anyOf", "oneOf"): [self.schema(depth - 1) for _ in range(r.randint(1, 3))]}
        elif kind == 11:
            out = {"allOf": [self.schema(depth - 1) for _ in range(r.randint(1, 3))]}
        elif kind == 12:
            out = {"$ref": self.pick("#", "#/$defs/d1", "#/$defs/d2", "#/$defs/d3", "#anchored")}
        else:
            out = {"type": r.sample(["string", "integer", "null", "array", "object", "number"], r.randint(2, 4)),
                   "minLength": 1, "items": {"type": "string"}}
        self.about(out, depth)
        return out

    def about(self, out, depth):
        if self.some(.5):
            out["description"] = self.pick("what it is", "이름", "a \"quoted\" thing\nand more")
        for word, value in (("title", "T"), ("default", self.pick(1, "d", None, [])), ("examples", ["e", 2]),
                            ("$comment", "c"), ("deprecated", True), ("readOnly", self.some(.5)),
                            ("writeOnly", False), ("x-mine", {"a": 1}), ("nullable", True)):
            if self.some(.06):
                out[word] = value
        if self.some(.06):
            out["not"] = {"const": "never"}
        if self.some(.05):
            out.update({"if": {"type": "string"}, "then": {"minLength": 2}, "else": self.schema(depth - 2)})

    def string(self):
        out = {"type": "string"}
        for word, value in (("minLength", self.random.randint(0, 3)), ("maxLength", self.pick(4, 20, 70000)),
                            ("pattern", self.pick("^[a-z]+$", "x", r"^(?=a)\w", r"(a)\1", "^a{1,2000}$",
                                                  "^[가-힣 ]+$")),
                            ("format", self.pick("email", "uri", "date-time", "uuid", "mine", "regex")),
                            ("contentEncoding", "base64"), ("contentMediaType", "image/png"),
                            ("contentSchema", {"type": "object"}), ("enum", ["x", "yy", ""]), ("const", "x")):
            if self.some(.2):
                out[word] = value
        return out

    def number(self):
        out = {"type": self.pick("integer", "number", ["integer", "null"])}
        for word, value in (("minimum", self.pick(0, 1.5, -3)), ("maximum", self.pick(100, 10.5)),
                            ("exclusiveMinimum", -5), ("exclusiveMaximum", 1000.5), ("multipleOf", self.pick(1, .5)),
                            ("enum", [1, 2, 3]), ("const", 2), ("format", self.pick("int32", "mine"))):
            if self.some(.2):
                out[word] = value
        return out

    def array(self, depth):
        out = {"type": "array"} if self.some(.9) else {}
        for word, value in (("items", self.schema(depth - 1)), ("minItems", self.pick(0, 1, 2)),
                            ("maxItems", self.pick(2, 5)), ("uniqueItems", self.some(.7)),
                            ("contains", {"type": "string"}), ("minContains", 1), ("maxContains", 3),
                            ("prefixItems", [self.schema(depth - 1), self.schema(depth - 1)]),
                            ("unevaluatedItems", self.pick(False, True, {"type": "string"}))):
            if self.some(.8 if word == "items" else .2):
                out[word] = value
        if self.some(.1):
            out["items"] = False
        return out

    def object(self, depth, root=False):
        out = {"type": "object"} if self.some(.9) or root else {}
        if self.some(.9):
            keys = self.random.sample(KEYS, self.random.randint(0, 4))
            out["properties"] = {k: self.schema(depth - 1) for k in keys}
            if self.some(.1):
                out["properties"]["never"] = False
            if self.some(.6):
                out["required"] = self.random.sample(keys, self.random.randint(0, len(keys)))
            if self.some(.05):
                out["required"] = out.get("required", []) + ["unnamed"]
        if self.some(.5):
            out["additionalProperties"] = self.pick(False, False, False, True, {"type": "string"}, {})
        for word, value in (("patternProperties", {"^p": {"type": "string"}}), ("propertyNames", {"minLength": 1}),
                            ("minProperties", 1), ("maxProperties", 9), ("dependentRequired", {"a": ["b"]}),
                            ("dependentSchemas", {"a": {"properties": {"extra": self.schema(depth - 2)}}}),
                            ("unevaluatedProperties", self.pick(False, True, {"type": "string"})),
                            ("anyOf", [{"required": ["a"]}, {"properties": {"b": self.schema(depth - 2)}}]),
                            ("oneOf", [self.object(0), self.object(0)] if depth > 1 else [{"minProperties": 0}])):
            if self.some(.07):
                out[word] = value
        return out

    def tool(self):
        root = self.object(self.random.randint(1, 4), root=True)
        root["$defs"] = {d: self.schema(2) for d in self.defs}
        root["$defs"]["d3"] = {"$anchor": "anchored", "$dynamicAnchor": "node",
                               **(root["$defs"]["d3"] if isinstance(root["$defs"]["d3"], dict) else {})}
        if self.some(.2):
            root["$schema"] = self.pick("https://json-schema.org/draft/2020-12/schema",
                                        "http://json-schema.org/draft-07/schema#")
            if "draft-07" in root["$schema"]:
                root["definitions"] = root["$defs"]
        if self.some(.1):
            root["$id"] = "https://example.com/tool"
        if self.some(.1):
            root["allOf"] = [self.object(1), {"$ref": "#/$defs/d1"}]
        if self.some(.1):
            root["oneOf"] = [self.object(1), self.object(1)]
        if self.some(.05):
            root["enum"] = [{"a": 1}]
        return root


def derive(requests):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False, encoding="utf-8") as f:
        for r in requests:
            f.write(json.dumps(r, ensure_ascii=False) + "\n")
    try:
        out = subprocess.run([DERIVE, f.name], capture_output=True, timeout=300)
    finally:
        os.unlink(f.name)
    assert out.returncode == 0, out.stderr[-2000:]
    return [json.loads(line) for line in out.stdout.decode().splitlines()]


def accepted(dialect, answer):
    sent = [t for t in answer["sent"] if not t["refused"]]
    return refusal(dialect, [{"name": t["name"], "strict": t["strict"], "schema": t["schema"]} for t in sent])


class Dialects(unittest.TestCase):
    def test_what_is_sent_is_accepted(self):
        schemas = [Schemas(seed).tool() for seed in range(SCHEMAS)]
        used = set()

        def words(s):
            if isinstance(s, dict):
                used.update(s)
                for v in s.values():
                    words(v)
            elif isinstance(s, list):
                for v in s:
                    words(v)
        words(schemas)
        for word in ("minLength pattern format minimum multipleOf prefixItems contains uniqueItems not if "
                     "dependentSchemas unevaluatedProperties $ref allOf oneOf anyOf const enum").split():
            self.assertIn(word, used)
        for dialect in DIALECTS:
            answers = derive([{"dialect": dialect, "tools": [{"name": "tool", "schema": s}]} for s in schemas])
            self.assertEqual(len(answers), len(schemas))
            strict = 0
            for schema, answer in zip(schemas, answers):
                why = accepted(dialect, answer)
                self.assertIsNone(why, f"{dialect}: {json.dumps(why)}\nfull {json.dumps(schema)}\n"
                                       f"sent {json.dumps(answer['sent'][0]['schema'])}")
                self.assertFalse(answer["sent"][0]["refused"], (dialect, schema, answer["findings"]))
                strict += answer["sent"][0]["strict"]
                loose = [f for f in answer["findings"] if f["effect"] == "sent loose"]
                self.assertEqual(answer["sent"][0]["strict"], "strict" in dialect and not loose)
            if "strict" in dialect:
                self.assertGreater(strict, 0, "no schema was strict: the test sees nothing")
                print(f"{dialect}: {strict} of {len(schemas)} strict", file=sys.stderr)

    def test_findings_name_a_place_that_is_there(self):
        schemas = [Schemas(seed).tool() for seed in range(100)]
        for dialect in DIALECTS:
            answers = derive([{"dialect": dialect, "tools": [{"name": "tool", "schema": s}]} for s in schemas])
            for schema, answer in zip(schemas, answers):
                for f in answer["findings"]:
                    node = schema
                    for step in f["pointer"].split("/")[1:]:
                        step = step.replace("~1", "/").replace("~0", "~")
                        self.assertTrue(step in node if isinstance(node, dict) else int(step) < len(node), f)
                        node = node[step] if isinstance(node, dict) else node[int(step)]

    def test_many_tools_of_one_request(self):
        for dialect in DIALECTS:
            tools = [{"name": f"t{i}", "schema": Schemas(i).tool()} for i in range(140)]
            answer = derive([{"dialect": dialect, "tools": tools}])[0]
            self.assertIsNone(accepted(dialect, answer), dialect)

    @unittest.skipUnless(os.path.exists(os.path.join(SHARED, "cases/C01-strict-mode-lint/tools.json")),
                         "the handed cases are not here")
    def test_the_handed_tools(self):
        with open(os.path.join(SHARED, "cases/C01-strict-mode-lint/tools.json"), encoding="utf-8") as f:
            tools = [{"name": t["name"], "schema": t["parameters"]} for t in json.load(f)]
        for dialect in DIALECTS:
            answer = derive([{"dialect": dialect, "tools": tools}])[0]
            self.assertIsNone(accepted(dialect, answer), dialect)
            self.assertFalse(any(t["refused"] for t in answer["sent"]))
            if "strict" in dialect:
                self.assertEqual([t["strict"] for t in answer["sent"]], [True, False, True, True])


if __name__ == "__main__":
    unittest.main()
