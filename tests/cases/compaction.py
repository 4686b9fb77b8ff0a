"""A model on loopback that counts what it is sent, on each of the three wires: it asks
for one file after the other, sums up when it is told to, and refuses what is longer than
its window. What it was sent is kept, one object a request."""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ASKED = "The conversation no longer fits."  # how rein's own request for a summary begins
PATHS = {"anthropic": "/v1/messages", "openai": "/v1/responses", "chat": "/v1/chat/completions"}


def texts(body):
    """All text of the conversation in order, as (role, text)."""
    out = []
    for item in body.get("messages", body.get("input", [])):
        content = item.get("content") or item.get("output") or ""
        if isinstance(content, str):
            out.append((item.get("role", item.get("type")), content))
            continue
        for part in content:
            inner = part.get("text") or part.get("content") or ""
            out.append((part.get("type") if part.get("type") == "tool_result" else item.get("role"), str(inner)))
    return out


def sse(events):
    return "".join((f"event: {kind}\n" if kind else "") + "data: " + (data if isinstance(data, str) else json.dumps(data))
                   + "\n\n" for kind, data in events).encode()


def anthropic(text, call, used, out):
    ev = [("message_start", {"type": "message_start", "message": {
        "id": "m", "type": "message", "role": "assistant", "model": "x", "content": [], "stop_reason": None,
        "usage": {"input_tokens": used, "output_tokens": 1}}})]
    blocks = ([{"type": "text", "text": text}] if text else []) + ([call] if call else [])
    for i, b in enumerate(blocks):
        start = {"type": "text", "text": ""} if b["type"] == "text" else {**b, "input": {}}
        delta = ({"type": "text_delta", "text": b["text"]} if b["type"] == "text" else
                 {"type": "input_json_delta", "partial_json": json.dumps(b["input"])})
        ev += [("content_block_start", {"type": "content_block_start", "index": i, "content_block": start}),
               ("content_block_delta", {"type": "content_block_delta", "index": i, "delta": delta}),
               ("content_block_stop", {"type": "content_block_stop", "index": i})]
    ev += [("message_delta", {"type": "message_delta", "delta": {"stop_reason": "tool_use" if call else "end_turn"},
                              "usage": {"output_tokens": out}}), ("message_stop", {"type": "message_stop"})]
    return sse(ev)


def chat(text, call, used, out):
    delta = {"role": "assistant", "content": text or None}
    if call:
        delta["tool_calls"] = [{"index": 0, "id": call["id"], "type": "function", "function": {
            "name": call["name"], "arguments": json.dumps(call["input"])}}]
    usage = {"prompt_tokens": used, "completion_tokens": out, "total_tokens": used + out}
    base = {"id": "c", "object": "chat.completion.chunk", "model": "x"}
    return sse([(None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}),
                (None, {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]}),
                (None, {**base, "choices": [], "usage": usage}), (None, "[DONE]")])


def openai(text, call, used, out):
    items = []
    if text:
        items.append({"type": "message", "id": "m1", "role": "assistant", "status": "completed",
                      "content": [{"type": "output_text", "text": text, "annotations": []}]})
    if call:
        items.append({"type": "function_call", "id": "f1", "call_id": call["id"], "name": call["name"],
                      "arguments": json.dumps(call["input"]), "status": "completed"})
    base = {"id": "r", "object": "response", "model": "x"}
    ev = [("response.created", {"type": "response.created", "response": {**base, "status": "in_progress", "output": []}})]
    for i, item in enumerate(items):
        begun = {**item, "status": "in_progress", **({"content": []} if item["type"] == "message" else {"arguments": ""})}
        ev.append(("response.output_item.added", {"type": "response.output_item.added", "output_index": i, "item": begun}))
        if item["type"] == "message":
            ev.append(("response.output_text.delta", {"type": "response.output_text.delta", "output_index": i,
                                                      "content_index": 0, "item_id": "m1", "delta": text}))
        else:
            ev.append(("response.function_call_arguments.delta", {
                "type": "response.function_call_arguments.delta", "output_index": i, "item_id": "f1",
                "delta": item["arguments"]}))
        ev.append(("response.output_item.done", {"type": "response.output_item.done", "output_index": i, "item": item}))
    ev.append(("response.completed", {"type": "response.completed", "response": {
        **base, "status": "completed", "output": items, "usage": {
            "input_tokens": used, "output_tokens": out, "total_tokens": used + out,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}}}))
    return sse(ev)


MADE = {"anthropic": anthropic, "openai": openai, "chat": chat}
FULL = {
    "anthropic": {"type": "error", "error": {"type": "invalid_request_error",
                                             "message": "prompt is too long: %d tokens > %d maximum"}},
    "openai": {"error": {"message": "Your input exceeds the context window of this model (%d of %d).",
                         "type": "invalid_request_error", "code": "context_length_exceeded", "param": "input"}},
    "chat": {"error": {"message": "This model's maximum context length is %d tokens; %d were sent.",
                       "type": "invalid_request_error", "code": "context_length_exceeded", "param": "messages"}},
}


class Model:
    """`turns`: files it reads before it answers; `summary`: what it sums up with; `used`:
    what it says a body of so many tokens has."""

    def __init__(self, wire, turns, window=10**9, summary="요약: 파일을 읽고 있다.", used=lambda tokens: tokens,
                 call=lambda n: {"path": f"f{n}.txt"}):
        self.wire, self.turns, self.window, self.summary, self.used, self.call = wire, turns, window, summary, used, call
        self.bodies, self.asked, self.refused, self.made = [], 0, 0, 0
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, kind, out = model.answer(body)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(out)))
                self.end_headers()
                self.wfile.write(out)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}" + ("" if wire == "anthropic" else "/v1")

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, body):
        tokens = len(json.dumps(body, ensure_ascii=False)) // 3
        self.bodies.append(body)
        asks = any(ASKED in t for _, t in texts(body)[-1:])
        self.asked += asks
        if tokens > self.window:
            self.refused += 1
            full = json.dumps(FULL[self.wire]) % (tokens, self.window)
            return 400, "application/json", full.encode()
        text, call = "끝났습니다", None
        if asks:
            text = self.summary
        elif self.made < self.turns:
            self.made += 1
            text, call = f"단계 {self.made}", {"type": "tool_use", "id": f"call_{self.made}", "name": "read_file",
                                             "input": self.call(self.made)}
        return 200, "text/event-stream", MADE[self.wire](text, call, self.used(tokens), 20)
