"""The whole job of examples/operations: issue in, looked up, record updated once a
person said yes, pull request drafted, report written; and killed at any moment.
The services are the example's own stand-ins, each a process of its own.
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from bench import PROGRAM, ROOT, WAIT_S, Terminal, slurp

HERE = os.path.join(ROOT, "examples", "operations")
RUN = os.path.join(HERE, "run")
LONG = os.environ.get("REIN_LONG") == "1"
KILLS = 200 if LONG else 20
WORDS = "이슈 12번을 처리해 줘"
QUESTION = "모두 보기 > "
ALLOW = ["--policy", "airtable_update_records=allow", "--policy", "github_create_draft_pr=allow",
         "--policy", "taint=allow"]
TOKEN = "stand-in-token"
CHECK = os.path.join(os.path.abspath(os.environ.get("REIN_SHARED") or os.path.join(ROOT, "..", "shared")),
                     "cases", "_tools", "check_history.py")


class OperationsTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="rein-operations-")
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.shop = os.path.join(self.dir, "shop")
        self.envp = {"PATH": os.environ["PATH"], "HOME": self.dir, "LANG": "C.UTF-8", "REIN": PROGRAM, "WORK": self.dir,
                     "TERM": "xterm", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}

    def run_job(self, *argv, **env):
        return subprocess.run([RUN, *argv], capture_output=True, env={**self.envp, **env}, timeout=2 * WAIT_S,
                              stdin=subprocess.DEVNULL, text=True, check=False)

    def read(self, *path):
        return slurp(self.dir, *path)

    def records(self):
        return {r["id"]: r["fields"] for r in json.loads(self.read("records.json"))}

    def requests(self, service, method):
        return [r for r in map(json.loads, self.read(service + ".log").splitlines()) if r["method"] == method]

    def check_done(self):
        self.assertEqual(self.records()["rec" + "A" * 14]["Status"], "Answered")
        (pull,) = json.loads(self.read("pulls.json"))
        self.assertTrue(pull["draft"])
        self.assertEqual(pull["head"]["ref"], "fix/12-refund")
        self.assertIn("14일", self.read("shop", "refund.md"))
        self.assertIn("이슈 12", self.read("shop", "reports", "issue-12.md"))
        log = subprocess.run(["git", "log", "--format=%an %s", "fix/12-refund"], cwd=self.shop, capture_output=True,
                             text=True, check=True).stdout
        self.assertEqual(log, "agent 환불 기간을 14일로 고침 (#12)\nagent Start\n")


class Job(OperationsTest):
    def test_as_a_ci_job(self):
        done = self.run_job("--yes", "--output", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual((result["outcome"], result["exit"], result["turns"]), ("finished", 0, 6))
        self.assertEqual(len(self.requests("airtable", "PATCH")), 1)
        self.assertNotIn(TOKEN, done.stdout + done.stderr)
        self.check_done()

    def test_nobody_to_ask_changes_nothing(self):
        done = self.run_job("--output", "json")
        result = json.loads(done.stdout)
        self.assertEqual((done.returncode, result["outcome"]), (15, "unapproved"))
        self.assertEqual({r["tool"] for r in result["refused"]}, {"airtable_update_records", "github_create_draft_pr"})
        self.assertEqual(self.requests("airtable", "PATCH") + self.requests("github", "POST"), [])

    def test_a_valve_closes_it(self):
        done = self.run_job("--yes", "--max-turns", "3", "--output", "json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["outcome"]), (10, "turns"))

    def test_a_person_says_yes_and_no(self):
        terminal = Terminal([], self.envp, self.dir, program=RUN)
        self.addCleanup(terminal.close)
        for tool, answer in (("airtable_update_records", "y\n"), ("github_create_draft_pr", "n 아직\n")):
            terminal.until(tool + " 실행에 승인이")
            terminal.until(QUESTION)
            time.sleep(0.6)  # an answer counts once the question has been read
            terminal.type(answer)
        self.assertEqual(terminal.wait(), 0, terminal.text)
        self.assertEqual(len(self.requests("airtable", "PATCH")), 1)
        self.assertEqual(self.requests("github", "POST"), [])


class Killed(OperationsTest):
    def stand_in(self, name, *argv):
        argv = [sys.executable, "-u", os.path.join(HERE, "standins", name + ".py"), "--log",
                os.path.join(self.dir, name + ".log"), *argv]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process.stdout.readline().strip()

    def set_up_shop(self):
        """A fresh tree, a fresh store; the services stay, and forget."""
        for path in ("shop", ".local", "records.json", "pulls.json"):
            path = os.path.join(self.dir, path)
            shutil.rmtree(path, True) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)
        for name in ("github", "airtable"):
            open(os.path.join(self.dir, name + ".log"), "w", encoding="utf-8").close()
        git = {**self.envp, **{f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER")
                               for what in ("NAME", "EMAIL")}}
        os.makedirs(self.shop)
        with open(os.path.join(self.shop, "refund.md"), "w", encoding="utf-8") as f:
            f.write("7일\n")
        for argv in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Start"]):
            subprocess.run(["git", *argv], cwd=self.shop, env=git, check=True)
        return git

    def life(self, env, seed):
        options = ["--config", os.path.join(HERE, "config.json"), *ALLOW]
        rein = subprocess.Popen([PROGRAM, "-m", "script:" + os.path.join(HERE, "script.json"), *options, WORDS],
                                cwd=self.shop, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        try:
            rein.wait(random.Random(seed).uniform(0.05, 1.4))
            return
        except subprocess.TimeoutExpired:
            rein.send_signal(signal.SIGKILL)
            rein.wait()
        done = subprocess.run([PROGRAM, "resume", "--last", "--config", os.path.join(HERE, "config.json"),
                               "--output", "json"], cwd=self.shop, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=WAIT_S, check=False)
        if done.returncode == 2:
            self.assertIn("run", done.stderr)  # killed before there was one
            return
        self.assertEqual(json.loads(done.stdout)["outcome"], "finished", (seed, done.stdout, done.stderr))

    def test_no_effect_twice(self):
        urls = {"GITHUB_API_URL": self.stand_in("github", "--forget"),
                "NOTION_API_URL": self.stand_in("notion", "--per-second", "1000"),
                "AIRTABLE_API_URL": self.stand_in("airtable", "--per-second", "1000")}
        drafts = 0
        for seed in range(KILLS):
            env = {**self.set_up_shop(), **urls, "GITHUB_TOKEN": TOKEN, "NOTION_TOKEN": TOKEN, "AIRTABLE_TOKEN": TOKEN}
            self.life(env, seed)
            posts = [r for r in self.requests("github", "POST") if r["path"].endswith("/pulls")]
            self.assertLessEqual(len(posts), 1, seed)
            self.assertLessEqual(len(self.requests("airtable", "PATCH")), 1, seed)
            drafts += len(posts)
        self.assertGreater(drafts, KILLS // 2)


if __name__ == "__main__":
    unittest.main()
