"""Requests that components behind paths send: only to origins that the policy allows, within limits."""

import concurrent.futures
import contextlib
import hashlib
import ssl
import threading

from certificates import Authority
from command import longer_and_longer
from configured import HURRIED
from http_server import Handler, HttpServer
from incoming_handler_test import HANDLER, HandlerTest
from server import until

FAILED = 424  # what the guest answers where it is not answered


class Other(Handler):
    """Another server."""

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            body = b"".join(iter(self.read_chunk, b""))
        self.server.asked.append((self.command, self.path, self.headers, body))
        getattr(self, self.path.split("/")[1] or "echo")(body)

    do_POST = do_GET

    def read_chunk(self):
        size = int(self.rfile.readline(), 16)
        return self.rfile.read(size + 2)[:size]

    def answer(self, body, size=None):
        self.send_response(203)
        self.send_header("Content-Length", str(len(body) if size is None else size))
        self.end_headers()
        self.wfile.write(body)

    def echo(self, body):
        self.answer(b"you said " + body)

    def large(self, body):
        self.answer(bytes(9 << 20))

    def half(self, body):
        self.answer(b"half", size=100)
        self.close_connection = True

    def stuck(self, body):
        self.answer(b"half", size=100)
        self.server.let_go.wait()

    def silent(self, body):
        self.server.let_go.wait()

    def late(self, body):
        self.server.let_go.wait()
        self.answer(b"late")

    def headers_without_end(self, body):
        with contextlib.suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while True:
                self.wfile.write(b"x-a: " + b"a" * 4096 + b"\r\n")

    def redirect(self, body):
        self.send_response(302)
        self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", "0")
        self.end_headers()


class OutboundTest(HandlerTest):
    def other(self, context=None):
        """Its server, until the test ends."""
        other = HttpServer(Other, context, asked=[], let_go=threading.Event())
        self.addCleanup(other.stop)
        self.addCleanup(other.let_go.set)
        other.origin = f"http{'s' if context else ''}://127.0.0.1:{other.server_port}"
        return other

    def fetch(self, server, to, status=203, method="GET", body=None, what="fetch", headers=()):
        answer = server.request(method, f"/h/{what}", body, {"X-To": to, **dict(headers)})
        self.assertEqual(answer.status, status, answer)
        return answer.body


class Exchanges(OutboundTest):
    def test_what_a_guest_sends_and_gets(self):
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin)
        body = bytes(range(256)) * 5000
        self.assertEqual(self.fetch(server, f"{other.origin}/echo/a?b=c", method="POST", body=body), b"you said " + body)
        (method, path, headers, sent), = other.asked
        self.assertEqual((method, path, sent), ("POST", "/echo/a?b=c", body))
        self.assertEqual((headers["Host"], headers["X-From"]), (f"127.0.0.1:{other.server_port}", "guest"))

    def test_a_body_may_come_before_its_request_is_sent(self):
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin, "--timeout", "10m")
        early = {"X-Early": "1"}
        for size in (4097, 128 << 10):
            body = bytes(i % 251 for i in range(size))
            self.assertEqual(self.fetch(server, f"{other.origin}/echo", method="POST", body=body, headers=early), b"you said " + body)
        self.fetch(server, f"{other.origin}/echo", 502, "POST", bytes(1 << 20), headers=early)
        self.assertIn("wrote more of a body than is kept", self.log_of(server))

    def test_large_answers(self):
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin)
        answer = self.fetch(server, f"{other.origin}/large")
        self.assertEqual(hashlib.sha256(answer).digest(), hashlib.sha256(bytes(9 << 20)).digest())

    def test_an_empty_path_is_a_whole_one(self):
        other = self.other()
        self.fetch(self.serve_handler("--allow-outbound", other.origin), f"{other.origin}/empty")
        self.assertEqual(other.asked[0][1], "/")

    def test_many_one_after_another(self):
        """More than a run may hold at once, of anything."""
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin)
        self.fetch(server, f"{other.origin}/echo/", status=200, what="fetch-again?600")
        self.assertEqual(len(other.asked), 600)

    def test_the_end_waits_for_what_was_asked(self):
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin)
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            reported = thread.submit(self.fetch, server, f"{other.origin}/late")
            until(lambda: other.asked)
            server.begin_to_end()
            other.let_go.set()
            self.assertEqual(reported.result(), b"late")
        self.assertEqual(server.wait(), (0, ""))

    def test_redirections_are_the_guests(self):
        other = self.other()
        self.assertEqual(self.fetch(self.serve_handler("--allow-outbound", other.origin), f"{other.origin}/redirect", status=302), b"")

    def test_tls(self):
        us, strangers = Authority(self.dir, "us"), Authority(self.dir, "strangers")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*us.sign("localhost"))
        other = self.other(context)
        local = f"https://localhost:{other.server_port}"
        for authority, status, said in ((us, 203, b"you said "), (strangers, FAILED, b"ErrorCode::TlsCertificateError")):
            self.env["SSL_CERT_FILE"] = str(authority.pem)
            server = self.serve_handler("--allow-outbound", other.origin, "--allow-outbound", local)
            for origin in (other.origin, local):
                with self.subTest(authority=authority.name, origin=origin):
                    self.assertEqual(self.fetch(server, f"{origin}/echo/", status), said)
        self.assertEqual(len(other.asked), 2)


