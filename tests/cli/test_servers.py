"""Servers of Chat Completions and Responses that refuse a part of the request, or do badly
without saying so: what is left out, what is told, and what a person can set by hand."""
import json
import os
import unittest

from bench import CliTest, slurp


def chunk(delta, finish=None, **more):
    return "data: " + json.dumps({"id": "c1", "model": "m", "choices": [
        {"index": 0, "delta": delta, "finish_reason": finish}], **more}, ensure_ascii=False) + "\n\n"


def chat_says(text, prompt=3000):
    return chunk({"role": "assistant", "content": text}) + chunk({}, "stop", usage={
        "prompt_tokens": prompt, "completion_tokens": 5, "total_tokens": prompt + 5}) + "data: [DONE]\n\n"


def chat_calls(name, args, call_id="call_from_elsewhere_1"):
    return chunk({"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [
        {"index": 0, "id": call_id, "type": "function", "extra_content": {"s": "1"},
         "function": {"name": name, "arguments": json.dumps(args)}}]}) + chunk({}, "tool_calls", usage={
             "prompt_tokens": 3000, "completion_tokens": 5, "total_tokens": 3005}) + "data: [DONE]\n\n"


def refuses(message, status=400, **more):
    return {"status": status, "type": "application/json",
            "body": json.dumps({"error": {"message": message, "type": "invalid_request_error", **more}})}


