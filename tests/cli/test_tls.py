"""Whole runs of the program over TLS: HTTP/2 and HTTP/1.1, trusted and not, direct
and through a proxy's tunnel; one connection for a run."""
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

from bench import KEY, ROOT, WAIT_S, CliTest

SERVER = os.path.join(ROOT, "tests/host/tls_server.mjs")
NODE, OPENSSL = shutil.which("node"), shutil.which("openssl")
NAME = "model.invalid"  # no name server knows it: only a proxy can reach it
TURNS = 3
EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def openssl(*argv):
    subprocess.run([OPENSSL, *argv], check=True, stdin=subprocess.DEVNULL, capture_output=True)


class Tunnel:
    """A proxy that takes CONNECT alone and leads every name to one port."""

    def __init__(self, port, refuses=None):
        self.port, self.refuses, self.heads = port, refuses, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            more = client.recv(65536)
            if not more:
                return client.close()
            head += more
        self.heads.append(head.decode())
        if self.refuses:
            client.sendall(self.refuses)
            return client.close()
        server = socket.create_connection(("127.0.0.1", self.port))
        client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        back = threading.Thread(target=self.pass_on, args=(server, client), daemon=True)
        back.start()
        self.pass_on(client, server)
        back.join()
        client.close()
        server.close()

    @staticmethod
    def pass_on(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.socket.close()


@unittest.skipUnless(NODE and OPENSSL, "node or openssl is not here")
class Tls(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.certs = tempfile.mkdtemp(prefix="rein-certs-")
        cls.addClassCleanup(shutil.rmtree, cls.certs, True)
        at = cls.at
        with open(at("names"), "w", encoding="ascii") as f:
            f.write(f"subjectAltName=IP:127.0.0.1,DNS:{NAME}\n")
        openssl("req", "-x509", *EC, "-days", "30", "-subj", "/CN=rein test CA", "-keyout", at("ca.key"),
                "-out", at("ca.pem"))
        openssl("req", *EC, "-subj", "/CN=server", "-keyout", at("key.pem"), "-out", at("request.pem"))
        openssl("x509", "-req", "-in", at("request.pem"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"),
                "-CAcreateserial", "-days", "30", "-extfile", at("names"), "-out", at("cert.pem"))
        os.mkdir(at("folder"))
        shutil.copy(at("ca.pem"), at("folder/ca.pem"))
        openssl("rehash", at("folder"))

    @classmethod
    def at(cls, name):
        return os.path.join(cls.certs, name)

    def serve(self, mode):
        """Its port. Where the test ends: whether it saw one connection and all requests."""
        self.node = subprocess.Popen([NODE, SERVER, self.at("key.pem"), self.at("cert.pem"), mode],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.counts)
        return int(self.node.stdout.readline())

    def counts(self):
        if self.node.poll() is None:
            self.said, _ = self.node.communicate(timeout=WAIT_S)
        return [int(n) for n in self.said.split()]

    def ask(self, url, **env):
        return self.rein("hi", "-q", "-m", "anthropic/mock", "--base-url", url, "--retries", "0",
                         ANTHROPIC_API_KEY=KEY, **env)

    def test_one_connection_for_a_run(self):
        for mode, version in (("h2", "HTTP/2.0"), ("h1", "HTTP/1.1")):
            for trust in ({"SSL_CERT_FILE": self.at("ca.pem")}, {"SSL_CERT_DIR": self.at("folder")}):
                ended = self.ask(f"https://127.0.0.1:{self.serve(mode)}", **trust)
                self.assertEqual((ended.code, ended.out), (0, version + "\n"), ended.err)
                self.assertEqual(self.counts(), [1, TURNS + 1])

    def test_not_trusted(self):
        ended = self.ask(f"https://127.0.0.1:{self.serve('h2')}")
        self.assertEqual((ended.code, ended.out), (20, ""))
        self.assertIn("certificate", ended.err)
        self.assertEqual(self.counts()[1], 0)

    def test_through_a_tunnel(self):
        port = self.serve("h2")
        tunnel = Tunnel(port)
        self.addCleanup(tunnel.close)
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
            ended = self.ask(f"https://{NAME}:{port}", SSL_CERT_FILE=self.at("ca.pem"), **{name: tunnel.url})
            self.assertEqual((ended.code, ended.out), (0, "HTTP/2.0\n"), ended.err)
        self.assertEqual(self.counts(), [3, 3 * (TURNS + 1)])
        for head in tunnel.heads:  # the proxy sees where it goes, and nothing else
            self.assertTrue(head.startswith(f"CONNECT {NAME}:{port} HTTP/1.1\r\n"), head)
            self.assertNotIn(KEY, head)

    def test_the_proxy_for_plain_addresses_is_another(self):
        port = self.serve("h2")
        tunnel = Tunnel(port)
        self.addCleanup(tunnel.close)
        ended = self.ask(f"https://{NAME}:{port}", SSL_CERT_FILE=self.at("ca.pem"), HTTP_PROXY=tunnel.url)
        self.assertEqual(ended.code, 20)
        self.assertEqual(tunnel.heads, [])

    def test_a_proxy_that_refuses(self):
        for answer in (b"HTTP/1.1 407 Who are you\r\ncontent-length: 0\r\n\r\n", b"HTTP/1.1 503 No\r\n\r\n", b"\0"):
            tunnel = Tunnel(1, answer)
            self.addCleanup(tunnel.close)
            ended = self.ask(f"https://{NAME}", SSL_CERT_FILE=self.at("ca.pem"),
                             HTTPS_PROXY=tunnel.url.replace("http://", "http://user:geheim@"))
            self.assertEqual((ended.code, ended.out), (20, ""))
            self.assertIn("no connection", ended.err)
            self.assertNotIn("geheim", ended.err)
            self.assertEqual(len(tunnel.heads), 1)


if __name__ == "__main__":
    unittest.main()
