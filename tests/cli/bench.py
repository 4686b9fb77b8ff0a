"""What the program's tests share: rein run as a process or on a pseudo-terminal,
and a model on loopback that speaks the Messages API's own bytes.

No test needs the handed cases; those are played in tests/cases.
"""
import fcntl
import http.server
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest

ROOT = os.environ.get("REIN_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.abspath(os.environ.get("REIN_PROGRAM") or os.environ.get("REIN_BIN") or
                          os.path.join(ROOT, "build", "asan", "rein"))
KEY = "sk-canary-0123456789abcdef"
WAIT_S = 30  # of anything that should take milliseconds, on a busy machine


def slurp(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def event(kind, **members):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members}, ensure_ascii=False)}\n\n"


def start(input_tokens=2000):  # a count that a request with all tools can have
    return event("message_start", message={
        "id": "msg_1", "type": "message", "role": "assistant", "model": "mock", "content": [],
        "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": input_tokens, "output_tokens": 1}})


def text_block(text, index=0):
    return (event("content_block_start", index=index, content_block={"type": "text", "text": ""}) +
            event("content_block_delta", index=index, delta={"type": "text_delta", "text": text}) +
            event("content_block_stop", index=index))


def call_block(name, args, index=0):
    args = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
    return (event("content_block_start", index=index,
                  content_block={"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}) +
            event("content_block_delta", index=index,
                  delta={"type": "input_json_delta", "partial_json": args}) +
            event("content_block_stop", index=index))


def end(stop):
    return event("message_delta", delta={"stop_reason": stop, "stop_sequence": None},
                 usage={"output_tokens": 20}) + event("message_stop")


def says(text, stop="end_turn"):
    return start() + text_block(text) + end(stop)


def calls(*pairs, text=None):
    body, at = start(), 0
    if text:
        body, at = body + text_block(text), 1
    for i, (name, args) in enumerate(pairs):
        body += call_block(name, args, at + i)
    return body + end("tool_use")


class Model:
    """Answers request i with answers[i], the last one from then on. An answer is
    a stream's text, or a dict: status, body, hang (send, then keep it open)."""

    def __init__(self, answers):
        self.answers, self.requests, self.let_go = list(answers), [], threading.Event()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                model.requests.append((self.path, dict(self.headers.items()), json.loads(body)))
                answer = model.answers[min(len(model.requests), len(model.answers)) - 1]
                answer = answer if isinstance(answer, dict) else {"body": answer}
                data = answer["body"].encode()
                self.send_response(answer.get("status", 200))
                self.send_header("content-type", answer.get("type", "text/event-stream"))
                self.send_header("request-id", "req_test_7")
                for name, value in answer.get("headers", {}).items():
                    self.send_header(name, value)
                if answer.get("hang"):
                    self.send_header("transfer-encoding", "chunked")
                    self.end_headers()
                    try:
                        if data:
                            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                    except OSError:
                        return  # it was interrupted meanwhile
                    model.let_go.wait(WAIT_S)
                    self.close_connection = True
                    return
                cut = answer.get("cut", 0)
                self.send_header("content-length", str(len(data) + cut))
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = bool(cut)

            def do_GET(self):
                model.requests.append((self.path, dict(self.headers.items()), None))
                data = json.dumps(model.page).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.page = {}
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.let_go.set()
        self.server.shutdown()
        self.server.server_close()


class Ended:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


class Terminal:
    """rein on a pseudo-terminal, or what starts it. `stdout`: a file that takes stdout instead."""

    def __init__(self, argv, env, cwd, columns=80, stdout=None, program=PROGRAM):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                if stdout is not None:
                    os.dup2(stdout, 1)
                os.chdir(cwd)
                os.execve(program, [program, *argv], env)
            finally:
                os._exit(127)
        self.size(columns)
        self.seen, self.code, self.at = b"", None, 0

    def size(self, columns, rows=24):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, wait_s=0.05):
        """False at the end."""
        ready, _, _ = select.select([self.fd], [], [], wait_s)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def until(self, text):
        """Waits for the text behind what was waited for before."""
        text = text.encode()
        ends = time.monotonic() + WAIT_S
        while True:
            found = self.seen.find(text, self.at)
            if found >= 0:
                self.at = found + len(text)
                return
            if time.monotonic() > ends or not self.read():
                raise AssertionError(f"{text!r} was not seen in {self.seen[self.at:]!r}")

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait(self):
        """Reads to the end; the exit code."""
        ends = time.monotonic() + WAIT_S
        while self.read() and time.monotonic() < ends:
            pass
        if self.code is None:
            while time.monotonic() < ends:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.code = os.waitstatus_to_exitcode(status)
                    break
                select.select([], [], [], 0.01)
        return self.code

    def close(self):
        if self.code is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
        os.close(self.fd)

    @property
    def text(self):
        return self.seen.decode("utf-8", "replace")

    @property
    def lines(self):
        return screen(self.text)


def screen(text):
    """What a terminal of endless size shows: carriage returns and erased lines
    are carried out, colours dropped."""
    lines, column = [""], 0
    i = 0
    while i < len(text):
        c = text[i]
        if text.startswith("\x1b[", i):
            j = i + 2
            while j < len(text) and not text[j].isalpha():
                j += 1
            if text[j:j + 1] == "K":
                lines[-1] = lines[-1][:column]
            i = j + 1
            continue
        if c == "\n":
            lines.append("")
            column = 0
        elif c == "\r":
            column = 0
        else:
            lines[-1] = lines[-1][:column].ljust(column) + c + lines[-1][column + 1:]
            column += 1
        i += 1
    return lines


class CliTest(unittest.TestCase):
    def setUp(self):
        self.assertTrue(os.path.exists(PROGRAM), f"{PROGRAM} is not built")
        self.dir = tempfile.mkdtemp(prefix="rein-cli-")
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.root = os.path.join(self.dir, "tree")
        self.home = os.path.join(self.dir, "home")
        os.makedirs(self.root)
        os.makedirs(self.home)

    def env(self, **more):
        env = {"PATH": os.environ["PATH"], "HOME": self.home, "LANG": "C.UTF-8", "TERM": "xterm",
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""),
               "UBSAN_OPTIONS": os.environ.get("UBSAN_OPTIONS", "")}
        env.update({k: v for k, v in more.items() if v is not None})
        return env

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(text)
        return path

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", newline="") as f:
            return f.read()

    def model(self, *answers):
        model = Model(answers)
        self.addCleanup(model.close)
        return model

    def rein(self, *argv, stdin=None, model=None, timeout=WAIT_S, **env):
        """One run with pipes; stdin None: /dev/null."""
        if model:
            argv = (*argv, "-m", "anthropic/mock", "--base-url", model.url)
        done = subprocess.run([PROGRAM, *argv], input=stdin if stdin is None else stdin.encode()
                              if isinstance(stdin, str) else stdin,
                              stdin=subprocess.DEVNULL if stdin is None else None,
                              capture_output=True, cwd=self.root, env=self.env(**env), timeout=timeout)
        return Ended(done.returncode, done.stdout.decode("utf-8", "surrogateescape"),
                     done.stderr.decode("utf-8", "surrogateescape"))

    def terminal(self, *argv, model=None, columns=80, stdout=None, **env):
        if model:
            argv = (*argv, "-m", "anthropic/mock", "--base-url", model.url)
        terminal = Terminal(argv, self.env(**env), self.root, columns, stdout)
        self.addCleanup(terminal.close)
        return terminal
