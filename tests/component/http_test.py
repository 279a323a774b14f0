"""wasinn run -S http: programs that are components send requests, to whom --allow-outbound lets them, and to nobody else.

The guest is the example classify-url. What else holds for requests, tests/serve/outbound_test.py looks at: the code is the same."""

import os
import pathlib
import sys
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "cli"), str(HERE.parent / "serve")]
from command import CommandTest, longer_and_longer  # noqa: E402
from http_server import Handler, HttpServer  # noqa: E402

GUEST = os.environ["WASINN_CLASSIFY_URL"]
MODEL = os.environ.get("WASINN_DIGITS")  # none: without ONNX Runtime
IMAGE = HERE.parents[1] / "examples" / "classify" / "images" / "0002_label-2.png"
DENIED = "ErrorCode::HttpRequestDenied"


class Images(Handler):
    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/silent":
            self.server.let_go.wait()
        else:
            self.reply(200 if self.path == "/2.png" else 404, IMAGE.read_bytes())


class HttpTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.server = HttpServer(Images, asked=[], let_go=threading.Event())
        for end in (self.server.stop, self.server.let_go.set):
            self.addCleanup(end)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"

    def classify(self, *urls, flags=(), **more):
        return self.wasinn("run", *flags, GUEST, *urls, **more)

    @unittest.skipUnless(MODEL, "without ONNX Runtime")
    def test_an_image_of_a_server(self):
        del self.env["WASINN_CONFIG"]  # which is for the echo backend
        result = self.classify(f"{self.origin}/2.png", flags=["-S", "http", "--allow-outbound", self.origin, "--model", f"digits={MODEL}"])
        self.check(result, err="")
        self.assertRegex(result.out, rf"^{self.origin}/2.png  2   \d\d\.\d %\n$")
        self.assertEqual(self.server.asked, ["/2.png"])

    def test_what_a_server_answers(self):
        result = self.classify(f"{self.origin}/none", flags=["-S", "http", "--allow-outbound", self.origin])
        self.check(result, code=1, out="", err=f"classify: {self.origin}/none: the server says 404\n")

    def test_requests_are_refused_by_default(self):
        url = f"{self.origin}/2.png"
        self.file("other.toml", f"policy.allowed_outbound_hosts = ['http://127.0.0.1:{self.server.server_port + 1}']\n")
        for flags in ([], ["--allow-outbound", "http://localhost"], ["--allow-outbound", self.origin.replace("http", "https")], ["--config", "other.toml"]):
            with self.subTest(flags=flags):
                self.check(self.classify(url, flags=["-S", "http", *flags]), code=1, out="", err=f"classify: {url}: {DENIED}\n")
        self.assertEqual(self.server.asked, [])

    def test_of_the_file(self):
        self.file("origin.toml", f"backend_dirs = ['{os.environ['WASINN_ECHO']}']\npolicy.allowed_outbound_hosts = ['{self.origin}']\n")
        result = self.classify(f"{self.origin}/none", flags=["-S", "nn,http", "--config", "origin.toml"])
        self.check(result, code=1, err="the server says 404\n")

    def test_without_the_flag_there_is_no_http(self):
        self.check_error(self.classify(flags=["--allow-outbound", self.origin]),
                         "HTTP of WASI, which `wasinn run -S http` gives to programs that are components")

    def test_a_list_that_is_none(self):
        self.check_error(self.classify(flags=["-S", "http", "--allow-outbound", "*"]),
                         "policy.allowed_outbound_hosts: '*' is not http://HOST or https://HOST")

    def test_a_run_that_waits_has_an_end(self):
        for timeout in longer_and_longer():
            result = self.classify(f"{self.origin}/silent", flags=["-S", "http", "--allow-outbound", self.origin, "--timeout", f"{timeout}ms"])
            self.check(result, code=124, out="")
            if self.server.asked:
                break
        self.assertEqual(set(self.server.asked), {"/silent"})

    def test_compiled(self):
        self.check(self.wasinn("compile", GUEST, "-o", "classify.cwasm"), err="")
        result = self.wasinn("run", "--allow-precompiled", "-S", "http", "--allow-outbound", self.origin, "classify.cwasm", f"{self.origin}/none")
        self.check(result, code=1, err="the server says 404\n")
