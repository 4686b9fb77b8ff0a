"""Runs over HTTP against providers that refuse as the real ones do (dialect_server.py):
generated tools are taken, a refusal is shown in its own words and answered by one request
with that tool loosened, and a resumed run remembers it.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("REIN_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tests", "schema"))
from dialect_server import Provider  # noqa: E402
from test_dialects import DIALECTS, Schemas  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("REIN_BUILD", "build"))
OWN_TOOLS = os.path.join(BUILD, "asan", "tests", "driver", "test_own_tools")
PROGRAM = os.path.abspath(os.environ.get("REIN_PROGRAM") or os.path.join(BUILD, "asan", "rein"))
WIRES = {"anthropic": "anthropic", "anthropic-strict": "anthropic", "openai": "openai",
         "openai-strict": "openai", "openai-strict-2024": "openai", "llama.cpp": "chat", "gemini": "chat"}
WAIT_S = 60
PICK = {"type": "object", "properties": {
    "colours": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 5},
    "note": {"type": "string"}}, "required": ["colours"]}


class Served(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="rein-served-")
        self.addCleanup(self.folder.cleanup)

    def base(self, wire, provider):
        return provider.url if wire == "anthropic" else provider.url + "/v1"

    def own(self, provider, wire, tools, **more):
        """A run through the library: the lines that a listener hears, the report last."""
        path = os.path.join(self.folder.name, "run.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"model": wire + "/m", "base_url": self.base(wire, provider), "tools": tools, **more}, f,
                      ensure_ascii=False)
        ran = subprocess.run([OWN_TOOLS, path], capture_output=True, timeout=WAIT_S, cwd=self.folder.name)
        self.assertEqual((ran.returncode, ran.stderr), (0, b""))
        return [json.loads(line) for line in ran.stdout.decode().splitlines()]

    def rein(self, provider, wire, *argv):
        """The program itself, its built-in tools; (exit, object of stdout, stderr)."""
        env = {"PATH": os.environ["PATH"], "HOME": self.folder.name, "LC_ALL": "C.UTF-8",
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""),
               "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k",
               "ANTHROPIC_BASE_URL": provider.url, "OPENAI_BASE_URL": provider.url + "/v1"}
        ran = subprocess.run([PROGRAM, argv[0], "-m", wire + "/m", "--output", "json", *argv[1:]], env=env,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S, cwd=self.folder.name)
        return ran.returncode, json.loads(ran.stdout.decode()), ran.stderr.decode()


class Taken(Served):
    def test_a_sample_of_the_generated_tools(self):
        tools = [{"name": f"tool_{i}", "schema": Schemas(i).tool()} for i in range(0, 300, 6)]
        for dialect in DIALECTS:
            with self.subTest(dialect), Provider(dialect) as provider:
                heard = self.own(provider, WIRES[dialect], tools, dialect=dialect, strict="strict" in dialect,
                                 skip_bad_tools=True)
                (_, body, no), = provider.seen
                self.assertIsNone(no)
                # Those whose schema cannot be held are left out, each with its reason.
                out = [line["text"] for line in heard if "cannot be used" in line.get("text", "")]
                self.assertEqual(len(body["tools"]) + len(out), len(tools))
                self.assertGreater(len(body["tools"]), 40)
                self.assertEqual((heard[-1]["outcome"], heard[-1]["text"]), ("finished", "done"))

    def test_built_in_tools_everywhere(self):
        for dialect in DIALECTS:
            with self.subTest(dialect), Provider(dialect, [[("get_time", "{}")]]) as provider:
                exit, told, err = self.rein(provider, WIRES[dialect], "run", "--no-store", "--wire", dialect, "Go on.")
                self.assertEqual((exit, [no for _, _, no in provider.seen]), (0, [None, None]), err)

    def test_strict_in_each_wires_own_dialect(self):
        for wire, dialect in (("anthropic", "anthropic-strict"), ("openai", "openai-strict"),
                              ("chat", "openai-strict")):
            with self.subTest(wire), Provider(dialect) as provider:
                exit, _, err = self.rein(provider, wire, "run", "--no-store", "--strict", "Go on.")
                self.assertEqual(exit, 0, err)
                (_, body, no), = provider.seen
                self.assertIsNone(no)
                strict = json.dumps(body).count('"strict": true')
                self.assertGreater(strict, 0, err)

    def test_moved_bounds_hold(self):
        """The oldest strict dialect takes no minItems: sent without, held all the same."""
        counts = ((0, "1"), (6, "5"), (1, None), (5, None))
        replies = [[("pick", json.dumps({"colours": ["red"] * n, "note": None}))] for n, _ in counts]
        with Provider("openai-strict-2024", replies) as provider:
            heard = self.own(provider, "openai", [{"name": "pick", "schema": PICK}], dialect="openai-strict-2024")
        self.assertEqual([no for _, _, no in provider.seen], [None] * 5)
        self.assertTrue(provider.seen[0][1]["tools"][0]["strict"])
        self.assertNotIn("minItems", json.dumps(provider.seen[0][1]["tools"]))
        results = [i["output"] for i in provider.seen[4][1]["input"] if i.get("type") == "function_call_output"]
        for (n, told), result in zip(counts, results):
            if told:
                self.assertRegex(result, "^Error: .*/colours")
                self.assertIn(told, result)
                self.assertIn(str(n), result)
            else:
                self.assertEqual(json.loads(result), {"colours": ["red"] * n})
        self.assertEqual(heard[-1]["outcome"], "finished")


class Refused(Served):
    def check_words(self, said, no, tool):
        message = no[1]["error"]["message"]
        self.assertIn(message, said)
        self.assertIn(tool, said)

    def test_an_older_provider_than_thought(self):
        """Today's strict schema at a provider of 2024: its words, then loose, then on."""
        for wire in ("openai", "chat"):
            with self.subTest(wire), Provider("openai-strict-2024", [[("pick", '{"colours":["a"]}')]]) as provider:
                heard = self.own(provider, wire, [{"name": "pick", "schema": PICK}, {"name": "rest", "schema": {}}],
                                 dialect="openai-strict")
                no = [no for _, _, no in provider.seen]
                self.assertEqual([n is None for n in no], [False, True, True])
                self.assertIn("minItems", no[0][1]["error"]["message"])
                warned = [line.get("text", "") for line in heard if line.get("stream") == "warning"]
                self.check_words("\n".join(warned), no[0], "pick")
                tools = provider.seen[1][1]["tools"]
                strict = [t.get("function", t).get("strict", False) for t in tools]
                self.assertEqual(strict, [False, True])  # that tool alone
                self.assertEqual(heard[-1]["outcome"], "finished")

    def test_each_wire_names_its_tool(self):
        """A keyword that nobody knew of is refused while it is sent at all."""
        def fussy(wire):
            def also(tools):
                for i, tool in enumerate(tools):
                    if "maxItems" not in tool["schema"].get("properties", {}).get("colours", {}):
                        continue
                    if wire == "anthropic":
                        return 400, {"type": "error", "error": {
                            "type": "invalid_request_error",
                            "message": f"tools.{i}.custom: For 'array' type, property 'maxItems' is not supported"}}
                    return 400, {"error": {
                        "message": f"Invalid schema for function '{tool['name']}': In context=('properties', "
                                   "'colours'), 'maxItems' is not permitted.", "type": "invalid_request_error",
                        "param": f"tools[{i}].parameters", "code": "invalid_function_parameters"}}
                return None
            return also
        for wire in ("anthropic", "openai", "chat"):
            dialect = "anthropic" if wire == "anthropic" else "openai"
            with self.subTest(wire), Provider(dialect, also=fussy(wire)) as provider:
                heard = self.own(provider, wire, [{"name": "rest", "schema": {}}, {"name": "pick", "schema": PICK}],
                                 dialect=dialect)
                self.assertEqual([no is None for _, _, no in provider.seen], [False, True])
                warned = "\n".join(line.get("text", "") for line in heard if line.get("stream") == "warning")
                self.check_words(warned, provider.seen[0][2], "pick")
                self.assertIn("at most 5 items", json.dumps(provider.seen[1][1]["tools"]))
                self.assertEqual(heard[-1]["outcome"], "finished")

    def test_what_stays_refused_ends_with_its_words(self):
        def never(tools):
            return 400, {"error": {"message": "Invalid schema for function 'pick': no.", "type":
                                   "invalid_request_error", "param": "tools[0].parameters",
                                   "code": "invalid_function_parameters"}}
        with Provider("openai", also=never) as provider:
            heard = self.own(provider, "openai", [{"name": "pick", "schema": PICK}])
            self.assertEqual(len(provider.seen), 2)
            self.assertEqual((heard[-1]["outcome"], heard[-1]["exit"]), ("bad_tool", 22))
            self.assertIn("Invalid schema for function 'pick': no.", heard[-1]["reason"])

    def test_a_refusal_that_names_no_tool_is_shown_as_it_is(self):
        """A grammar that does not parse: nothing to loosen, no second request, no silence."""
        def grammar(tools):
            return 400, {"error": {"code": 400, "message": "Failed to initialize samplers: failed to parse grammar",
                                   "type": "invalid_request_error"}}
        with Provider("llama.cpp", also=grammar) as provider:
            exit, told, err = self.rein(provider, "chat", "run", "--no-store", "Go on.")
            self.assertEqual((exit, told["outcome"], len(provider.seen)), (22, "bad_tool", 1), err)
            for said in (err, told["reason"]):
                self.assertIn("Failed to initialize samplers: failed to parse grammar", said)

    def test_a_resumed_run_remembers(self):
        """The program itself: one refusal in the run's life, also over a resume."""
        def fussy(tools):
            for i, tool in enumerate(tools):
                if tool["name"] == "read_file" and tool["strict"]:
                    return 400, {"error": {"message": "Invalid schema for function 'read_file': In context="
                                           "('properties', 'limit'), 'type' is not permitted.",
                                           "type": "invalid_request_error", "param": f"tools[{i}].parameters",
                                           "code": "invalid_function_parameters"}}
            return None
        with Provider("openai-strict", [[("get_time", "{}")], "first", "second"], also=fussy) as provider:
            exit, told, err = self.rein(provider, "openai", "run", "--strict", "Go on.")
            self.assertEqual((exit, told["text"]), (0, "first"), err)
            self.check_words(err, provider.seen[0][2], "read_file")
            exit, told, err = self.rein(provider, "openai", "resume", told["run"], "And then?")
            self.assertEqual((exit, told["text"]), (0, "second"), err)
            self.assertEqual([no is None for _, _, no in provider.seen], [False, True, True, True])


if __name__ == "__main__":
    unittest.main()
