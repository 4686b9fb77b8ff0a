"""The command line: what is refused and in which words, help, pages."""
import json
import os
import re
import subprocess
import unittest

from bench import PROGRAM, ROOT, CliTest, slurp

# arguments, words that stderr must hold
REFUSED = [
    (["--max-turn", "3", "x"], "no option --max-turn: did you mean --max-turns?"),
    (["--frobnicate", "x"], "no option --frobnicate"),
    (["-Z", "x"], "no option -Z"),
    (["--max-turns"], "--max-turns needs a value: --max-turns N|off"),
    (["--max-turns="], "--max-turns has an empty value"),
    (["--max-turns", "-1", "x"], "--max-turns is \"-1\": give a whole number from 0 up, or off"),
    (["--max-turns=3.5", "x"], "--max-turns is \"3.5\""),
    (["--max-turns=99999999999999999999", "x"], "--max-turns is 99999999999999999999: give a number from 0"),
    (["--token-budget", "300k", "x"], "--token-budget is \"300k\""),
    (["--output-limit", "0", "x"], "--output-limit is 0: give a number from 1"),
    (["--output-limit", "off", "x"], "--output-limit is \"off\": give a whole number"),
    (["--retries", "101", "x"], "--retries is 101: give a number from 0 to 100"),
    (["--time-limit", "10", "x"], "--time-limit is \"10\": give a time such as 90s"),
    (["--time-limit", "10m5m", "x"], "--time-limit is \"10m5m\""),
    (["--time-limit", "5m1h", "x"], "--time-limit is \"5m1h\""),
    (["--time-limit", "m", "x"], "--time-limit is \"m\""),
    (["--idle-limit", "0", "x"], "--idle-limit cannot be 0"),
    (["--idle-limit", "0s", "x"], "--idle-limit cannot be 0"),
    (["--no-progress", "maybe", "x"], "--no-progress is \"maybe\": it is one of on|2-turns"),
    (["--output", "xml", "x"], "--output is \"xml\": it is one of text|json|stream-json"),
    (["--lang", "fr", "x"], "--lang is \"fr\""),
    (["--quiet=yes", "x"], "--quiet takes no value"),
    (["-m", "", "x"], "-m has an empty value"),
    (["x"], "no model is named"),
    (["-m", "demo"], "there is no task"),
    (["-m", "demo", "  "], "the task is empty"),
    (["-m", "demo", "two", "tasks"], "the task is one argument, and \"tasks\" is another"),
    (["-m", "demo", "-t", "read_fil", "x"], "no tool \"read_fil\": did you mean read_file?"),
    (["-m", "demo", "-t", "zzz", "x"], "no tool \"zzz\": there are get_time"),
    (["-m", "nope/x", "x"], "nope"),
    (["-m", "script:missing.json", "x"], "missing.json cannot be read"),
    (["-m", "script:/dev/null", "x"], "/dev/null, line 1, column 1: the text ends"),
    (["-m", "anthropic/x", "--base-url", "http://127.0.0.1:1/a b", "x"], "byte 21 is a blank"),
    (["-m", "demo", "-C", "/nowhere-at-all", "x"], "/nowhere-at-all"),
    (["-m", "demo", "--policy", "read_file", "x"], "\"read_file\" is no rule"),
    (["-m", "demo", "--policy", "read_file=maybe", "x"], "maybe"),
    (["-m", "demo", "--policy", "path(.env=deny", "x"], "path(.env"),
    (["-m", "demo", "--system", "@missing", "x"], "missing cannot be read"),
    (["-m", "demo", "--config", "missing.json", "x"], "missing.json cannot be read"),
    (["-m", "demo", "--store", "postgres://db/x", "x"], "stores other than a file are not built yet"),
    (["-m", "demo", "--store", "x", "--no-store", "x"], "leave one out"),
    (["-m", "demo", "--log", "/nowhere-at-all/log", "x"], "the log /nowhere-at-all/log cannot be opened"),
    (["-m", "demo", "--max-turns", "off", "--token-budget", "off", "x"],
     "the limits for turns, tokens, cost and time are all off"),
    (["-m", "anthropic/claude", "x"], "no key: set ANTHROPIC_API_KEY"),
    (["-m", "anthropic/claude", "--base-url", "ftp://127.0.0.1", "x"], "ftp://127.0.0.1"),
    (["ask", "--max-turns", "3", "x"], "rein ask does not take --max-turns"),
    (["tools", "--log", "x"], "rein tools does not take --log"),
    (["tools", "more"], "rein tools takes no further words"),
    (["tools", "test", "x"], "no tool \"x\""),
    (["help", "nonsense"], "no command \"nonsense\""),
]
LATER = ["--effort=high"]
LATER_COMMANDS = ["submit", "worker", "approve", "mcp"]
PAGES = [("docs/rein.1", ["--man"]), ("docs/config.schema.json", ["--schema"]),
         ("docs/completions/rein.bash", ["--completion", "bash"]),
         ("docs/completions/_rein", ["--completion", "zsh"]),
         ("docs/completions/rein.fish", ["--completion", "fish"])]


