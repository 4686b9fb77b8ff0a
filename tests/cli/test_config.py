"""The config: where it is found, what it may hold, what beats it; its schema."""
import json
import os
import re
import unittest

from bench import ROOT, CliTest, slurp

# config, words that stderr must hold
REFUSED = [
    ('{"modle": "demo"}', 'line 1, column 11: there is no key "modle": did you mean "model"?'),
    ('{"qqqqqq": 1}', 'there is no key "qqqqqq"'),
    ('{"dry_run": true}', 'there is no key "dry_run"'),
    ('{\n  // a comment\n  "max_turns": "many"\n}', "line 3, column 16: max_turns is \"many\": write a whole number"),
    ('{"max_turns": -1}', "max_turns is \"-1\""),
    ('{"max_turns": 1.5}', "max_turns is 1.5"),
    ('{"max_turns": null}', "max_turns is null"),
    ('{"output_limit": "off"}', "output_limit is \"off\": write a whole number"),
    ('{"output_limit": 0}', "output_limit is 0: give a number from 1"),
    ('{"time_limit": 600}', "time_limit is 600: write a text in quotes"),
    ('{"time_limit": "600"}', "time_limit is \"600\": give a time"),
    ('{"quiet": "yes"}', "quiet is \"yes\": write true or false"),
    ('{"tools": "read_file"}', "tools is \"read_file\": write an array of names"),
    ('{"tools": ["read_file", 3]}', "tools is"),
    ('{"lang": "fr"}', "lang is \"fr\": it is one of ko|en"),
    ('{"model": ["demo"]}', "model is [\"demo\"]: write a text in quotes"),
    ('{"model": "demo", "model": "demo"}', "model"),
    ('{"model": "demo"', "config.json, line 1"),
    ('["demo"]', "the config must be one object"),
    ('', "config.json"),
    ('{"policy": ["x"]}', "policy"),
    ('{"policy": {"rules": {"read_file": "maybe"}}}', "maybe"),
    ('{"policy": {"rules": {"path(.env": "deny"}}}', "path(.env"),
    ('{"policy": {"defualt": "ask"}}', "defualt"),
    ('{"policy": {"default": "maybe"}}', "the policy's default is \"maybe\": write allow"),
    ('{"policy": {"rules": {"get_time": {"verdict": "deny", "why": 3}}}}', "the rule get_time says why with 3"),
    ('{"policy": {"rules": {"get_time": {"verdict": "deny", "zz": 1}}}}', "\"zz\" that is not known: it takes verdict and why"),
    ('{"model": ' + "[" * 5000, "nests deeper than 512 levels"),
    ('{"zzz": 1}', "rein help --schema lists them"),
    (' \n  # mine', "config.json, line 2, column 3: expected a value"),
]


