"""Runs that are killed: at every flush to disk, at random moments, again and again.
After a resume each effect happened at most once, the history is one that a
provider takes, and the answer is there; the budget is never passed.
"""
import http.server
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = os.environ.get("REIN_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.path.abspath(os.environ.get("REIN_SHARED") or os.path.join(ROOT, "..", "shared"))
CHECK = os.path.join(SHARED, "cases/_tools/check_history.py")
# The shim is loaded before everything else, which a sanitizer does not bear.
PLAIN = os.path.join(os.environ.get("REIN_BUILD") or os.path.join(ROOT, "build"), "plain", "rein")
LONG = os.environ.get("REIN_LONG") == "1"
WAIT_S = 60
TURNS = [("read_file", {"path": "a.txt"}), ("write_report", {"path": "reports/one.md", "content": "하나"}),
         ("github_repo_info", {"owner": "o", "repo": "first"}), ("read_file", {"path": "b.txt"}),
         ("github_repo_info", {"owner": "o", "repo": "second"}),
         ("write_report", {"path": "reports/two.md", "content": "둘"})]


def stream(turn):
    """The SSE of one reply."""
    done = turn >= len(TURNS)
    events = [{"type": "message_start", "message": {"id": f"msg_{turn}", "role": "assistant", "model": "m", "content": [],
               "usage": {"input_tokens": 3000 + 100 * turn, "output_tokens": 1}}}]
    if done:
        events += [{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                   {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "다 했습니다."}}]
    else:
        name, args = TURNS[turn]
        events += [{"type": "content_block_start", "index": 0,
                    "content_block": {"type": "tool_use", "id": f"toolu_{turn}", "name": name, "input": {}}},
                   {"type": "content_block_delta", "index": 0,
                    "delta": {"type": "input_json_delta", "partial_json": json.dumps(args)}}]
    events += [{"type": "content_block_stop", "index": 0},
               {"type": "message_delta", "delta": {"stop_reason": "end_turn" if done else "tool_use"},
                "usage": {"output_tokens": 10}}, {"type": "message_stop"}]
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


class World(http.server.ThreadingHTTPServer):
    """The provider, and the sink that counts."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies, self.hits = [], {}
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        pass  # whoever asked was killed


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.server.hits[self.path] = self.server.hits.get(self.path, 0) + 1
        self.answer("application/json", json.dumps({"full_name": "o/r", "stargazers_count": 1}).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.bodies.append(body)
        self.answer("text/event-stream", stream(body.count(b'"role":"assistant"')))


@unittest.skipUnless(os.path.exists(PLAIN), "the program is not built")
class Kill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp()
        cls.shim = os.path.join(cls.home, "kill_at.so")
        subprocess.run(["gcc", "-std=c17", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", cls.shim,
                        os.path.join(ROOT, "tests/preload/kill_at.c"), "-ldl"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.home)

    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.world = World()
        self.addCleanup(self.world.server_close)
        self.addCleanup(self.world.shutdown)

    def fresh(self):
        self.world.bodies.clear()
        self.world.hits.clear()
        for name in os.listdir(self.dir):
            shutil.rmtree(os.path.join(self.dir, name))
        self.root = os.path.join(self.dir, "root")
        os.mkdir(self.root)
        for name in ("a.txt", "b.txt"):
            with open(os.path.join(self.root, name), "w", encoding="utf-8") as f:
                f.write(f"{name}\n")

    def env(self, **more):
        return {"PATH": os.environ["PATH"], "HOME": self.dir, "LANG": "C.UTF-8", "ANTHROPIC_API_KEY": "sk-test-key-1",
                "ANTHROPIC_BASE_URL": self.world.url, "GITHUB_API_URL": self.world.url, **more}

    def begin(self, *argv, **env):
        return subprocess.Popen([PLAIN, *argv], env=self.env(**env), cwd=self.root, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def rein(self, *argv, **env):
        child = self.begin(*argv, **env)
        out, err = child.communicate(timeout=WAIT_S)
        return child.returncode, out, err

    TASK = ("-m", "anthropic/m", "--policy", "taint=allow", "--output", "json", "해 줘")

    def check_effects(self, what):
        for path, count in self.world.hits.items():
            self.assertLessEqual(count, 1, f"{what}: {path} was asked {count} times")
        for name, text in (("one.md", "하나"), ("two.md", "둘")):
            path = os.path.join(self.root, "reports", name)
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    self.assertEqual(f.read(), text, what)
        if self.world.bodies and os.path.exists(CHECK):
            path = os.path.join(self.home, "body.json")
            with open(path, "wb") as f:
                f.write(self.world.bodies[-1])
            checked = subprocess.run([sys.executable, CHECK, "anthropic", path], capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, f"{what}: {checked.stdout}")

    def finish(self, what, again=True):
        """Resumes and looks; false: the run had not reached the disk."""
        code, out, err = self.rein("resume", "--last", "--output", "json")
        if code == 2 and "no run" in err:
            self.assertEqual((self.world.bodies, self.world.hits), ([], {}), what)
            return False
        if code == 2:  # it had its answer already
            self.assertIn("has its answer", err, what)
        else:
            self.assertEqual(code, 0, f"{what}: {err}")
            self.assertEqual(json.loads(out)["text"], "다 했습니다.", what)
        self.check_effects(what)
        if again:
            self.assertEqual(self.rein("replay", "--last")[0], 0, what)
        return True

    def test_at_every_flush(self):
        for before in ({}, {"KILL_BEFORE": "1"}) if LONG else ({},):
            at, killed = 1, True
            while killed:
                self.fresh()
                code, _, err = self.rein(*self.TASK, LD_PRELOAD=self.shim, KILL_AT=str(at), **before)
                killed = code == -signal.SIGKILL
                self.assertIn(code, (0, -signal.SIGKILL), err)
                self.finish(f"flush {at} {before}")
                at += 1
            self.assertGreater(at, 2 * len(TURNS))

    def test_at_random(self):
        self.fresh()
        began = time.monotonic()
        self.assertEqual(self.rein(*self.TASK)[0], 0)
        whole = time.monotonic() - began
        chance = random.Random(7)
        for i in range(500 if LONG else 20):
            self.fresh()
            child = self.begin(*self.TASK)
            try:
                child.communicate(timeout=chance.uniform(0, whole))
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate(timeout=WAIT_S)
            self.finish(f"random kill {i}", LONG)

    def test_again_and_again_ends_at_the_ceiling(self):
        self.fresh()
        budget = 60000
        self.assertEqual(self.rein("runs")[0], 0)  # the database is there
        for at in range(1, 9):  # the first flush after which there is a run
            code, _, err = self.rein(*self.TASK, "--token-budget", str(budget), LD_PRELOAD=self.shim, KILL_AT=str(at))
            self.assertEqual(code, -signal.SIGKILL, err)
            if self.rein("show", "--last")[0] == 0:
                break
        self.world.bodies.clear()
        for kills in range(60):  # at one flush of a resume after the other
            code, out, err = self.rein("resume", "--last", "--output", "json", LD_PRELOAD=self.shim,
                                       KILL_AT=str(1 + kills % 4))
            self.assertIn(code, (-signal.SIGKILL, 11), err)
            shown, lines, told = self.rein("show", "--last", "--output", "json")
            self.assertEqual(shown, 0, f"after {kills} kills: {told}")
            last = json.loads(lines.splitlines()[-1])
            if last["event"] == "outcome":
                break
        self.assertEqual((last["outcome"], last["exit"]), ("tokens", 11))
        self.assertGreater(kills, 0)
        self.assertLessEqual(last["spent"], budget)
        self.assertEqual(self.rein("resume", "--last")[0], 11)
        self.check_effects("again and again")

    def test_a_run_is_held(self):
        self.fresh()
        hold = socket.socket()  # a provider that takes the request and says nothing
        self.addCleanup(hold.close)
        hold.bind(("127.0.0.1", 0))
        hold.listen()
        silent = f"http://127.0.0.1:{hold.getsockname()[1]}"
        holder = self.begin(*self.TASK, ANTHROPIC_BASE_URL=silent)
        peer, _ = hold.accept()
        peer.recv(1)
        link = os.path.join(self.dir, "link.db")
        os.symlink(os.path.join(self.dir, ".local/state/rein/runs.db"), link)
        before = self.rein("show", "--last", "--output", "json")[1]
        for store in ([], ["--store", link]):
            began = time.monotonic()
            code, out, err = self.rein("resume", "--last", "이어서", "--output", "json", *store)
            self.assertLess(time.monotonic() - began, 5)
            self.assertEqual((code, json.loads(out)["outcome"]), (24, "held"), err)
            self.assertIn(f"held by process {holder.pid}", err)
        self.assertEqual(self.rein("show", "--last", "--output", "json")[1], before)
        holder.kill()
        holder.communicate(timeout=WAIT_S)
        peer.close()
        code, out, err = self.rein("resume", "--last", "이어서", "--output", "json")
        self.assertEqual((code, json.loads(out)["text"]), (0, "다 했습니다."), err)

    def test_signals_and_orphans(self):
        """M01: interrupted or killed in the middle of a call, then resumed with words."""
        hold = socket.socket()
        self.addCleanup(hold.close)
        hold.bind(("127.0.0.1", 0))
        hold.listen()
        silent = f"http://127.0.0.1:{hold.getsockname()[1]}"
        for signum, said in ((signal.SIGINT, "interrupted by the user"), (signal.SIGTERM, "interrupted by the user"),
                             (signal.SIGHUP, "interrupted by the user"), (signal.SIGKILL, "it is not known whether it ran")):
            with self.subTest(signum=signum):
                self.fresh()
                child = self.begin(*self.TASK, GITHUB_API_URL=silent)
                peer, _ = hold.accept()
                peer.recv(1)  # the call is under way
                child.send_signal(signum)
                child.communicate(timeout=WAIT_S)
                peer.close()
                self.assertEqual(child.returncode, -9 if signum == signal.SIGKILL else 128 + signum)
                code, out, err = self.rein("resume", "--last", "그다음을 해 줘", "--output", "json")
                self.assertEqual(code, 0, err)
                self.assertNotIn("/repos/o/first", self.world.hits)
                sent = json.loads(self.world.bodies[-1])["messages"]
                results = [m for m in sent if "toolu_2" in json.dumps(m) and m["role"] == "user"][0]["content"]
                self.assertEqual([b["type"] for b in results], ["tool_result", "text"])
                self.assertIn(said, json.dumps(results[0]))
                if signum == signal.SIGKILL:
                    self.assertIn("it is not known whether it ran; it was not run again", err)
                self.check_effects(str(signum))

    def test_another_model_goes_on(self):
        self.fresh()
        self.assertEqual(self.rein(*self.TASK, "--max-turns", "2")[0], 10)
        code, _, err = self.rein("resume", "--last", "-m", "anthropic/other", "--max-turns", "+30")
        self.assertEqual(code, 0, err)
        self.assertIn("other goes on in place of m", err)
        self.assertEqual(json.loads(self.world.bodies[-1])["model"], "other")
        self.check_effects("another model")
        self.assertEqual(self.rein("replay", "--last")[0], 0)
        listed = json.loads(self.rein("runs", "이어", "--output", "json")[1])
        self.assertEqual(listed, [])
        self.assertEqual(json.loads(self.rein("runs", "해 줘", "--output", "json")[1])[0]["model"], "other")


if __name__ == "__main__":
    unittest.main()
