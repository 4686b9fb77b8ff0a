"""Faults of a provider that no handed case shows: each row is one server that
misbehaves, played by a few lines of Python on loopback against ./rein itself.

Every row also asks what must hold whatever happens: one JSON object that agrees
with the exit code, requests that a provider would take, no sanitizer, no hang.
Nothing outside the project is needed."""
import concurrent.futures
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = os.environ.get("REIN_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.abspath(os.environ.get("REIN_PROGRAM") or os.path.join(ROOT, "rein"))
AT_ONCE = 4


# -- streams --

def event(kind, **members):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members}, ensure_ascii=False)}\n\n"


def start(name="msg_1", usage={"input_tokens": 10, "output_tokens": 1}):
    message = {"type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
    if name:
        message["id"] = name
    if usage is not None:
        message["usage"] = usage
    return event("message_start", message=message)


def opened(block, **place):
    return event("content_block_start", **place, content_block=block)


def delta(kind, member, value, **place):
    return event("content_block_delta", **place, delta={"type": kind + "_delta", member: value})


def text(words, index=0):
    return (opened({"type": "text", "text": ""}, index=index) + delta("text", "text", words, index=index) +
            event("content_block_stop", index=index))


def begun(name, arguments, id="toolu_1", **place):
    return (opened({"type": "tool_use", "id": id, "name": name, "input": {}}, **place) +
            delta("input_json", "partial_json", arguments, **place))


def call(name, arguments, index=0, id=None):
    return begun(name, arguments, id or f"toolu_{index}", index=index) + event("content_block_stop", index=index)


def stop(word, usage={"output_tokens": 20}):
    more = {} if usage is None else {"usage": usage}
    return event("message_delta", delta={"stop_reason": word, "stop_sequence": None}, **more) + event("message_stop")


def calls(*pairs):
    return start() + "".join(call(name, args, i) for i, (name, args) in enumerate(pairs)) + stop("tool_use")


READ, OTHER, WRITE = '{"path":"a.txt"}', '{"path":"b.txt"}', '{"path":"reports/x.md","content":"x"}'
OK = start("msg_ok") + text("됐습니다") + stop("end_turn")


# -- the server: one step for each request, the last one again and again --

def answer(body="", status=200, headers=(), end="close", tail=None):
    head = [f"HTTP/1.1 {status} X", "Content-Type: text/event-stream", "Connection: close", *headers]
    return {"bytes": ("\r\n".join(head) + "\r\n\r\n").encode() + (body.encode() if isinstance(body, str) else body),
            "end": end, "tail": tail}


class Server:
    def __init__(self, steps):
        self.steps = [answer(s) if isinstance(s, (str, bytes)) else s for s in steps]
        self.bodies, self.over = [], threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            with client:
                self.talk(client)
        except OSError:
            pass

    def talk(self, client):
        head, length, got = b"", 0, b""
        while b"\r\n\r\n" not in head:
            more = client.recv(65536)
            if not more:
                return
            head += more
        head, _, got = head.partition(b"\r\n\r\n")
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line[15:])
        while len(got) < length:
            got += client.recv(1 << 20)
        self.bodies.append(got)
        step = self.steps[min(len(self.bodies), len(self.steps)) - 1]
        client.sendall(step["bytes"])
        if step["end"] == "hang":
            while not self.over.wait(0.02):
                if step["tail"]:
                    client.sendall(step["tail"])
        if step["end"] == "reset":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def close(self):
        self.over.set()
        self.socket.close()


# -- one run --

class Ran:
    """What came of it; `results` are those of the last request's last message."""

    def __init__(self, steps, options, lang):
        home = tempfile.mkdtemp(prefix="rein-faults-")
        server = Server(steps)
        try:
            self.go(home, server, options, lang)
        finally:
            server.close()
            shutil.rmtree(home, True)

    def go(self, home, server, options, lang):
        root = os.path.join(home, "root")
        os.mkdir(root)
        for name in "ab":
            with open(os.path.join(root, name + ".txt"), "w", encoding="utf-8") as f:
                f.write(f"this is {name}\n")
        env = {"PATH": os.environ["PATH"], "HOME": home, "ANTHROPIC_API_KEY": "sk-not-a-key-1",
               "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.port}"}
        began = time.monotonic()
        child = subprocess.run([PROGRAM, "-m", "anthropic/mock", "-C", root, "--lang", lang, "--output", "json",
                                "--no-store", *options, "해 줘"], env=env, cwd=home, stdin=subprocess.DEVNULL,
                               capture_output=True, timeout=60)
        self.seconds = time.monotonic() - began
        self.exit, self.out = child.returncode, child.stdout
        self.said = child.stderr.decode("utf-8", "replace")
        self.requests = [json.loads(body) for body in server.bodies]
        self.wrote = os.path.exists(os.path.join(root, "reports", "x.md"))

    @property
    def results(self):
        last = self.requests[-1]["messages"][-1]["content"]
        return [b["content"] for b in last if b["type"] == "tool_result"]