class Config(CliTest):
    def put(self, text, xdg=True):
        folder = os.path.join(self.dir, "xdg" if xdg else "home/.config", "rein")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
            f.write(text if isinstance(text, str) else json.dumps(text))
        return {"XDG_CONFIG_HOME": os.path.join(self.dir, "xdg")} if xdg else {}

    def shown(self, *argv, **env):
        ended = self.rein("--dry-run", "--output", "json", *argv, "x", **env)
        self.assertEqual(ended.code, 0, ended.err)
        return json.loads(ended.out)

    def test_refused(self):
        for text, words in REFUSED:
            with self.subTest(config=text):
                ended = self.rein("-m", "demo", "x", **self.put(text))
                self.assertEqual((ended.code, ended.out), (2, ""), ended.err)
                self.assertIn(words, ended.err)
                self.assertIn("config.json", ended.err)

    def test_a_place_is_told_once(self):
        for lang, place in (("en", "line 1, column 1"), ("ko", "1행 1열")):
            ended = self.rein("-m", "demo", "x", "--lang", lang, **self.put("#"))
            self.assertEqual(ended.err.count(place), 1, ended.err)

    def test_a_config_that_cannot_be_reached_is_not_passed_over(self):
        folder = os.path.join(self.home, ".config/rein")
        os.makedirs(folder)
        os.symlink("nowhere", os.path.join(folder, "config.json"))
        ended = self.rein("-m", "demo", "x")
        self.assertEqual((ended.code, ended.out), (2, ""))
        self.assertIn("config.json cannot be read", ended.err)
        os.rename(os.path.join(self.home, ".config"), os.path.join(self.home, ".other"))
        with open(os.path.join(self.home, ".config"), "w", encoding="utf-8"):
            pass  # no folder at all: there is no config
        self.assertEqual(self.rein("-m", "demo", "x").code, 0)

    def test_everything(self):
        env = self.put('''/* mine */ {
          "$schema": "x", "model": "demo", "system": "be brief", "tools": ["get_time"],
          "max_turns": 3, "token_budget": "off", "time_limit": "10m", "no_progress": "3-in-all",
          "output_limit": 1000, "idle_limit": "9s", "retries": 0, "output": "json", "lang": "ko",
          "model_lang": "ko", "read_limit": 500, "quiet": true, "root": ".",
          "policy": {"default": "deny", "rules": {"get_time": "ask"}} // and no more
        }''')
        shown = json.loads(self.rein("--dry-run", "x", **env).out)
        self.assertEqual(shown["limits"], {"max_turns": 3, "token_budget": "off", "cost_uusd": "off",
                                           "time_ms": 600000,
                                           "no_progress": "3-in-all", "output_limit": 1000,
                                           "idle_ms": 9000, "retries": 0})
        self.assertEqual([t["name"] for t in shown["tools"]], ["get_time"])
        self.assertEqual(shown["tools"][0]["verdict"], "ask")
        self.assertEqual(shown["policy"]["default"], "deny")
        self.assertIn("be brief", json.dumps(shown["body"]["system"]))
        self.assertTrue(shown["config"].endswith("/xdg/rein/config.json"))

    def test_flag_beats_environment_beats_config(self):
        env = self.put({"model": "anthropic/mock", "base_url": "http://127.0.0.1:1", "max_turns": 3})
        self.assertEqual(self.shown(**env)["url"], "http://127.0.0.1:1/v1/messages")
        env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:2"
        self.assertEqual(self.shown(**env)["url"], "http://127.0.0.1:2/v1/messages")
        shown = self.shown("--base-url", "http://127.0.0.1:3", "--max-turns", "5", **env)
        self.assertEqual(shown["url"], "http://127.0.0.1:3/v1/messages")
        self.assertEqual(shown["limits"]["max_turns"], 5)

    def test_places(self):
        self.put({"model": "demo", "max_turns": 4}, xdg=False)
        self.assertEqual(self.shown()["limits"]["max_turns"], 4)
        env = self.put({"model": "demo", "max_turns": 5})
        self.assertEqual(self.shown(**env)["limits"]["max_turns"], 5)
        # A relative XDG path is none.
        self.assertEqual(self.shown(XDG_CONFIG_HOME="xdg")["limits"]["max_turns"], 4)
        other = self.write("other.json", '{"model": "demo", "max_turns": 6}')
        self.assertEqual(self.shown("--config", other, **env)["limits"]["max_turns"], 6)
        self.assertIsNone(self.shown("-m", "demo", HOME=self.root)["config"])

    def test_rules_of_flags_stand_before_the_config(self):
        env = self.put({"model": "demo", "policy": {"rules": {"get_time": "ask"}}})
        shown = self.shown("--policy", "get_time=deny", "--policy", "read_file=ask", **env)
        verdicts = {t["name"]: t["verdict"] for t in shown["tools"]}
        self.assertEqual((verdicts["get_time"], verdicts["read_file"]), ("deny", "ask"))

    def test_idle_rule_is_warned_of(self):
        ended = self.rein("-m", "demo", "--policy", "raed_file=deny", "--dry-run", "x")
        self.assertEqual(ended.code, 0)
        self.assertIn('rule raed_file=deny names a tool that does not exist', ended.err)

    def test_project_config_takes_a_policy_alone(self):
        self.write(".rein/config.json", '{"model": "nope"}')
        ended = self.rein("-m", "demo", "--dry-run", "x")
        self.assertEqual(ended.code, 2)
        self.assertIn('takes policy alone, and has "model"', ended.err)

    def test_unreadable(self):
        env = self.put("{}")
        path = os.path.join(self.dir, "xdg/rein/config.json")
        os.remove(path)
        os.mkdir(path)
        ended = self.rein("-m", "demo", "x", **env)
        self.assertEqual(ended.code, 2)
        self.assertIn("cannot be read", ended.err)

    def test_schema_and_table_name_the_same_keys(self):
        schema = json.loads(slurp(ROOT, "docs/config.schema.json"))
        table = slurp(ROOT, "src/cli/options.h")
        rows = re.findall(r'X\(\w+,\s+(?:"[^"]*"|NULL),\s+\S+,\s+(?:"[^"]*"|NULL),\s+\w+,\s+("[^"]*"|NULL)', table.replace("\\\n", ""))
        keys = {row.strip('"') for row in rows if row != "NULL"}
        self.assertGreater(len(keys), 15)
        self.assertEqual(set(schema["properties"]), keys | {"$schema"})
        self.assertIs(schema["additionalProperties"], False)


if __name__ == "__main__":
    unittest.main()
