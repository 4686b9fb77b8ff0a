"""rein policy: what is decided and why, tests, and what was allowed for good."""
import json
import os
import time
import unittest

from bench import CliTest, calls, says

CONFIG = {"policy": {
    "rules": {"exec(git diff *)": "allow", "exec(rm *)": {"verdict": "deny", "why": "never"},
              "path(.env)": "deny", "host(*.internal)": "deny"},
    "tests": {"exec": {"git diff HEAD": "allow", "git diff; rm x": "deny"}}}}
REPORT = calls(("write_report", {"path": "reports/x.md", "content": "본문"}))
OTHER = calls(("write_report", {"path": "reports/x.md", "content": "other"}))
ASK = ["--policy", "write_report=ask"]
QUESTION = "[v] show all > "


class Policy(CliTest):
    def explain(self, *argv, **env):
        self.write("c.json", json.dumps(CONFIG))
        return self.rein("policy", "explain", *argv, "--config", "c.json", **env)

    def test_explain(self):
        rows = [("exec", '{"command":"git diff HEAD"}', "allow", "exec(git diff *)"),
                ("exec", '{"argv":["/bin/rm","x"]}', "deny", "exec(rm *)"),
                ("exec", "git diff; rm x", "deny", "why: never"),
                ("exec", "git diff > x", "ask", "built-in verdict"),
                ("exec", "git diff $x", "deny", "path(.env)"),  # it could be
                ("exec", "git diff *.c", "ask", "not one plain reading"),
                ("exec", "git diff 'x", "ask", "not read as shell grammar"),
                ("read_file", "sub/../.env", "deny", "path(.env)"),
                ("read_file", '{"path":".env.example"}', "allow", "built-in verdict"),
                ("http_get", "https://a.internal/x", "deny", "host(*.internal)"),
                ("write_file", '{"path":".git/config","content":""}', "ask", ""),
                ("http_get", "https://a.com/x", "ask", ""),
                ("github_repo_info", '{"owner":"a","repo":"b"}', "allow", "outside text seen: ask")]
        for tool, call, verdict, part in rows:
            for lang in ("en", "ko"):
                ended = self.explain(tool, call, "--lang", lang)
                self.assertEqual(ended.code, 0, ended.err)
                self.assertEqual(ended.out.split()[0], verdict, (tool, call))
                if lang == "en":
                    self.assertIn(part, ended.out)
        doc = json.loads(self.explain("exec", "timeout 5 git diff", "--output", "json").out)
        self.assertEqual(doc["verdict"], "allow")
        self.assertEqual(doc["commands"], [["timeout", "5", "git", "diff"], ["git", "diff"]])

    def test_usage(self):
        for words in ([], ["what"], ["explain"], ["explain", "nobody", "{}"], ["revoke"], ["revoke", "x"], ["trust"]):
            ended = self.rein("policy", *words)
            self.assertEqual(ended.code, 2, words)
            self.assertEqual(ended.out, "")

    def test_own_tests(self):
        self.write("c.json", json.dumps(CONFIG))
        ended = self.rein("policy", "test", "--config", "c.json")
        self.assertEqual((ended.code, ended.out.splitlines()[-1]), (0, "2 passed, 0 failed"))
        bad = json.loads(json.dumps(CONFIG))
        bad["policy"]["tests"]["exec"]["git diff"] = "deny"
        self.write("c.json", json.dumps(bad))
        ended = self.rein("policy", "test", "--config", "c.json")
        self.assertEqual(ended.code, 3)
        self.assertIn("FAIL exec git diff: allow, not deny (exec(git diff *))", ended.out)
        ended = self.rein("-m", "demo", "--config", "c.json", "x")
        self.assertEqual(ended.code, 2)
        self.assertIn('test "git diff" of exec should be deny and is allow', ended.err)

    def test_a_flag_with_equals(self):
        ended = self.rein("policy", "explain", "exec", "A=1 git diff", "--policy", "exec(A=1 git diff)=allow")
        self.assertEqual(ended.out.split()[0], "allow", ended.err)

    def test_a_folder_narrows_until_it_is_trusted(self):
        self.write(".rein/config.json", '{"policy":{"rules":{"exec(ls)":"allow","path(a)":"deny"}}}')
        ended = self.rein("policy", "explain", "exec", "ls")
        self.assertEqual(ended.out.split()[0], "ask")
        self.assertIn("not trusted", ended.err)
        self.assertEqual(self.rein("policy", "explain", "read_file", "a").out.split()[0], "deny")
        ended = self.rein("policy", "trust")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertIn('"exec(ls)":"allow"', ended.out)
        ended = self.rein("policy", "explain", "exec", "ls")
        self.assertEqual((ended.out.split()[0], ended.err), ("allow", ""))
        self.write(".rein/config.json", '{"policy":{"rules":{"exec(ls)":"allow","path(a)":"deny" }}}')
        self.assertEqual(self.rein("policy", "explain", "exec", "ls").out.split()[0], "ask")
        listed = json.loads(self.rein("policy", "list", "--output", "json").out)
        self.assertEqual([e["number"] for e in listed], [1])
        self.assertEqual(self.rein("policy", "revoke", "2").code, 2)
        self.assertEqual(self.rein("policy", "revoke", "1").code, 0)
        self.assertEqual(self.rein("policy", "list").out, "")

    def answered(self, answer, *argv, model):
        terminal = self.terminal("go", *ASK, *argv, model=model)
        terminal.until(QUESTION)
        time.sleep(0.6)  # half a second on screen: what this is about
        terminal.type(answer)
        code = terminal.wait()
        return terminal, code

    def test_a_project_allowance(self):
        terminal, code = self.answered("A\r", model=self.model(REPORT, says("ok")))
        self.assertEqual(code, 0)
        self.assertIn("rein policy revoke", terminal.text.replace("\r\n", " "))
        again = self.rein("go", *ASK, model=self.model(REPORT, says("ok")))
        self.assertEqual((again.code, again.out), (0, "ok\n"), again.err)
        other = self.rein("go", *ASK, model=self.model(OTHER, says("ok")))
        self.assertEqual(other.code, 15)
        denied = self.rein("go", "--policy", "write_report=deny", model=self.model(REPORT, says("ok")))
        self.assertIn("forbids", denied.err)
        os.mkdir(os.path.join(self.root, "elsewhere"))
        elsewhere = self.rein("go", *ASK, "-C", "elsewhere", model=self.model(REPORT, says("ok")))
        self.assertEqual(elsewhere.code, 15)
        listed = json.loads(self.rein("policy", "list", "--output", "json").out)
        self.assertEqual([(e["tool"], json.loads(e["args"])["content"]) for e in listed], [("write_report", "본문")])
        self.assertEqual(self.rein("policy", "revoke", "all").code, 0)
        self.assertEqual(self.rein("go", *ASK, model=self.model(REPORT, says("ok"))).code, 15)

    def test_what_was_kept_is_read_strictly(self):
        env = {"XDG_STATE_HOME": os.path.join(self.root, "st")}
        self.write("st/rein/kept.json", '[{"root":"x","tool":"exec"}]')
        ended = self.rein("policy", "list", **env)
        self.assertEqual(ended.code, 2)
        self.assertIn("kept.json is not what rein wrote there", ended.err)

    def test_a_denied_file_by_any_way(self):
        self.write(".env", "KEY=CANARY-7\n")
        self.write(".env.example", "KEY=\n")
        self.write("keys/a/b", "KEY=CANARY-8\n")
        os.mkdir(os.path.join(self.root, "sub"))
        os.symlink("../.env", os.path.join(self.root, "sub/e.txt"))
        os.symlink("../keys", os.path.join(self.root, "sub/keys"))
        os.link(os.path.join(self.root, ".env"), os.path.join(self.root, "hard.txt"))
        uses = [("read_file", {"path": p}) for p in
                (".env", "./.env", "sub/../.env", "sub/e.txt", "hard.txt", "keys/a/b", "sub/keys/a/b", self.root + "/.env")]
        uses += [("search_files", {"pattern": "KEY"}), ("search_files", {"pattern": "CAN[A]RY", "dir": ".env"}),
                 ("search_files", {"pattern": "KEY", "dir": "sub/keys"}), ("search_files", {"pattern": "KEY", "dir": "keys/a"}),
                 ("edit_file", {"path": ".env", "old": "KEY", "new": "K"}), ("edit_file", {"path": "sub/e.txt", "old": "KEY", "new": "K"}),
                 ("write_file", {"path": "sub/e.txt", "content": "x"}), ("delete_file", {"path": "sub/keys/a/b"}),
                 ("list_files", {"dir": "keys"}), ("read_file", {"path": ".env.example"})]
        model = self.model(calls(*uses), says("ok"))
        flags = [f for t in ("edit_file", "write_file", "delete_file") for f in ("--policy", t + "=allow")]
        ended = self.rein("go", *flags, "--policy", "path(.env)=deny", "--policy", "path(keys/**)=deny", model=model)
        self.assertEqual(ended.code, 0, ended.err)
        told = str(model.requests[1])
        self.assertNotIn("CANARY", told)
        self.assertIn(".env.example:1:KEY=", told)
        self.assertIn("rules for paths forbid is left out", told)
        self.assertEqual(self.read(".env"), "KEY=CANARY-7\n")
        self.assertEqual(self.read("keys/a/b"), "KEY=CANARY-8\n")

    def test_a_link_to_what_is_asked_about(self):
        self.write("secrets/a", "x\n")
        os.symlink("secrets/a", os.path.join(self.root, "link"))
        model = self.model(calls(("read_file", {"path": "link"}), ("search_files", {"pattern": "x"})), says("ok"))
        ended = self.rein("go", "--policy", "path(secrets/**)=ask", model=model)
        told = str(model.requests[1])
        self.assertIn("ask about it by its own path", told)
        self.assertNotIn("secrets/a:1", told)
        self.assertEqual(ended.code, 0)

    def test_taint(self):
        self.write("a", "secret")
        repo = ("github_repo_info", {"owner": "a", "repo": "b"})
        model = self.model(calls(("read_file", {"path": "a"})), calls(repo), calls(repo), says("ok"))
        ended = self.rein("go", model=model, GITHUB_API_URL="http://127.0.0.1:1")
        self.assertEqual(ended.code, 15, ended.err)
        self.assertIn("--policy 'taint=allow'", ended.err)
        model = self.model(calls(("read_file", {"path": "a"})), calls(repo), calls(repo), says("ok"))
        ended = self.rein("go", "--policy", "taint=allow", model=model, GITHUB_API_URL="http://127.0.0.1:1")
        self.assertEqual(ended.code, 0, ended.err)


if __name__ == "__main__":
    unittest.main()