class Servers(CliTest):
    def chat(self, *answers, argv=(), **more):
        model = self.model(*answers)
        ended = self.rein("x", "-m", "chat/mock", "--base-url", model.url + "/v1", *argv, OPENAI_API_KEY="sk-x", **more)
        return ended, [request[2] for request in model.requests]

    def test_a_refused_parameter_is_left_out_and_remembered(self):
        log = os.path.join(self.dir, "log")
        ended, bodies = self.chat(
            refuses("Unrecognized request argument supplied: stream_options"),
            refuses("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                    "'max_completion_tokens' instead.", param="max_tokens", code="unsupported_parameter"),
            chat_calls("get_time", {}), chat_says("done"), argv=("--log", log))
        self.assertEqual((ended.code, ended.out), (0, "done\n"), ended.err)
        self.assertEqual(["stream_options" in b for b in bodies], [True, False, False, False])
        self.assertEqual(["max_tokens" in b for b in bodies], [True, True, False, False])
        self.assertEqual(["max_completion_tokens" in b for b in bodies], [False, False, True, True])
        self.assertIn("rein: the server refuses stream_options: it is left out", ended.err)
        self.assertIn("rein: the server asks for max_completion_tokens: it is sent", ended.err)
        self.assertEqual(ended.err.count("for the rest of this run"), 2)
        records = [json.loads(line) for line in slurp(log).splitlines()]
        events = [r["record"].get("rewrite") for r in records if r.get("record", {}).get("event") == "rewrite"]
        self.assertEqual(events, ["no_stream_options", "max_completion_tokens"])
        told = [r["stream"]["text"] for r in records if r.get("stream", {}).get("stream") == "warning"]
        self.assertEqual(len(told), 2)

    def test_the_same_refusal_again_ends_it(self):
        ended, bodies = self.chat(*[refuses("stream_options is not supported")] * 4)
        self.assertEqual((ended.code, len(bodies)), (20, 2))
        self.assertIn("stream_options is not supported", ended.err)
        self.assertIn("(attempts: 2)", ended.err)

    def test_what_is_not_on_the_table_is_not_repaired(self):
        ended, bodies = self.chat(refuses("Unsupported parameter: 'model'", param="model"))
        self.assertEqual((ended.code, len(bodies)), (20, 1))

    def test_reasoning_and_ids_as_the_server_wants_them(self):
        for message, look in (
                ("Missing `reasoning_content` field in the assistant message at message index 2.",
                 lambda said, result: self.assertEqual(said["reasoning_content"], "hm")),
                ("messages.2.tool_calls.0.extra_content: Extra inputs are not permitted",
                 lambda said, result: self.assertNotIn("extra_content", said["tool_calls"][0])),
                ("Tool call id was call_from_elsewhere_1 but must be a-z, A-Z, 0-9, with a length of 9.",
                 lambda said, result: self.assertRegex(said["tool_calls"][0]["id"], r"\A[a-zA-Z0-9]{9}\Z"))):
            with self.subTest(message):
                ended, bodies = self.chat(chat_calls("get_time", {}), refuses(message), chat_says("done"))
                self.assertEqual((ended.code, ended.out), (0, "done\n"), ended.err)
                said, result = bodies[-1]["messages"][-2:]
                look(said, result)
                self.assertEqual(said["tool_calls"][0]["id"], result["tool_call_id"])
                self.assertNotEqual(bodies[-1], bodies[-2])

    def test_responses_without_include(self):
        done = "data: " + json.dumps({"type": "response.completed", "response": {
            "id": "r", "model": "m", "status": "completed", "usage": {"input_tokens": 3000, "output_tokens": 2, "total_tokens": 3002},
            "output": [{"type": "message", "id": "m1", "role": "assistant", "status": "completed",
                        "content": [{"type": "output_text", "text": "done", "annotations": []}]}]}}) + "\n\n"
        model = self.model(refuses("Encrypted content is not supported with this model.", param="include"), done)
        ended = self.rein("x", "-m", "openai/mock", "--base-url", model.url + "/v1", OPENAI_API_KEY="sk-x")
        self.assertEqual((ended.code, ended.out), (0, "done\n"), ended.err)
        self.assertEqual(["include" in request[2] for request in model.requests], [True, False])

    def test_a_call_that_the_server_refused_is_tried_again(self):
        failed = refuses("Failed to call a function. Please adjust your prompt.", code="tool_use_failed",
                         failed_generation="<function=f{}>")
        mid = chunk({"content": "I"}) + "event: error\ndata: " + json.dumps({"error": {
            "message": "Failed to call a function.", "type": "invalid_request_error", "code": "tool_use_failed"}}) + "\n\n"
        log = os.path.join(self.dir, "log")
        for bad in (failed, mid):
            ended, bodies = self.chat(bad, chat_says("done"), argv=("--log", log))
            self.assertEqual((ended.code, ended.out, len(bodies)), (0, "done\n", 2), ended.err)
            self.assertIn("Failed to call a function", ended.err)
            self.assertEqual(bodies[0], bodies[1])
        self.assertIn("<function=f{}>", slurp(log))
        ended, bodies = self.chat(failed)
        self.assertEqual((ended.code, len(bodies)), (20, 3))

    def test_a_call_left_in_the_text_is_told(self):
        for text in ('<tool_call>\n{"name": "get_time"}\n</tool_call>', '[TOOL_CALLS][{"name":"x"}]',
                     '```json\n{"name": "get_time", "arguments": {}}\n```', '<function=get_time>{}</function>'):
            ended, bodies = self.chat(chat_says(text))
            self.assertEqual((ended.code, ended.out, len(bodies)), (0, text + "\n", 1))
            self.assertIn("holds a tool call as text, which was not run", ended.err)
        for text in ('{"name": "Kim", "arguments": {}}', "a < b, <b>bold</b>", '{"name": "get_time"}'):
            self.assertNotIn("tool call as text", self.chat(chat_says(text))[0].err)
        ended, _ = self.chat(chat_says("<tool_call>"), argv=("-t", "none"))
        self.assertNotIn("tool call as text", ended.err)

    def test_a_prompt_that_was_cut_silently_is_told(self):
        ended, _ = self.chat(chat_says("ok", prompt=2048), stdin="w " * 20000)
        self.assertIn("the server counted only 2048 tokens of a request of", ended.err)
        self.assertIn("num_ctx", ended.err)
        ended, _ = self.chat(chat_says("ok", prompt=22000), stdin="w " * 20000)
        self.assertNotIn("counted only", ended.err)
        with open(os.path.join(self.root, "long"), "w", encoding="utf-8") as f:
            f.write("some words of a file\n" * 900)
        ended, bodies = self.chat(chat_calls("read_file", {"path": "long"}), chat_says("ok", prompt=3000))
        self.assertEqual(len(bodies), 2)
        self.assertIn("the server counted only 3000 tokens", ended.err)

    def test_a_server_can_be_named_by_hand(self):
        calls = chat_calls("get_time", {})
        _, bodies = self.chat(calls, chat_says("ok"), argv=("--quirks", "mistral"))
        self.assertNotIn("stream_options", bodies[0])
        self.assertRegex(bodies[1]["messages"][-1]["tool_call_id"], r"\A[a-zA-Z0-9]{9}\Z")
        config = os.path.join(self.dir, "config.json")
        with open(config, "w", encoding="utf-8") as f:
            json.dump({"quirks": "deepseek"}, f)
        _, bodies = self.chat(calls, chat_says("ok"), argv=("--config", config))
        self.assertEqual(bodies[1]["messages"][-2]["reasoning_content"], "hm")
        _, bodies = self.chat(calls, chat_says("ok"), argv=("--config", config, "--quirks", "plain"))
        self.assertNotIn("reasoning_content", bodies[1]["messages"][-2])
        ended, bodies = self.chat(argv=("--quirks", "mistrel"))
        self.assertEqual((ended.code, bodies), (2, []))
        self.assertIn("mistral", ended.err)


if __name__ == "__main__":
    unittest.main()