def history_fault(request):
    """What a provider answers with 400: the little of it that can go wrong here."""
    seen, waiting = set(), []
    for message in request["messages"]:
        blocks = message["content"]
        uses = [b["id"] for b in blocks if b["type"] == "tool_use"]
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if not blocks or any(b["type"] == "text" and not b["text"].strip() for b in blocks):
            return "an empty message or text"
        if results != waiting:
            return f"results {results} to calls {waiting}"
        if seen & set(uses) or len(set(uses)) < len(uses):
            return "an id stands twice"
        if any(b["type"] == "tool_use" and not isinstance(b["input"], dict) for b in blocks):
            return "input is no object"
        seen |= set(uses)
        waiting = uses
    return f"no results to {waiting}" if waiting else None


# -- the rows: name, steps, options, and what must hold --

ONCE = ("--retries", "0")
ROWS = {}


def row(name, steps, *options, lang="en", **want):
    """want: exit, outcome, sent (requests), turns, text, total, results (each begins so),
    says, mute (must not be said), within (seconds)."""
    assert name not in ROWS
    ROWS[name] = (steps, options, lang, want)


# Blocks.
BOTH = {"exit": 0, "sent": 2, "turns": 1, "results": ["this is a", "this is b"]}
for title, place in (("one index", {"index": 0}), ("no index", {})):
    row(f"two calls at {title}, no end between",
        [start() + begun("read_file", READ, "A", **place) + begun("read_file", OTHER, "B", **place) + stop("tool_use"),
         OK], **BOTH)
row("interleaved calls", [start() + begun("read_file", READ[:5], "A", index=0) + begun("read_file", OTHER[:9], "B", index=1) +
                          delta("input_json", "partial_json", READ[5:], index=0) +
                          delta("input_json", "partial_json", OTHER[9:], index=1) + stop("tool_use"), OK], **BOTH)
row("a call at the index of an open text",
    [start() + opened({"type": "text", "text": "hm"}, index=0) + begun("read_file", READ, index=0) + stop("tool_use"), OK],
    exit=0, sent=2, results=["this is a"])
row("arguments in a text", [start() + opened({"type": "text", "text": ""}, index=0) +
                            delta("input_json", "partial_json", WRITE, index=0) + stop("tool_use")],
    *ONCE, exit=20, sent=1, says="never opened")
row("arguments that are no object in the start",
    [start() + opened({"type": "tool_use", "id": "A", "name": "get_time", "input": [1]}, index=0) + stop("tool_use"), OK],
    exit=0, sent=2, results=["not run: "])
row("ids that are odd, doubled, missing",
    [start() + call("read_file", READ, 0, "한 1/2") + call("read_file", OTHER, 1, "한 1/2") + call("get_time", "", 2, "\0") +
     opened({"type": "tool_use", "name": "get_time", "input": {}}, index=3) + stop("tool_use"), OK],
    exit=0, sent=2, results=["this is a", "this is b", "20", "20"])

# Messages.
row("two messages, no names", [start("") + text("old") + start("") + text("new") + stop("end_turn")], exit=0, text="new")
row("a call of a message that was dropped", [start("a") + call("write_report", WRITE) + start("b") + text("new") + stop("end_turn")],
    exit=0, sent=1, turns=0, text="new")
row("messages without end", [answer("".join(start(f"m{i}") for i in range(40)), end="hang")],
    *ONCE, exit=20, says="more than 8 times", within=5)
row("an error after the last event", [OK + event("error", error={"type": "overloaded_error", "message": "x"})], exit=0, sent=1)
row("a reset in an event", [answer(start() + call("write_report", WRITE) + "event: mess", end="reset"), OK],
    exit=0, sent=2, turns=0)
row("a reset after the last event", [answer(OK, end="reset")], exit=0, sent=1)
row("no last event, and silence", [answer(OK.replace("message_stop", "nothing"), end="hang")],
    "--idle-limit", "400ms", exit=20, sent=1, says="nothing moved it forward for 0.4 s (", mute="idle limit", within=5)
row("repeats that say nothing new", [answer(start(), end="hang", tail=stop("end_turn").split("event: message_stop")[0].encode())],
    "--idle-limit", "500ms", exit=20, sent=1, says="stalled", within=5)

# The event stream.
row("a heartbeat that is no JSON", ["event: heartbeat\ndata: 12:00\n\n" + OK], exit=0, sent=1)
row("an id of 5,000 letters", ["id: " + "x" * 5000 + "\n" + OK], exit=0, sent=1)
row("a line without end", [answer("data: " + "x" * (9 << 20), end="hang")], *ONCE, exit=20, says="8388608", within=10)
row("an error page without end", [answer("<p>", 500, end="hang", tail=b"x" * 5000)], *ONCE, exit=20, says="HTTP 500", within=10)
row("an error without words", [start() + event("error", error={})], *ONCE, exit=20, says="no reason was given")