class Options(CliTest):
    def test_refused(self):
        for argv, words in REFUSED:
            with self.subTest(argv=argv):
                ended = self.rein(*argv)
                self.assertEqual((ended.code, ended.out), (2, ""), ended.err)
                self.assertIn(words, ended.err)
                self.assertEqual(ended.err.count("\n"), 1, ended.err)

    def test_exit_2_prints_no_object(self):
        ended = self.rein("-m", "demo", "--output", "json")
        self.assertEqual((ended.code, ended.out), (2, ""))

    def test_what_is_not_built_is_named(self):
        for option in LATER:
            with self.subTest(option=option):
                ended = self.rein("-m", "demo", option, "x")
                self.assertEqual(ended.code, 2)
                self.assertIn(option.split("=")[0] + " is not built yet", ended.err)
        for command in LATER_COMMANDS:
            with self.subTest(command=command):
                ended = self.rein(command)
                self.assertEqual(ended.code, 2)
                self.assertIn(f"rein {command} is not built yet", ended.err)

    def test_a_task_may_begin_with_a_command_word(self):
        self.assertEqual(self.rein("-m", "demo", "--dry-run", "runs of the day").code, 0)
        self.assertEqual(self.rein("-m", "demo", "--dry-run", "--", "runs").code, 0)
        self.assertEqual(self.rein("-m", "demo", "--dry-run", "--", "-x").code, 0)

    def test_spellings(self):
        for argv in (["-m", "demo", "--max-turns", "7"], ["-mdemo", "--max-turns=7"],
                     ["--model=demo", "--max-turns=7"], ["-qmdemo", "--max-turns=7"],
                     ["run", "-m", "demo", "--max-turns", "7"], ["-m", "demo", "run", "--max-turns", "7"]):
            with self.subTest(argv=argv):
                shown = json.loads(self.rein(*argv, "--dry-run", "--output", "json", "x").out)
                self.assertEqual(shown["limits"]["max_turns"], 7)

    def test_numbers(self):
        for argv, key, value in ((["--max-turns", "0"], "max_turns", 0),
                                 (["--max-turns", "off"], "max_turns", "off"),
                                 (["--token-budget", "5000"], "token_budget", 5000),
                                 (["--time-limit", "1h30m"], "time_ms", 5400000),
                                 (["--time-limit", "1m500ms"], "time_ms", 60500),
                                 (["--time-limit", "0"], "time_ms", 0),
                                 (["--time-limit", "off"], "time_ms", "off"),
                                 (["--idle-limit", "2s"], "idle_ms", 2000),
                                 (["--idle-limit", "off"], "idle_ms", "off"),
                                 (["--retries", "0"], "retries", 0),
                                 (["--retries", "off"], "retries", 0),
                                 (["--retries", "5"], "retries", 5),
                                 (["--no-progress", "2-turns"], "no_progress", "2-turns"),
                                 ([], "retries", 2), ([], "max_turns", 30),
                                 ([], "token_budget", 300000), ([], "time_ms", "off"),
                                 ([], "output_limit", 16384), ([], "idle_ms", 300000)):
            with self.subTest(argv=argv):
                shown = json.loads(self.rein("-m", "demo", "--dry-run", "--output", "json", *argv, "x").out)
                self.assertEqual(shown["limits"][key], value)

    def test_languages(self):
        for env, words in (({"LANG": "ko_KR.UTF-8"}, "작업이 없습니다"),
                           ({"LC_ALL": "ko_KR.UTF-8", "LANG": "en_US.UTF-8"}, "작업이 없습니다"),
                           ({"LC_ALL": "en_US.UTF-8", "LANG": "ko_KR.UTF-8"}, "there is no task"),
                           ({"LANG": "ko"}, "작업이 없습니다"), ({"LANG": "ko.UTF-8"}, "작업이 없습니다"),
                           ({"LANG": "kok_IN.UTF-8"}, "there is no task"),  # Konkani
                           ({"LANG": ""}, "there is no task")):
            with self.subTest(env=env):
                self.assertIn(words, self.rein("-m", "demo", **env).err)
        self.assertIn("작업이 없습니다", self.rein("-m", "demo", "--lang", "ko").err)
        self.assertIn("옵션 --nope", self.rein("--nope", "--lang=ko").err)

    def test_version(self):
        header = slurp(ROOT, "include/rein.h")
        version = re.search(r'REIN_VERSION "([^"]+)"', header)[1]
        self.assertEqual(self.rein("--version").out, f"rein {version}\n")


