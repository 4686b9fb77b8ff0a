"""What the stand-ins have in common: an HTTP server on 127.0.0.1 that keeps its
connections, answers in JSON, and writes each request it was sent to --log as a
line. Each service's rules are in its own file, and name the page they come from.

A stand-in prints its address on stdout and serves until it is ended.
"""
import argparse
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse


class Refused(Exception):
    """An answer that is an error: status, body, headers."""

    def __init__(self, status, body, headers=None):
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers or {}


class Pace:
    """At most `per_second` requests in any second."""

    def __init__(self, per_second):
        self.per_second, self.times, self.lock = per_second, [], threading.Lock()

    def take(self):
        with self.lock:
            now = time.monotonic()
            self.times = [t for t in self.times if now - t < 1.0]
            self.times.append(now)
            return len(self.times) <= self.per_second


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service = None

    def log_message(self, *args):
        pass

    def give(self, status, body, headers=None):
        data = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        self.service.note(self.command, self.path, dict(self.headers), body)
        try:
            status, answer, headers = self.service.answer(self.command, url.path, query,
                                                          self.headers, body)
            self.give(status, answer, headers)
        except Refused as refused:
            self.give(refused.status, refused.body, refused.headers)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve


class Service:
    def __init__(self, arguments):
        self.arguments = arguments
        self.data = json.load(open(arguments.data, encoding="utf-8"))
        self.lock = threading.Lock()

    def note(self, method, path, headers, body):
        if not self.arguments.log:
            return
        # A key is never written down, not even an invented one.
        headers = {k: ("Bearer …" if k.lower() == "authorization" else v) for k, v in headers.items()}
        with self.lock, open(self.arguments.log, "a", encoding="utf-8") as log:
            log.write(json.dumps({"method": method, "path": path, "headers": headers,
                                  "body": body.decode("utf-8", "replace")}, ensure_ascii=False) + "\n")

    def answer(self, method, path, query, headers, body):
        raise NotImplementedError


def read_json(body, refused):
    try:
        value = json.loads(body.decode())
    except ValueError:
        raise refused from None
    if not isinstance(value, dict):
        raise refused
    return value


def main(service, description, more=None):
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", default=os.path.join(here, "data.json"))
    parser.add_argument("--log", help="append each request as a line of JSON")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", default="stand-in-token")
    if more:
        more(parser)
    handler = type("OneService", (Handler,), {"service": service(parser.parse_args())})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", handler.service.arguments.port), handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
