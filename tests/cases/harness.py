"""What the case tests share: the replay server, ./rein run against it, streams
of the Anthropic wire made on the spot, the check of every request's history.

The handed cases are read-only and lie outside the project (REIN_SHARED); a test
copies what it needs into its own folder. Where they are absent it is skipped.
"""
import glob
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.environ.get("REIN_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.path.abspath(os.environ.get("REIN_SHARED") or os.path.join(ROOT, "..", "shared"))
PROGRAM = os.path.abspath(os.environ.get("REIN_PROGRAM") or os.path.join(ROOT, "rein"))
CASES = os.path.join(SHARED, "cases")
LONG = os.environ.get("REIN_LONG") == "1"
SSE = {"Content-Type": "text/event-stream"}


def case_dir(prefix):
    found = glob.glob(os.path.join(CASES, prefix + "-*"))
    if not found:
        raise unittest.SkipTest(f"case {prefix} is absent")
    return found[0]


def event(kind, **members):
    return f"event: {kind}\ndata: " + json.dumps({"type": kind, **members}, ensure_ascii=False) + "\n\n"


def start(input_tokens=2000):  # a count that a request with all tools can have
    return event("message_start", message={
        "id": "msg_m1", "type": "message", "role": "assistant", "model": "mock-1", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": input_tokens, "output_tokens": 1}})


def end(stop, output_tokens=20):
    return event("message_delta", delta={"stop_reason": stop, "stop_sequence": None},
                 usage={"output_tokens": output_tokens}) + event("message_stop")


def text_stream(text, stop="end_turn"):
    return (start() + event("content_block_start", index=0, content_block={"type": "text", "text": ""}) +
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": text}) +
            event("content_block_stop", index=0) + end(stop))


def call_stream(calls, stop="tool_use"):
    """calls: (name, arguments as JSON text) in order."""
    out = start()
    for i, (name, args) in enumerate(calls):
        out += event("content_block_start", index=i, content_block={
            "type": "tool_use", "id": f"toolu_{i + 1}", "name": name, "input": {}})
        out += event("content_block_delta", index=i, delta={"type": "input_json_delta", "partial_json": args})
        out += event("content_block_stop", index=i)
    return out + end(stop)


def step(body=None, file=None, **more):
    made = {"status": 200, "headers": SSE, "stream": True, **more}
    made["body_file" if file else "body"] = file or body
    return made


OK = text_stream("됐습니다")


class CaseTest(unittest.TestCase):
    def setUp(self):
        if not os.path.isdir(CASES):
            self.skipTest("the handed cases are absent (REIN_SHARED)")
        self.assertTrue(os.path.exists(PROGRAM), f"{PROGRAM} is not built")
        self.dir = tempfile.mkdtemp(prefix="rein-case-")
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.root = os.path.join(self.dir, "tree")
        os.makedirs(os.path.join(self.dir, "home"))
        self.served = 0

    def copy_case(self, prefix):
        """The case's files beside the script, its tree as the root."""
        source = case_dir(prefix)
        self.case = os.path.join(self.dir, "case")
        shutil.copytree(source, self.case, dirs_exist_ok=True)
        subprocess.run(["chmod", "-R", "u+w", self.case], check=True)
        tree = os.path.join(self.case, "tree")
        if os.path.isdir(tree):
            shutil.copytree(tree, self.root, dirs_exist_ok=True)
        return self.case

    def read_case(self, name):
        with open(os.path.join(self.case, name), encoding="utf-8", errors="surrogateescape", newline="") as f:
            return f.read()

    def edit_case(self, name, *pairs):
        """Placeholder names of the cases become the project's own."""
        text = self.read_case(name)
        for old, new in pairs:
            self.assertIn(old, text)
            text = text.replace(old, new)
        with open(os.path.join(self.case, name), "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
            f.write(text)

    def serve(self, script):
        """Starts the replay server; script: steps, or a file of the case."""
        if isinstance(script, list):
            place = getattr(self, "case", self.dir)
            path = os.path.join(place, f"made-{self.served}.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump({"steps": script}, f)
        else:
            path = os.path.join(self.case, script)
        self.out = os.path.join(self.dir, f"out-{self.served}")
        self.served += 1
        server = subprocess.Popen([sys.executable, os.path.join(CASES, "_tools/replay_server.py"), path, self.out],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        ready, _, _ = select.select([server.stdout], [], [], 20)
        self.assertTrue(ready, "the replay server did not start")
        return "http://127.0.0.1:" + server.stdout.readline().split()[1].decode()

    def env(self, url, more=None):
        env = {k: v for k, v in os.environ.items() if k in
               ("PATH", "LC_ALL", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS")}
        env.update(HOME=os.path.join(self.dir, "home"), ANTHROPIC_API_KEY="test-key", ANTHROPIC_BASE_URL=url,
                   LC_ALL="C.UTF-8", **(more or {}))
        return env

    def argv(self, *options, task="해 줘"):
        os.makedirs(self.root, exist_ok=True)
        # Retries wait half a second and more; where they are not the matter they are off.
        return [PROGRAM, "run", "-m", "anthropic/mock-1", "--no-store", "--output", "json", "-C", self.root,
                *options, task]

    def rein(self, url, *options, task="해 줘", stdin=subprocess.DEVNULL, limit=40, env=None, **more):
        """Runs it to its end; .json is the object of stdout."""
        began = time.monotonic()
        ran = subprocess.run(self.argv(*options, task=task), env=self.env(url, env), stdin=stdin, cwd=self.dir,
                             capture_output=True, timeout=limit, **more)
        ran.seconds = time.monotonic() - began
        self.sane(ran)
        return ran

    def sane(self, ran):
        said = ran.stderr.decode("utf-8", "replace")
        for word in ("Sanitizer", "runtime error:", "Assertion"):
            self.assertNotIn(word, said)
        try:
            ran.json = json.loads(ran.stdout.decode("utf-8"))
        except ValueError:
            self.fail(f"stdout is not one JSON object: {ran.stdout!r}\nstderr: {said}")
        self.assertEqual(ran.json["exit"], ran.returncode, "exit code and JSON disagree")
        ran.said = said

    def requests(self):
        self.assertEqual(glob.glob(os.path.join(self.out, "*.bad")), [], "a request body did not parse")
        made = []
        while os.path.exists(os.path.join(self.out, f"req-{len(made)}.json")):
            with open(os.path.join(self.out, f"req-{len(made)}.json"), encoding="utf-8") as f:
                text = f.read()
            if not text.rstrip().endswith("}"):
                break  # it is still being written: it has not come yet
            made.append(json.loads(text))
        return made

    def check_history(self):
        paths = sorted(glob.glob(os.path.join(self.out, "req-*.json")))
        self.assertTrue(paths, "no request was made")
        ran = subprocess.run([sys.executable, os.path.join(CASES, "_tools/check_history.py"), "anthropic", *paths],
                             capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return self.requests()

    def results(self, request):
        """tool_result blocks of the request's last message, as (is_error, text)."""
        last = request["messages"][-1]
        self.assertEqual(last["role"], "user")
        return [(bool(b.get("is_error")), self.text_of(b)) for b in last["content"] if b["type"] == "tool_result"]

    @staticmethod
    def text_of(block):
        content = block.get("content", "")
        return content if isinstance(content, str) else "".join(x.get("text", "") for x in content)

    def play_calls(self, calls, *options, stop="tool_use", **more):
        """One reply with these calls, then OK; the results the model was sent."""
        url = self.serve([step(call_stream(calls, stop)), step(OK)])
        ran = self.rein(url, *options, **more)
        made = self.check_history()
        self.assertEqual(len(made), 2, ran.said)
        results = self.results(made[1])
        self.assertEqual(len(results), len(calls))
        return ran, results
