"""exec and git_diff through the program: what a command prints, how it ends, that
nothing of it is left, what it sees of the environment; at each level of the sandbox
that this machine gives. A level that is closed here is skipped, by name."""
import json
import os
import re
import signal
import stat
import subprocess
import time
import unittest

from bench import PROGRAM, CliTest, calls, says

LONG = os.environ.get("REIN_LONG") == "1"
ALLOW = ["--no-store", "--policy", "exec=allow", "--policy", "taint=allow"]
LEVELS = ("full", "helper", "off")


def alive(marker):
    """Processes whose command line holds the marker."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if marker.encode() in f.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


class ExecTest(CliTest):
    def start(self, level, *pairs, allow=ALLOW):
        model = self.model(calls(*pairs), says("ok"))
        argv = [PROGRAM, "go", *allow, "--sandbox", level, "-m", "anthropic/mock", "--base-url", model.url]
        child = subprocess.Popen(argv, cwd=self.root, env=self.env(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def results(self, level, *pairs, allow=ALLOW, **env):
        model = self.model(calls(*pairs), says("ok"))
        self.ended = self.rein("go", *allow, "--sandbox", level, model=model, **env)
        told = [b for b in model.requests[1][2]["messages"][-1]["content"] if b["type"] == "tool_result"]
        texts = []
        for b in told:
            content = b["content"]
            texts.append(content if isinstance(content, str) else "".join(c["text"] for c in content))
        if level != "off" and "was refused by the system" in texts[0]:
            self.skipTest(f"the level {level} is closed on this machine: {texts[0]}")
        return texts

    def shell(self, level, text, allow=ALLOW, **env):
        return self.results(level, ("exec", {"command": text}), allow=allow, **env)[0]

    def until(self, question, seconds=10):
        ends = time.monotonic() + seconds
        while not question():
            self.assertLess(time.monotonic(), ends, "it did not happen in time")
            time.sleep(0.02)


class Ends(ExecTest):
    def test_status_and_output(self):
        for level in LEVELS:
            with self.subTest(level):
                self.assertEqual(self.shell(level, "echo 안녕; echo b >&2; exit 3"), "[exit status 3]\n안녕\nb\n")
                self.assertEqual(self.shell(level, "kill -SEGV $$"), "[ended by signal SEGV]\n")
                self.assertIn("No such file", self.results(level, ("exec", {"argv": ["no-such-program"]}))[0])
                self.assertEqual(self.results(level, ("exec", {"argv": ["printf", "%s|", "a b", "*", "$HOME"]}))[0],
                                 "[exit status 0]\na b|*|$HOME|")

    def test_arguments(self):
        for args, word in (({}, "exactly one"), ({"argv": ["a"], "command": "b"}, "exactly one"),
                           ({"command": " "}, "no command"), ({"argv": [""]}, "no command"),
                           ({"command": "a\0b"}, "NUL")):
            self.assertIn(word, self.results("off", ("exec", args))[0])

    def test_long_output_keeps_its_ends_and_its_errors(self):
        text = self.shell("off", "echo first; seq 20000; echo 'x.c:7: error: no semicolon'; seq 20000; echo last; exit 1")
        self.assertTrue(text.startswith("[exit status 1]\nfirst\n1\n"), text[:80])
        self.assertTrue(text.endswith("20000\nlast\n"))
        self.assertIn("x.c:7: error: no semicolon", text)
        self.assertLess(len(text), 30000)

    def test_what_is_left_does_not_hold_the_call(self):
        commands = ("sleep 32 & echo 끝", "(sleep 32; echo 늦음) & echo 끝", "setsid sleep 32 & echo 끝",
                    "nohup sleep 32 >/dev/null 2>&1 & echo 끝", "sleep 32 </dev/null >/dev/null 2>&1 & echo 끝",
                    "python3 -c \"import subprocess;subprocess.Popen(['sleep','32']);print('끝')\"")
        for level in LEVELS:
            for command in commands:
                with self.subTest(f"{level}: {command}"):
                    text = self.shell(level, command)
                    self.assertEqual(text.split("\n", 1)[1], "끝\n")
                    self.assertIn("were ended", text)

    def test_nothing_can_be_typed(self):
        for command in ("cat", 'read x; echo "[$x]"', "head -c1 /dev/tty", "git commit", "bash -i -c 'read y'"):
            with self.subTest(command):
                begun = time.monotonic()
                self.shell("full", command)
                self.assertLess(time.monotonic() - begun, 15)

    def test_the_time_limit_ends_the_tree(self):
        commands = ("sh -c 'sleep 3; touch LATE1'", "sh -c '(sleep 3; touch LATE2) & wait'",
                    "sh -c \"trap '' TERM INT; sleep 3; touch LATE3\"", "bash -c 'yes | (sleep 3; touch LATE4)'",
                    "setsid -w sh -c 'sleep 3; touch LATE5'")
        for level in LEVELS:
            texts = self.results(level, *[("exec", {"command": c, "timeout_s": 1}) for c in commands])
            for text in texts:
                self.assertTrue(text.startswith("[killed after 1 s"), text)
            self.assertEqual([n for n in os.listdir(self.root) if n.startswith("LATE")], [])


class Tree(ExecTest):
    """Whatever ends rein ends the commands."""

    def begin(self, level, marker):
        mark = f"mark{marker}"
        command = f"touch up; (setsid sh -c 'sleep 60; : {mark}') & trap '' TERM; sleep 61; : {mark}"
        child = self.start(level, ("exec", {"command": command}))
        up = os.path.join(self.root, "up")
        self.until(lambda: os.path.exists(up) or child.poll() is not None)
        if not os.path.exists(up):
            self.skipTest(f"the level {level} is closed on this machine")
        os.unlink(up)
        return child, mark

    def test_signals_and_death(self):
        for level in LEVELS:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                with self.subTest(f"{level} {number.name}"):
                    child, mark = self.begin(level, f"{level}{int(number)}x{os.getpid()}")
                    self.assertTrue(alive(mark))
                    child.send_signal(number)
                    child.wait(10)
                    self.until(lambda: not alive(mark))

    def test_death_twenty_times(self):
        for i in range(200 if LONG else 20):
            level = LEVELS[i % 3]
            child, mark = self.begin(level, f"again{i}x{os.getpid()}")
            time.sleep(i % 5 * 0.01)
            child.kill()
            child.wait(10)
            self.until(lambda: not alive(mark))

    def test_death_before_it_is_up(self):
        """At any moment of the start."""
        for i in range(20):
            mark = f"early{i}x{os.getpid()}"
            child = self.start(LEVELS[i % 3], ("exec", {"command": f"sleep 60; : {mark}"}))
            time.sleep(0.02 + i * 0.01)
            child.kill()
            child.wait(10)
            self.until(lambda: not alive(mark))


class Sees(ExecTest):
    def test_no_keys(self):
        env = {"ANTHROPIC_API_KEY": "CANARY1xyz", "NOTION_TOKEN": "CANARY2xyz", "BASH_ENV": "/nowhere", "ENV": "/nowhere",
               "BASH_FUNC_ls%%": "() { echo CANARY3; }", "LD_PRELOAD_X": "CANARY4"}
        commands = ("env", "cat /proc/self/environ", "cat /proc/$PPID/environ", 'echo "$ANTHROPIC_API_KEY"',
                    'echo "$ANTHROPIC_API_KEY" | base64', "python3 -c 'import os;print(dict(os.environ))'", "ls; ENV")
        for level in LEVELS:
            for text in self.results(level, *[("exec", {"command": c}) for c in commands], **env):
                self.assertNotIn("CANARY", text)
                self.assertNotIn("Q0FOQVJZ", text)

    def test_names_that_config_adds(self):
        config = self.write("c.json", json.dumps({"exec_env": ["MY_SETTING"]}))
        text = self.shell("full", 'echo "[$MY_SETTING]"', allow=[*ALLOW, "--config", config], MY_SETTING="yes")
        self.assertIn("[yes]", text)
        for name in ("MY_API_KEY", "LD_PRELOAD", "BASH_ENV", "PATH", "GIT_DIR", "github_token"):
            config = self.write("c.json", json.dumps({"exec_env": [name]}))
            ended = self.rein("go", "-m", "demo", "--config", config)
            self.assertEqual(ended.code, 2)
            self.assertIn(name, ended.err)

    def test_escapes_show(self):
        self.shell("off", "printf '\\033]0;owned\\007\\033[2J'")
        self.assertNotIn("\033]0", self.ended.err)
        self.assertIn("owned", self.ended.err)

    def test_level_is_recorded(self):
        model = self.model(says("ok"))
        for level in LEVELS:
            ended = self.rein("go", "--no-store", "--sandbox", level, "--output", "stream-json", model=model)
            first = json.loads(ended.out.splitlines()[0])
            self.assertEqual(first["sandbox"], level)
            touches = {t["name"]: t["touches"] for t in first["tools"]}["exec"]
            self.assertEqual(bool(touches & 8), level == "off")


class GitDiff(ExecTest):
    REPO = "git init -q; git config user.email t@t; git config user.name t; "

    def make(self, text):
        subprocess.run(["/bin/sh", "-ec", self.REPO + text], cwd=self.root, env=self.env(), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_programs_of_the_repository(self):
        base = "echo one > f.dat; echo '*.dat filter=a=b diff=evil' > .gitattributes; git add .; git commit -qm i; echo two >> f.dat; "
        evil = ("git config filter.a=b.clean 'touch PWNED; cat'", "git config filter.a=b.process 'touch PWNED'",
                "git config diff.evil.textconv 'touch PWNED; cat'", "git config diff.evil.command 'touch PWNED;:'",
                "git config diff.external 'touch PWNED;:'", "git config core.fsmonitor 'touch PWNED'",
                "git config core.pager 'touch PWNED'; git config pager.diff 'touch PWNED'",
                "printf '[filter \"a=b\"]\\nclean = touch PWNED\\n' > .git/more; git config include.path more",
                "git config core.worktree /etc", "git config alias.diff '!touch PWNED'")
        for level in LEVELS:
            for text in evil:
                with self.subTest(f"{level}: {text}"):
                    subprocess.run(["rm", "-rf", ".git"], cwd=self.root, check=True)
                    self.make(base + text)
                    before = os.stat(os.path.join(self.root, ".git/index")).st_mtime_ns
                    for args in ({}, {"args": ["--", "f.dat"]}, {"args": ["HEAD"]}):
                        got = self.results(level, ("git_diff", args), allow=["--no-store"])[0]
                        self.assertIn("+two", got)
                    self.assertEqual(before, os.stat(os.path.join(self.root, ".git/index")).st_mtime_ns)
                    self.assertNotIn("PWNED", os.listdir(self.root))

    def test_options(self):
        self.make("echo one > f; git add .; git commit -qm i; echo two >> f")
        for arg in ("--output=x", "--outpu=x", "--ext-diff", "--textconv", "--no-index", "-Ofile", "--submodule=log",
                    "--ignore-submodules=none", "-c", "--relative=..", "--exec-path=x", "--no-pager", "-oX"):
            self.assertIn("not taken", self.results("off", ("git_diff", {"args": [arg]}), allow=["--no-store"])[0])
        got = self.results("full", ("git_diff", {"args": ["--stat"]}), ("git_diff", {"args": ["--staged"]}),
                           ("git_diff", {"args": ["--", "../x"]}), allow=["--no-store"])
        self.assertIn("1 insertion", got[0])
        self.assertEqual(got[1], "no differences")
        self.assertIn("outside", got[2])

    def test_no_repository(self):
        self.assertIn("git diff failed", self.results("full", ("git_diff", {}), allow=["--no-store"])[0])


if __name__ == "__main__":
    unittest.main()
