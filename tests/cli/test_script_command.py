"""rein script: the address on stdout, answers over HTTP, the end by a signal."""
import http.client
import json
import os
import signal
import subprocess
import tempfile
import unittest
from urllib.parse import urlparse

ROOT = os.environ.get("REIN_ROOT", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PROGRAM = os.environ.get("REIN_PROGRAM", os.path.join(ROOT, "build/asan/rein"))
SCRIPT = """// two scenarios
{"scenarios": [
  {"when": "slow", "replies": [{"status": 429, "headers": {"retry-after": "7", "x-a": "b c"},
                                "error": "slow down"}]},
  {"replies": [{"text": "hello {{words}}"}]}
]}"""


class ScriptCommand(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "script.json")
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(SCRIPT)
        self.children = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.communicate()

    def serve(self, *words):
        child = subprocess.Popen([PROGRAM, "script", self.path, *words], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        return child, child.stdout.readline().strip()

    def ask(self, address, body, method="POST", path="/v1/messages"):
        connection = http.client.HTTPConnection(urlparse(address).netloc, timeout=20)
        connection.request(method, path, body)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, dict(response.getheaders()), text

    def test_answers(self):
        child, address = self.serve()
        self.assertRegex(address, r"^http://127\.0\.0\.1:[1-9][0-9]*$")
        words = json.dumps({"messages": [{"role": "user", "content": "세상"}]})
        status, headers, text = self.ask(address, words)
        self.assertEqual((status, headers["content-type"]), (200, "text/event-stream"))
        pieces = [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: ")]
        said = "".join(p["delta"].get("text", "") for p in pieces
                       if p["type"] == "content_block_delta")
        self.assertEqual((said, pieces[-1]["type"]), ("hello 세상", "message_stop"))
        status, headers, text = self.ask(
            address, json.dumps({"messages": [{"role": "user", "content": "slow"}]}))
        self.assertEqual((status, headers["retry-after"], headers["x-a"]), (429, "7", "b c"))
        self.assertEqual(json.loads(text)["error"]["message"], "slow down")
        self.assertEqual(self.ask(address, "{")[0], 400)
        self.assertEqual(self.ask(address, words, path="/v1/other")[0], 404)
        self.assertEqual(self.ask(address, None, method="GET")[0], 405)
        child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=20)
        self.assertEqual((child.returncode, out), (143, ""))
        self.assertIn(address, err)

    def test_a_client_of_ours(self):
        child, address = self.serve()
        environment = {**os.environ, "ANTHROPIC_API_KEY": "none"}
        done = subprocess.run([PROGRAM, "-m", "anthropic/any", "--base-url", address, "you"],
                              capture_output=True, text=True, env=environment, timeout=60,
                              cwd=self.folder.name)
        self.assertEqual((done.returncode, done.stdout), (0, "hello you\n"), done.stderr)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(20), 130)

    def test_port_that_is_taken(self):
        _, address = self.serve()
        port = str(urlparse(address).port)
        done = subprocess.run([PROGRAM, "script", self.path, "--port", port], capture_output=True,
                              text=True, timeout=20)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(port, done.stderr)

    def test_bad_files(self):
        with open(self.path, "w", encoding="utf-8") as f:
            f.write('{"replies": [{"txt": "x"}]}')
        for words in ([self.path], [self.path + ".none"], [], [self.path, self.path]):
            done = subprocess.run([PROGRAM, "script", *words], capture_output=True, text=True,
                                  timeout=20)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertTrue(done.stderr.strip())


if __name__ == "__main__":
    unittest.main()
