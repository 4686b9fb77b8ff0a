"""The cost limit, and what a run cost: from the table, from the config, and unknown."""
import json

from bench import CliTest, call_block, end, event, says, start, text_block, unittest

LOOP = start(2000) + call_block("read_file", {"path": "README.md"}) + end("tool_use")


def cached(text, **usage):
    """An answer whose counts are all named."""
    return (event("message_start", message={
        "id": "msg_1", "type": "message", "role": "assistant", "model": "mock", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"output_tokens": 1, **usage}}) +
            text_block(text) + end("end_turn"))


class Money(CliTest):
    def setUp(self):
        super().setUp()
        self.write("README.md", "# 안녕\n")

    def run_of(self, *argv, answers, name="anthropic/claude-sonnet-4-6"):
        model = self.model(*answers)
        return model, self.rein("-m", name, "--base-url", model.url, "look", *argv)

    def test_cost_is_told(self):
        answer = cached("done", input_tokens=10, cache_read_input_tokens=1000, cache_creation_input_tokens=200)
        model, ended = self.run_of("--output", "json", answers=[answer])
        # 10 × 3 + 1000 × 0.3 + 200 × 3.75 + 20 × 15 micro-dollars
        self.assertEqual(json.loads(ended.out)["cost_usd"], 0.00138, ended.err)
        model, ended = self.run_of(answers=[answer])
        self.assertIn(", 1,210 tokens in, 20 out, $0.00138, ", ended.err)
        model, ended = self.run_of("--output", "json", answers=[answer], name="anthropic/unheard-of")
        self.assertIsNone(json.loads(ended.out)["cost_usd"])

    def test_limit_is_a_ceiling(self):
        model, ended = self.run_of("--cost-limit", "0.08", "--token-budget", "off", "--max-turns", "off",
                                   "--no-progress", "off", "--output", "json", answers=[LOOP])
        told = json.loads(ended.out)
        self.assertEqual((ended.code, told["outcome"], told["exit"]), (12, "cost", 12), ended.err)
        self.assertLessEqual(told["cost_usd"], 0.08)
        self.assertGreater(len(model.requests), 3)
        self.assertIn("--cost-limit", told["reason"])
        for path, headers, body in model.requests:
            self.assertLess(body["max_tokens"] * 15e-6, 0.08)

    def test_too_little_sends_nothing(self):
        model, ended = self.run_of("--cost-limit", "0.001", answers=[LOOP])
        self.assertEqual((ended.code, len(model.requests)), (12, 0), ended.err)

    def test_resume_adds(self):
        model, ended = self.run_of("--cost-limit", "0.08", "--no-progress", "off", "--output", "json",
                                   answers=[LOOP])
        self.assertEqual(ended.code, 12, ended.err)
        run = json.loads(ended.out)["run"]
        model = self.model(says("done"))
        again = self.rein("resume", run, "--cost-limit", "+0.05", "--output", "json", "--base-url", model.url)
        self.assertEqual(again.code, 0, again.err)
        self.assertGreater(json.loads(again.out)["cost_usd"], json.loads(ended.out)["cost_usd"])

    def test_unknown_price(self):
        model, ended = self.run_of("--cost-limit", "1", answers=[LOOP], name="anthropic/unheard-of")
        self.assertEqual((ended.code, ended.out, len(model.requests)), (2, "", 0))
        self.assertIn('the price of the model "unheard-of", which is not known here', ended.err)
        self.assertIn('"models": {"unheard-of": {"input": 3', ended.err)
        self.assertNotIn("{0}", ended.err)

    def test_price_of_the_config(self):
        self.write("c.json", '{"cost_limit": 1.5, "models": {"unheard-of": {"input": 1, "output": 2}}}')
        model, ended = self.run_of("--config", "c.json", "--output", "json", answers=[says("done")],
                                   name="anthropic/unheard-of")
        self.assertEqual(json.loads(ended.out)["cost_usd"], 0.00204, ended.err)  # 2,000 in, 20 out
        self.write("c.json", '{"models": {"x": {"input": 1}}}')
        model, ended = self.run_of("--config", "c.json", answers=[says("done")])
        self.assertEqual(ended.code, 2)
        self.assertIn('c.json, line 1', ended.err)
        self.assertIn('the price of the model "x" is not whole', ended.err)

    def test_cache_meter(self):
        first = event("message_start", message={
            "id": "msg_1", "type": "message", "role": "assistant", "model": "mock", "content": [],
            "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 25, "cache_creation_input_tokens": 75, "output_tokens": 1}})
        first += call_block("read_file", {"path": "README.md"}) + end("tool_use")
        second = cached("done", input_tokens=1, cache_read_input_tokens=98, cache_creation_input_tokens=1)
        model, ended = self.run_of("--output", "json", answers=[first, second])
        run = json.loads(ended.out)["run"]
        shown = self.rein("show", run).out
        self.assertIn("cache of request 1: 0 % read, 75 % written, 25 % fresh of 100 tokens\n", shown)
        self.assertIn("cache of request 2: 98 % read, 1 % written, 1 % fresh of 100 tokens\n", shown)
        self.assertNotIn("broke", shown)
        model = self.model(second)
        self.rein("resume", run, "again", "-m", "anthropic/claude-opus-5", "--base-url", model.url)
        shown = self.rein("show", run).out
        self.assertRegex(shown, r"request 3: .*; the prefix broke at byte \d+, in model \(rewrite: model\)\n")

    def test_cache_key(self):
        keys = {}
        for name in ("openai", "chat"):
            for quirks in ("openai", "plain"):
                model = self.model({"status": 400, "body": "{}"})
                self.rein("-m", f"{name}/gpt-5.4", "--base-url", model.url, "--quirks", quirks, "look")
                keys[name, quirks] = model.requests[0][2].get("prompt_cache_key")
        self.assertRegex(keys["openai", "openai"], "^rein-[0-9a-f]{16}$")
        self.assertRegex(keys["chat", "openai"], "^rein-[0-9a-f]{16}$")
        self.assertNotEqual(keys["openai", "openai"], keys["chat", "openai"])  # one a run
        self.assertEqual((keys["openai", "plain"], keys["chat", "plain"]), (None, None))

    def test_models(self):
        self.write("c.json", '{"models": {"mine": {"input": 0.25, "output": 2, "window": 9000}}}')
        ended = self.rein("models", "--config", "c.json", "--output", "json")
        rows = json.loads(ended.out)
        self.assertEqual(rows[0]["model"], "mine")
        self.assertEqual((rows[0]["input"], rows[0]["window"], rows[0]["source"]), (0.25, 9000, "config"))
        for row in rows[1:]:
            self.assertRegex(row["as_of"], r"^20\d\d-\d\d-\d\d$")
        text = self.rein("models").out
        self.assertIn("claude-sonnet-5 ", text)
        self.assertIn("2026-08-22, docs", text)


if __name__ == "__main__":
    unittest.main()