class Denied(OutboundTest):
    def check_denied(self, server, to, why=b"ErrorCode::HttpRequestDenied", **more):
        self.assertEqual(self.fetch(server, to, FAILED, **more), why)

    def test_requests_are_refused_by_default(self):
        other = self.other()
        self.check_denied(self.serve_handler(), f"{other.origin}/echo")
        self.assertEqual(other.asked, [])

    def test_all_that_is_not_named(self):
        other = self.other()
        port = other.server_port
        server = self.serve_handler("--allow-outbound", f"http://localhost:{port}", "--allow-outbound", "https://*.example.com")
        for to in (f"http://127.0.0.1:{port}/", f"http://[::1]:{port}/", f"https://localhost:{port}/", "http://localhost/",
                   f"http://localhost.:{port}/", f"http://localhost:{port}0/", f"http://a.localhost:{port}/",
                   "https://example.com/", "http://a.example.com/", "https://a.example.com:444/", "https://aexample.com/",
                   "https://a.example.com.evil.example/", "https://.example.com.evil.example/", f"http://127.1:{port}/"):
            with self.subTest(to):
                self.check_denied(server, to)
        self.fetch(server, f"http://LOCALHOST:{port}/echo/")  # is named
        self.assertEqual(len(other.asked), 1)

    def test_authorities_that_pretend(self):
        """URLs that lead to another host than it seems."""
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin, "--allow-outbound", "http://good.example")
        for authority in (f"good.example@127.0.0.1:{other.server_port}", f"{other.origin[7:]}@good.example"):
            self.check_denied(server, f"http://{authority}/")
        self.check_denied(server, f"{other.origin}/echo", headers={"X-Method": "CONNECT"})
        self.assertEqual(other.asked, [])

    def test_other_schemes(self):
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin)
        self.check_denied(server, f"ftp://{other.origin[7:]}/", b"at once ErrorCode::HttpProtocolError")

    def test_programs_have_no_http(self):
        """A policy gives nothing to a guest without wasi:http."""
        server = self.serve("--allow-outbound", "http://127.0.0.1:1", models={"m": "in x f32 1\n"})
        self.expect_service(server)


class Trouble(OutboundTest):
    def test_there_is_no_server(self):
        server = self.serve_handler("--allow-outbound", "http://127.0.0.1:1", "--allow-outbound", "http://nobody.invalid")
        self.assertEqual(self.fetch(server, "http://127.0.0.1:1/", FAILED), b"ErrorCode::ConnectionRefused")
        self.assertIn(b"DnsError", self.fetch(server, "http://nobody.invalid/", FAILED))

    def test_answers_that_break_off(self):
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin)
        self.assertIn(b"after 4 bytes ", self.fetch(server, f"{other.origin}/half", FAILED))
        self.assertIn(b"ErrorCode::HttpProtocolError", self.fetch(server, f"{other.origin}/headers_without_end", FAILED))

    def test_the_guests_own_times(self):
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin)
        for path, said in (("silent", b"ErrorCode::ConnectionReadTimeout"), ("stuck", b"after 4 bytes ")):
            for timeout in longer_and_longer():  # for the server may be late, too, with what comes before
                if said in self.fetch(server, f"{other.origin}/{path}", FAILED, headers={"X-Timeout-Ms": str(timeout)}):
                    break

    def test_its_run_has_an_end(self):
        other = self.other()
        server = self.for_two(self.serve_handler, "--allow-outbound", other.origin)
        self.check_answer(server.request("GET", "/h/fetch", headers={**HURRIED, "X-To": f"{other.origin}/silent"}), 504)
        self.fetch(server, f"{other.origin}/echo/")
        self.assertIn("limits.run_timeout_ms", self.log_of(server))

    def test_few_connections_at_once(self):
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin)
        for _ in range(3):  # each run has new ones
            answer = self.fetch(server, f"{other.origin}/silent", status=200, what="fetch-many?17")
            self.assertEqual(answer, b"Err(ErrorCode::ConnectionLimitReached)")

    def test_unread_answers(self):
        """They are connections for as long as the guest has them."""
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin)
        self.fetch(server, f"{other.origin}/echo/", status=200, what="fetch-again?16", headers={"X-Hold": "1"})
        self.fetch(server, f"{other.origin}/echo/", status=502, what="fetch-again?17", headers={"X-Hold": "1"})
        self.assertIn("ConnectionLimitReached", self.log_of(server))


class Settings(OutboundTest):
    def test_many_in_flags(self):
        other = self.other()
        many = [f"https://{'a' * 40}{i}.example" for i in range(20)]
        server = self.serve_handler(*(word for origin in (*many, other.origin) for word in ("--allow-outbound", origin)))
        self.fetch(server, f"{other.origin}/echo/")

    def test_of_the_file_and_of_tenants(self):
        other = self.other()
        path = self.dir / "serve.toml"
        keys = {name: f'keys = ["sha256:{hashlib.sha256(name.encode()).hexdigest()}"]' for name in "ab"}
        path.write_text(f"""
            policy.allowed_outbound_hosts = ["{other.origin}"]
            [tenants.a]
            {keys["a"]}
            [tenants.b]
            {keys["b"]}
            policy.allowed_outbound_hosts = []
        """)
        server = self.serve_handler("--config", str(path))
        self.fetch(server, f"{other.origin}/echo/", headers={"Authorization": "Bearer a"})
        self.fetch(server, f"{other.origin}/echo/", status=FAILED, headers={"Authorization": "Bearer b"})

    def test_mistakes(self):
        for text in ("*", "example.com", "ftp://a", "http://", "http://a/b", "http://a:b@c", "http://*", "https://*a.example.com", "https://a.*.com", "", "http://*.", "http://*.1",
                     "http://*..a", "http://.", "http://a.", "http://ex%61mple.com", "http://a:0", "http://a:65616", "http://a:", "http://[v1.a]", "http://1.2.3"):
            with self.subTest(text):
                self.check_error(self.wasinn("serve", "--route", f"/h={HANDLER}", "--allow-outbound", text),
                                 f"policy.allowed_outbound_hosts: '{text}' is not http://HOST or https://HOST")
