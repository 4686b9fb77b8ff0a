"""rein lint: findings with their place and what happens, exits, JSON, Korean."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bench import CliTest  # noqa: E402

PICK = {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "string"}, "maxItems": 5}},
        "required": ["n"]}
FORMS = [{"name": "pick", "description": "d", "input_schema": PICK},
         {"name": "pick", "description": "d", "inputSchema": PICK},
         {"name": "pick", "description": "d", "parameters": PICK},
         {"type": "function", "function": {"name": "pick", "description": "d", "parameters": PICK}},
         {"type": "function", "name": "pick", "description": "d", "parameters": PICK}]


class Lint(CliTest):
    def lint(self, tools, *argv):
        path = os.path.join(self.dir, "tools.json")
        with open(path, "w", encoding="utf-8") as f:
            f.write(tools if isinstance(tools, str) else json.dumps(tools, ensure_ascii=False))
        return self.rein("lint", *argv, path)

    def test_every_form(self):
        for tools in FORMS + [[f] for f in FORMS] + [{"tools": FORMS[:1]}]:
            ended = self.lint(tools, "--wire", "openai-strict-2024", "--output", "json")
            self.assertEqual(ended.code, 0, ended.err)
            told = json.loads(ended.out)
            found = [(f["tool"], f["pointer"], f["keyword"], f["provider"], f["effect"]) for f in told["findings"]]
            self.assertIn(("pick", "/properties/n/maxItems", "maxItems", "openai-strict-2024", "moved"), found)
            self.assertTrue(all(f["why"] and f["source"] for f in told["findings"]))

    def test_the_built_in_tools_go_everywhere(self):
        ended = self.rein("lint")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertNotIn("refused", ended.out)
        for wire in ("openai-strict-2024", "anthropic-strict", "llama.cpp", "gemini"):
            self.assertIn(f"read_file [{wire}]", ended.out)

    def test_what_clients_and_servers_hand_out(self):
        """An answer of tools/list, a request, Gemini's declarations."""
        for doc in ({"jsonrpc": "2.0", "id": 1, "result": {"tools": FORMS[1:2]}},
                    {"model": "m", "messages": [], "tools": FORMS[3:4]},
                    {"functionDeclarations": FORMS[2:3]}, [{"function_declarations": FORMS[2:3]}],
                    {"tools": [{"functionDeclarations": FORMS[2:3]}]}):
            ended = self.lint(doc, "--wire", "openai-strict-2024")
            self.assertEqual(ended.code, 0, ended.err)
            self.assertIn("pick /properties/n/maxItems maxItems [openai-strict-2024] moved", ended.out)

    def test_each_line_is_of_use(self):
        ended = self.lint(FORMS[0], "--wire", "openai")  # nothing to say, and it says so
        self.assertEqual(ended.out.splitlines()[0], self.named("pick [openai] not strict: 0 moved, 0 rewritten"))
        # One that is refused: why, once, and nothing of what would have become of it.
        far = {"name": "far_one", "description": "d", "input_schema": {
            "type": "object", "properties": {"a": {"$ref": "https://example.com/s.json", "description": "d"}}}}
        ended = self.lint(far, "--wire", "openai-strict")
        self.assertEqual((ended.code, len(ended.out.splitlines())), (22, 1), ended.out)
        self.assertIn("https://example.com/s.json", ended.out)
        told = json.loads(self.lint(far, "--output", "json").out)
        self.assertEqual({f["effect"] for f in told["findings"]}, {"refused"})
        # What is met on two ways is said once.
        twice = {"name": "two_ways", "description": "d", "input_schema": {
            "type": "object", "properties": {k: {"$ref": "#/$defs/d", "description": "d"} for k in ("a", "b")},
            "$defs": {"d": {"type": "object", "properties": {"x": {"type": "string", "maxLength": 3}}}}}}
        lines = self.lint(twice, "--wire", "openai-strict-2024").out.splitlines()
        self.assertEqual(len(lines), len(set(lines)))
        self.assertFalse([line for line in lines if "forbids nothing" in line])  # $defs are not lost

    def named(self, text):
        return os.path.join(self.dir, "tools.json") + ": " + text

    def test_names_that_no_provider_takes(self):
        korean = {"name": "메일_찾기", "description": "d", "input_schema": PICK}
        ended = self.lint(korean, "--wire", "anthropic")
        self.assertEqual(ended.code, 22)
        self.assertRegex(ended.out, r"a-z, A-Z, 0-9, _ and -.*such as tool_[0-9a-f]{8}\n")
        nameless = self.lint([FORMS[0], {"description": "d", "input_schema": PICK}], "--wire", "anthropic")
        self.assertEqual(nameless.code, 22)
        self.assertIn("[1] # name [anthropic] refused: it has no name", nameless.out)
        self.assertNotIn('""', nameless.out)
        half = self.lint([FORMS[0], {"foo": 1}])
        self.assertEqual(half.code, 2)
        self.assertIn("element 2", half.err)

    def test_pointers_are_escaped(self):
        odd = {"name": "odd_keys", "description": "d", "input_schema": {
            "type": "object", "properties": {"a/b~c": {"type": "string"}}}}
        told = json.loads(self.lint(odd, "--output", "json").out)
        self.assertEqual([w["pointer"] for w in told["warnings"]], ["/properties/a~1b~0c"])

    def test_exits(self):
        bad = {"name": "no good", "description": "d", "input_schema": {"type": "array"}}
        self.assertEqual(self.lint(bad).code, 22)
        dotted = {"name": "9lives", "description": "d", "input_schema": PICK}  # Gemini alone refuses it
        self.assertEqual(self.lint(dotted).code, 0)
        self.assertEqual(self.lint(dotted, "--wire", "gemini").code, 22)
        self.assertEqual(self.lint(dotted, "--wire", "openai").code, 0)
        uncompiled = {"name": "t_t", "description": "d",
                      "input_schema": {"type": "object", "properties": {"a": {"pattern": "("}}}}
        self.assertEqual(self.lint(uncompiled).code, 22)
        twins = [FORMS[0], FORMS[0]]
        self.assertEqual(self.lint(twins).code, 22)
        for text in ("{", "[1]", "{}", '"x"', "[]"):
            ended = self.lint(text)
            self.assertEqual((ended.code, ended.out), (2, ""), text)
            self.assertIn("tools.json", ended.err)
        self.assertEqual(self.rein("lint", "/nowhere/tools.json").code, 2)
        self.assertEqual(self.rein("lint", "--wire", "nobody").code, 2)

    def test_warnings(self):
        tools = [{"name": "run", "input_schema": {"type": "object", "properties": {"user_id": {"type": "string"}}}},
                 {"name": "read_file", "description": "same"}, {"name": "readFile", "description": "same"},
                 {"name": "search_mail", "description": "Searches mail."}]
        tools += [{"name": f"tool_{i}", "description": f"Does {i}."} for i in range(30)]
        told = json.loads(self.lint(tools, "--output", "json").out)
        said = "\n".join(f"{w['tool']} {w['pointer']} {w['why']}" for w in told["warnings"])
        for part in ("run  warning: no description", "may be anything", 'where "user_id" comes from',
                     'readFile  warning: "readFile" and "read_file"', "empty result", "34 tools"):
            self.assertIn(part, said)

    def test_korean(self):
        ended = self.lint(FORMS[0], "--wire", "gemini", "--lang", "ko")
        self.assertEqual(ended.code, 0)
        loose = self.lint({"name": "map_it", "description": "d", "input_schema":
                           {"type": "object", "additionalProperties": {"type": "string"}}},
                          "--wire", "openai-strict", "--lang", "ko")
        self.assertIn("strict 없이 보냄", loose.out)


if __name__ == "__main__":
    unittest.main()
