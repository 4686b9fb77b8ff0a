"""The shell reader against a real shell: commands are made from a grammar, judged
by a policy, and run by dash in a folder of programs that only say that they ran.

What was allowed ran nothing but what is allowed, word for word; and where a
program ran that a rule denies, the reader had seen it, or had said that it does
not understand.
"""
import json
import os
import random
import shutil
import subprocess
import unittest

from bench import CliTest

ROUNDS = 5000 if os.environ.get("REIN_LONG") else 300
SEED = int(os.environ.get("REIN_SEED", "20261201"))
DASH = shutil.which("dash")
STUB = """#!%s
printf '%%s\\037' "${0##*/}" "$@" '\036' >> "$TRACE"
case ${0##*/} in pf) exit 1;; esac
"""
REAL = ["env", "timeout", "nice", "nohup", "xargs", "find", "sh", "setsid", "cat"]
STUBS = ["pa", "pb", "pf", "pd", "pe", "git"]
POLICY = {"default": "ask", "rules": {
    "exec(pa *)": "allow", "exec(pb *)": "allow", "exec(pf *)": "allow", "exec(echo *)": "allow",
    "exec(true)": "allow", "exec(break)": "allow", "path(out*)": "allow",
    "exec(pd *)": "deny", "exec(git push *)": "deny"}}


