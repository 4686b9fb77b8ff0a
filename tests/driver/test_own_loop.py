"""examples/own_loop.c: the library's header and curl alone; 200 runs in one thread,
each request of theirs one that a provider would take."""
import asyncio
import importlib.util
import json
import os
import re
import unittest

ROOT = os.environ.get("REIN_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
SHARED = os.environ.get("REIN_SHARED", os.path.join(ROOT, "../shared"))
PROGRAM = os.path.join(ROOT, os.environ.get("REIN_BUILD", "build"), "plain", "examples", "own_loop")
CHECKER = os.path.join(SHARED, "cases/_tools/check_history.py")
RUNS, TURNS = 200, 4


def event(name, **members):
    return f"event: {name}\ndata: {json.dumps({'type': name, **members})}\n\n"


def reply(turn, number):
    """A call of next_page, or the last words."""
    block = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": "It says: keep the lid closed."}
    if turn < TURNS:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": "next_page", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": "{}"}
    usage = {"input_tokens": 100, "output_tokens": 1}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m",
               "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    stop = {"stop_reason": "tool_use" if turn < TURNS else "end_turn", "stop_sequence": None}
    return (event("message_start", message=message)
            + event("content_block_start", index=0, content_block=block)
            + event("content_block_delta", index=0, delta=delta)
            + event("content_block_stop", index=0)
            + event("message_delta", delta=stop, usage={"output_tokens": 9})
            + event("message_stop"))


def results(body):
    return sum(block["type"] == "tool_result" for message in body["messages"]
               for block in message["content"] if message["role"] == "user")


class Server:
    """Keeps every body. The first request of the run that `hurt` names is answered 529."""

    def __init__(self, hurt=None):
        self.bodies, self.hurt, self.open, self.most = [], hurt, 0, 0

    def answer(self, body):
        if self.hurt and self.hurt in json.dumps(body["messages"]):
            self.hurt = None
            return 529, "retry-after: 0.05\r\n", json.dumps(
                {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
        return 200, "content-type: text/event-stream\r\n", reply(results(body), len(self.bodies))

    async def serve(self, reader, writer):
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = int(re.search(r"(?im)^content-length: *(\d+)", head).group(1))
                body = json.loads(await reader.readexactly(length))
                self.bodies.append(body)
                status, headers, text = self.answer(body)
                data = text.encode()
                writer.write(f"HTTP/1.1 {status} x\r\n{headers}"
                             f"content-length: {len(data)}\r\n\r\n".encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        self.open -= 1
        writer.close()


async def play(server, *arguments, key="none"):
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=512)
    url = "http://127.0.0.1:%d" % listener.sockets[0].getsockname()[1]
    env = {"PATH": os.environ["PATH"]}
    if key:
        env["ANTHROPIC_API_KEY"] = key
    program = await asyncio.create_subprocess_exec(
        PROGRAM, "anthropic/some-model", *arguments, *([url] if arguments else []), env=env,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    try:
        out, err = await asyncio.wait_for(program.communicate(), 60)
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
        listener.close()
    return program.returncode, out.decode(), err.decode()


class OwnLoop(unittest.TestCase):
    def setUp(self):
        if not os.path.exists(PROGRAM):
            self.skipTest(f"{PROGRAM} is not built: make examples")

    def test_includes(self):
        with open(os.path.join(ROOT, "examples", "own_loop.c"), encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(re.findall(r"#include (\S+)", text),
                         ["<rein.h>", "<curl/curl.h>", "<stdio.h>", "<stdlib.h>", "<string.h>",
                          "<time.h>"])

    def test_all_finish(self):
        server = Server()
        code, out, err = asyncio.run(play(server, str(RUNS)))
        self.assertEqual((code, err), (0, ""))
        self.assertIn(f"{RUNS} runs, {RUNS} finished, {RUNS * (TURNS + 1)} requests", out)
        self.assertEqual(len(server.bodies), RUNS * (TURNS + 1))
        self.assertGreater(server.most, RUNS // 2)  # at once, not one after the other
        tasks = {body["messages"][0]["content"][0]["text"] for body in server.bodies}
        self.assertEqual(len(tasks), RUNS)
        for turn in range(TURNS + 1):
            self.assertEqual(sum(results(body) == turn for body in server.bodies), RUNS)
        self.check(server.bodies)

    def check(self, bodies):
        if not os.path.exists(CHECKER):
            self.skipTest("the handed checker is not there")
        spec = importlib.util.spec_from_file_location("check_history", CHECKER)
        checker = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(checker)
        for body in bodies:
            self.assertEqual(checker.anthropic(body), [])

    def test_one_is_tried_again(self):
        server = Server(hurt="Run 3:")
        code, out, err = asyncio.run(play(server, "5"))
        self.assertEqual((code, err), (0, ""))
        self.assertIn("5 runs, 5 finished", out)
        self.assertEqual(len(server.bodies), 5 * (TURNS + 1) + 1)

    def test_it_says_what_is_wrong(self):
        code, out, err = asyncio.run(play(Server(), key=None))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("needs a key", err)


if __name__ == "__main__":
    unittest.main()