# Limits.
for word in ("max_tokens", "model_context_window_exceeded"):
    row(f"cut by {word} before the arguments",
        [start() + opened({"type": "tool_use", "id": "A", "name": "list_files", "input": {}}, index=0) +
         event("content_block_stop", index=0) + opened({"type": "text", "text": ""}, index=1) + stop(word), OK],
        exit=0, sent=2, results=["not run: the arguments were cut"])
row("a refusal with a call", [start() + text("no") + call("write_report", WRITE, 1) + stop("refusal")],
    exit=16, sent=1, turns=0, says="other words")
row("a pause without end", [start() + text("w") + stop("pause_turn")], "--max-turns", "3", exit=10, sent=4, turns=3)
row("output that only the start counts",
    [start() + call("read_file", READ) + stop("tool_use", None), OK], "--token-budget", "22000",
    exit=11, sent=1, says="22000 of 22000 tokens")
row("a prompt of no tokens", [start(usage={"input_tokens": 0}) + call("read_file", READ) + stop("tool_use"), OK],
    "--token-budget", "22000", exit=11, sent=1, says="22000 of 22000 tokens")
row("counts that are no counts",
    [start(usage={"input_tokens": "12", "output_tokens": -3}) + text("x") + stop("end_turn", {"output_tokens": 10**40})],
    exit=0, total=0)
row("counts beyond every budget",
    [start(usage={"input_tokens": 10**18}) + call("read_file", READ) + stop("tool_use", {"output_tokens": 10**18})],
    exit=11, sent=1, total=2 * 10**12)

# Statuses.
BUSY = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
row("a redirect", [answer("", 307, ["Location: https://b.example/v1"])], exit=20, sent=1, says="https://b.example/v1")
row("nothing at all", [answer("", 204)], *ONCE, exit=20, says="status 204 and no words")
row("x-should-retry in a stream", [answer(start(), headers=["x-should-retry: false"]), OK], exit=0, sent=2)
row("a back-off that time forbids", [answer(BUSY, 529)], "--time-limit", "200ms",
    exit=13, sent=1, says="overloaded_error: Overloaded", mute="provider asks")
row("a wait of ten days", [answer(BUSY, 529, ["retry-after: 864000"])], exit=20, sent=1, says="to wait 240 h before")
BOUND = json.dumps({"type": "error", "error": {
    "type": "invalid_request_error", "message": "messages.1: Invalid `signature` in `thinking` block"}})
row("a refused signature that was never sent", [answer(BOUND, 400)], exit=20, sent=2, says="(attempts: 2)")

# What is left out of the conversation is said to the log.
row("thinking without a signature",
    [start() + opened({"type": "thinking", "thinking": "hm", "signature": ""}, index=0) +
     event("content_block_stop", index=0) + text("hi", 1) + stop("end_turn")],
    "--log", "/dev/stderr", exit=0, sent=1, text="hi", says="without a signature came and are not sent back: 1")

# Korean.
row("cut, in Korean", [start()], *ONCE, lang="ko", exit=20, says="마지막 이벤트가 오기 전에", mute="the stream")
row("no stream, in Korean", ["<html>"], *ONCE, lang="ko", exit=20, says="이벤트 스트림이 아닙니다", mute="the server")
row("a long wait, in Korean", [answer(BUSY, 529, ["retry-after: 90"])], "--time-limit", "2s", lang="ko",
    exit=13, says="1분 30초 기다려야")


class WireFaults(unittest.TestCase):
    def test_rows(self):
        self.assertTrue(os.path.exists(PROGRAM), f"{PROGRAM} is not built")
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            runs = {name: pool.submit(Ran, *of[:3]) for name, of in ROWS.items()}
        for name, run in runs.items():
            with self.subTest(name):
                self.whatever_happens(run.result())
                self.as_wanted(run.result(), **ROWS[name][3])

    def whatever_happens(self, ran):
        for word in ("Sanitizer", "runtime error", "Assertion"):
            self.assertNotIn(word, ran.said)
        ran.json = json.loads(ran.out)
        self.assertEqual(ran.json["exit"], ran.exit)
        self.assertEqual(ran.json["requests"], len(ran.requests))
        for request in ran.requests:
            self.assertIsNone(history_fault(request))
        self.assertFalse(ran.wrote, "a tool ran that must not")

    def as_wanted(self, ran, says="", mute="\0", within=30, results=(), **want):
        seen = {"exit": ran.exit, "sent": len(ran.requests), "turns": ran.json["turns"], "text": ran.json["text"],
                "total": ran.json["usage"]["total"]}
        self.assertEqual({key: seen[key] for key in want}, want, ran.said)
        self.assertIn(says, ran.said)
        self.assertNotIn(mute, ran.said)
        self.assertLess(ran.seconds, within)
        if results:
            self.assertEqual([r[:len(w)] for r, w in zip(ran.results, results)], list(results))
            self.assertEqual(len(ran.results), len(results))


if __name__ == "__main__":
    unittest.main()