class Pages(CliTest):
    def golden(self, name, text):
        path = os.path.join(ROOT, "tests/cli/golden", name)
        self.assertEqual(text, slurp(path), f"{name} is not what is printed")

    def test_help(self):
        for lang in ("en", "ko"):
            for name, argv in (("help", []), ("ask", ["ask"]), ("tools", ["tools"]), ("script", ["script"]), ("resume", ["resume"]), ("runs", ["runs"]),
                               ("show", ["show"]), ("replay", ["replay"]), ("fork", ["fork"]), ("policy", ["policy"])):
                ended = self.rein(*argv, "--help", "--lang", lang)
                self.assertEqual((ended.code, ended.err), (0, ""))
                self.golden(f"{name}.{lang}.txt", ended.out)
        self.assertEqual(self.rein("help", "tools").out, self.rein("tools", "--help").out)
        self.assertEqual(self.rein("help").out, self.rein("--help").out)

    def test_pages_are_current(self):
        for path, argv in PAGES:
            with self.subTest(path=path):
                ended = self.rein("help", *argv)
                self.assertEqual(ended.code, 0, ended.err)
                self.assertEqual(ended.out, slurp(ROOT, path),
                                 f"{path} is not what rein help {' '.join(argv)} prints")

    def test_completion_of_bash(self):
        page = os.path.join(ROOT, "docs/completions/rein.bash")
        script = f'''source {page}
        try() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _rein; echo "${{COMPREPLY[@]}}"; }}
        try rein --max; try rein to; try rein --output j; try rein tools --po'''
        done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.stdout.split("\n")[:4], ["--max-turns", "tools", "json", "--policy"], done.stderr)

    def test_every_sentence_of_help_fits_the_table(self):
        """Each option of the default help stands in the man page and the completions."""
        names = re.findall(r"--([a-z-]+)", self.rein("--help").out.split("Options:")[1])
        for path, _ in PAGES:
            if path.endswith(".json"):
                continue
            page = slurp(ROOT, path).replace("\\-", "-")
            for name in names:
                self.assertRegex(page, rf"(--|-l ){name}\b", path)


if __name__ == "__main__":
    unittest.main()