class Maker:
    """Commands by a seeded grammar: mostly right, now and then broken."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.functions = 0

    def pick(self, *rows):
        return self.r.choice(rows)

    def quoted(self, word):
        how = self.r.randrange(9)
        if how == 0:
            return f"'{word}'"
        if how == 1:
            return f'"{word}"'
        if how == 2 and len(word) > 1:
            return word[0] + "\\" + word[1:]
        if how == 3 and len(word) > 1:
            return word[0] + "''" + word[1:]
        if how == 4 and len(word) > 1:
            return word[0] + "\\\n" + word[1:]
        if how == 5 and len(word) > 1:
            return f'{word[0]}"{word[1:]}"'
        return word

    def program(self):
        return self.quoted(self.pick("pa", "pa", "pb", "pb", "pd", "pe", "git push", "echo")) \
            if self.r.random() < .9 else self.pick("$x", "$(echo pd)", "`echo pd`", "p[d]", "'git' push", "${x:-pd}")

    def word(self, depth):
        how = self.r.randrange(22)
        if how < 12:
            return self.quoted(self.pick("a", "b c", "x;pd", "1", "가", "#", "-n", "a#b", "$", "{}", "&", "a=b", "!", "if"))\
                if how < 3 else self.pick("a", "b", "c1", "-n", "--", "./x", "a=b", "x#y", "done", "{}", "}", "esac")
        if depth <= 0:
            return "z"
        inner = self.lists(depth - 1)
        return self.pick(
            f"$({inner})", f'"$({inner})"', f"`{inner.replace(chr(92), chr(92) * 2).replace('`', chr(92) + '`')}`",
            "$x", '"$x"', f"${{y:-$({inner})}}", f'"${{y:-`pd`}}"', "$((1 + 2))", "$((1+$(pd)))", "*", "~", "'a\nb'",
            '"a\\"; pd; \\""', "\\;", "\\'", "'\"'", '"\'"', "$'pd'", f"'{inner.replace(chr(39), '')}'")

    def simple(self, depth):
        words = [self.program()] + [self.word(depth) for _ in range(self.r.randrange(3))]
        if self.r.random() < .12:
            words.insert(0, self.pick("A=1", "A=$(pd)", "PATH=.", "A='pd'", "A=`pa`"))
        if self.r.random() < .15:
            words.insert(self.r.randrange(len(words) + 1), self.pick(
                "> out1", ">>out2", "2>&1", "< /dev/null", ">| out3", "2> /dev/null", ">&2", "<>out4", "> \"out$(pd)\""))
        if self.r.random() < .2:
            text = self.simple(0).replace("'", "")
            words = self.pick(["env"], ["timeout", "5"], ["nice", "-n", "1"], ["nohup"], ["command"], ["exec"], ["env", "B=2"],
                              ["timeout", "-k", "1", "3"], ["time", "-p"], ["!"], ["eval"], ["env", "-i", f"PATH={{path}}"],
                              ["sh", "-c", f"'{text}'", "x"], ["eval", f"'{text}'"], ["sh", "-ec", f"'{text}';"],
                              ["echo a | xargs"], ["find . -maxdepth 0 -exec"], ["trap", f"'{text}' EXIT;"]) + words
            if words[0].startswith("find"):
                words.append(self.pick("\\;", "';'", "{} +"))
        return " ".join(words)

    def compound(self, depth):
        self.functions += 1  # each its own name: none calls itself
        f = f"f{self.functions}"
        a, b, c = (self.lists(depth - 1) for _ in range(3))
        return self.pick(
            f"({a})", f"{{ {a}; }}", f"if {a}; then {b}; fi", f"if {a}\nthen\n{b}\nelse {c}; fi",
            f"if pf; then {a}; elif {b}; then {c}; fi", f"while pf; do {a}; done", f"until pa; do {a}; done",
            f"for i in {self.word(0)} b; do {a}; done", f"for i in a\ndo {a}\nbreak\ndone",
            f"case a in b) {a};; a|c) {b};; esac", f"case a in (a) {a} ;; *) {b}; esac", f"! {a}",
            f"{f}() {{ {a}; }}; {f}", f"{f}() ({a})\n{f}", f"( {a} ) > out5", f"{{ {a}\n}} 2>&1", f"{a} &\nwait", f"{a} # {b}\n{c}")

    def here(self):
        body = self.pick("pd", "$(pd)", "`pd`", "a\n\tE", "$x ${y:-$(pd)}", "\\$(pd)")
        return self.pick(f"pa <<E\n{body}\nE", f"pa <<'E'\n{body}\nE", f"pa <<-E; pb\n\t{body}\n\tE\npe", f"pa <<E <<\"F\"\n{body}\nE\n{body}\nF",
                         f"pa <<\\E && pd\n{body}\nE")

    def lists(self, depth):
        n = self.r.randrange(1, 3 if depth < 2 else 4)
        parts = []
        for _ in range(n):
            how = self.r.random()
            if depth > 0 and how < .35:
                parts.append(self.compound(depth))
            elif how < .43 and depth == 2:
                parts.append(self.here() + "\n")
            else:
                parts.append(self.simple(depth))
            parts.append(self.pick("; ", " && ", " || ", " | ", "\n", ";", "&&\n", " |\n"))
        text = "".join(parts[:-1])
        if self.r.random() < .05:
            cut = self.r.randrange(len(text) + 1)
            text = self.pick(text[:cut], text[:cut] + self.pick("'", '"', ")", "}", ";;", "(", "`", "|&", "<<<", "&>out6") + text[cut:])
        return text


@unittest.skipUnless(DASH, "skipped: no dash")
class Traced(CliTest):
    def programs(self):
        folder = os.path.join(self.dir, "bin")
        os.mkdir(folder)
        for name in STUBS:
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as f:
                f.write(STUB % DASH)
            os.chmod(path, 0o755)
        for name in REAL:
            os.symlink(DASH if name == "sh" else shutil.which(name), os.path.join(folder, name))
        return folder

    def ran(self, command, folder, i):
        where = os.path.join(self.dir, f"run{i}")
        trace = os.path.join(self.dir, f"trace{i}")
        os.mkdir(where)
        child = subprocess.Popen([DASH, "-c", command], cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, env={"PATH": folder, "TRACE": trace}, start_new_session=True)
        try:
            child.wait(2)
        except subprocess.TimeoutExpired:
            pass  # a loop without an end: what ran so far counts
        finally:
            try:
                os.killpg(child.pid, 9)
            except ProcessLookupError:
                pass
            child.wait()
        shutil.rmtree(where)
        try:
            with open(trace, encoding="utf-8", errors="replace") as f:
                text = f.read()
            os.unlink(trace)
        except FileNotFoundError:
            return []
        return [r.split("\x1f")[:-1] for r in text.split("\x1e\x1f") if r]

    def test_what_runs_was_judged(self):
        folder = self.programs()
        maker = Maker(SEED)
        commands = {}
        while len(commands) < ROUNDS:
            commands.setdefault(maker.lists(2).replace("{path}", folder))
        tests = {c: "ask" for c in commands if c.strip() and not c.startswith("{\"")}
        self.write("config.json", json.dumps({"policy": {**POLICY, "tests": {"exec": tests}}}))
        ended = self.rein("policy", "test", "--config", "config.json", "--output", "json", timeout=300)
        self.assertIn(ended.code, (0, 3), ended.err)
        rows = json.loads(ended.out)
        counts = {"allow": 0, "ask": 0, "deny": 0, "unclear": 0, "ran denied": 0}
        for i, row in enumerate(rows):
            command, got = row["call"], row["got"]
            ran = self.ran(command, folder, i)
            counts[got] += 1
            counts["unclear"] += row["unclear"] != ""
            where = f"seed {SEED}: {command!r} was {got} ({row['rule']}), ran {ran}"
            if got == "allow":
                self.assertTrue(all(r[0] in ("pa", "pb", "pf") for r in ran), where)
            denied = any(r[0] == "pd" or r[:2] == ["git", "push"] for r in ran)
            counts["ran denied"] += denied
            self.assertTrue(not denied or got == "deny" or row["unclear"], where)
        self.assertGreater(counts["allow"], ROUNDS // 30, counts)
        self.assertGreater(counts["ran denied"], ROUNDS // 10, counts)
        self.assertLess(counts["unclear"], ROUNDS * 2 // 3, counts)
        print(f"# {counts}")


if __name__ == "__main__":
    unittest.main()
