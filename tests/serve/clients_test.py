"""Clients that do not behave, and a server that does not start."""

import os
import resource
import select
import socket

from server import BODY, MODEL, ServeTest, head, read_all, until


class Clients(ServeTest):

    def test_requests_that_do_not_wait_for_answers(self):
        server = self.serve(models={"m": MODEL})
        with server.socket() as connection:
            connection.sendall((head(len(BODY)) + BODY) * 20 + head(len(BODY), "Connection: close\r\n") + BODY)
            self.assertEqual(read_all(connection).count(b"HTTP/1.1 200 OK"), 21)

    def test_a_body_in_chunks(self):
        server = self.serve(models={"m": MODEL})
        self.check_answer(server.request("POST", "/v2/models/m/infer", iter([BODY[:9], BODY[9:]])), 200)

    def test_one_that_waits_until_it_may_go_on(self):
        server = self.serve(models={"m": MODEL})
        with server.socket() as connection:
            connection.sendall(head(len(BODY), "Expect: 100-continue\r\n"))
            self.assertTrue(connection.recv(1000).startswith(b"HTTP/1.1 100 Continue\r\n"))
            connection.sendall(BODY)
            self.assertTrue(connection.recv(1000).startswith(b"HTTP/1.1 200 OK\r\n"))

    def test_one_that_stops_in_the_middle(self):
        server = self.serve(models={"m": MODEL})
        whole = head(len(BODY)) + BODY
        for sent in (b"", b"P", whole[:30], whole[: len(head(len(BODY)))], whole[:-1]):
            with server.socket() as connection:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                self.assertEqual(read_all(connection), b"")
        self.expect_service(server)

    def test_what_is_no_http(self):
        server = self.serve(models={"m": MODEL})
        for sent in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /\0 HTTP/1.1\r\n\r\n",
                     head("x"), head("-1"), head(1, "Content-Length: 2\r\n"), head(1, "Transfer-Encoding: chunked\r\n")):
            with server.socket() as connection:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                answer = read_all(connection)
                self.assertTrue(answer == b"" or answer.startswith(b"HTTP/1.1 400 "), (sent, answer))
        self.expect_service(server)

    def test_invalid_lengths(self):
        server = self.serve("--max-body", "1M", models={"m": MODEL})
        for length in (2**20 + 1, 2**32, 2**63, 2**64 - 1):
            with server.socket() as connection:
                connection.sendall(head(length))
                self.assertTrue(read_all(connection).startswith(b"HTTP/1.1 413 "))
        with server.socket() as connection:
            connection.sendall(head(0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
            try:
                for _ in range(100):
                    connection.sendall(b"8000\r\n" + b" " * 0x8000 + b"\r\n")
            except (BrokenPipeError, ConnectionResetError):
                pass  # it has hung up
            self.assertIn(read_all(connection)[:13], (b"HTTP/1.1 413 ", b""))
        self.expect_service(server)

    def test_an_idle_connection_is_closed_after_its_time(self):
        config = self.file("serve.toml", "[serve]\nidle_timeout_ms = 50\n")
        for flags in (("--idle-timeout", "0.05"), ("--config", config)):
            server = self.serve(*flags, models={"m": MODEL})
            for request in (b"", b"GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /v2 HT"):
                until(lambda: self.is_closed_early(server, request))

    def is_closed_early(self, server, request):
        """The usual time is 75 s; on a busy machine it may take longer once."""
        with server.socket() as connection:
            connection.settimeout(60)
            try:
                connection.sendall(request)
                return read_all(connection).count(b" 200 OK") == request.count(b"\r\n\r\n")
            except (TimeoutError, BrokenPipeError):
                return False

    def test_one_that_rests_for_less_is_kept(self):
        server = self.serve("--idle-timeout", "10m", models={"m": MODEL})
        with server.socket() as connection:
            for _ in range(3):
                connection.sendall(b"GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n")
                self.assertTrue(connection.recv(4096).startswith(b"HTTP/1.1 200 OK"))
            self.assertEqual(select.select([connection], [], [], 0.2)[0], [])

    def test_a_header_without_end(self):
        server = self.serve(models={"m": MODEL})
        with server.socket() as connection:
            try:
                connection.sendall(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 100_000)
            except (BrokenPipeError, ConnectionResetError):
                pass
            self.assertIn(read_all(connection)[:13], (b"HTTP/1.1 431 ", b""))
        self.expect_service(server)

    def test_many_connections(self):
        most = min(2000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
        server = self.serve("--max-connections", str(most), models={"m": MODEL})
        connections = [server.socket() for _ in range(most)]
        for connection in connections[:: most // 10]:  # all of them are served
            connection.sendall(head(len(BODY)) + BODY)
            self.assertTrue(connection.recv(1000).startswith(b"HTTP/1.1 200 OK"))
        with server.socket() as refused:
            self.assertEqual(read_all(refused), b"")
        for connection in connections:
            connection.close()
        self.expect_service(server)

    def test_requests_beyond_the_limit_of_waiting_ones_get_retry_after(self):
        server = self.serve("--max-waiting", "1", models={"m": MODEL + "gate g\n"})
        waiting = []
        while not (refused := select.select(waiting, [], [], 0.02)[0]):
            waiting.append(server.socket())
            self.addCleanup(waiting[-1].close)
            waiting[-1].sendall(head(len(BODY), "Connection: close\r\n") + BODY)
        (self.dir / "g").touch()
        for connection in waiting:
            answer = read_all(connection)
            self.assertTrue(answer.startswith(b"HTTP/1.1 429 " if connection in refused else b"HTTP/1.1 200 "), answer)
            self.assertEqual(b"Retry-After: 1\r\n" in answer, connection in refused)


class Starts(ServeTest):
    def test_a_port_that_is_taken(self):
        server = self.serve(models={"m": MODEL})
        result = self.wasinn("serve", "--http-port", str(server.port), "--model", "m=m.gguf")
        taken = f"cannot listen on 127.0.0.1:{server.port}: Address already in use"
        self.check_error(result, f"{taken} (--http-port names another port, 0 any free one)\n")
        result = self.wasinn("serve", "--http-port", "0", "--metrics-port", str(server.port), "--model", "m=m.gguf")
        self.check_error(result, f"{taken} (--metrics-port names another port, 0 any free one)\n")
        result = self.wasinn("serve", "--host", "nowhere")
        self.check_error(result, "'nowhere' is not an address")

    def test_one_of_ipv6_that_is_taken(self):
        with socket.socket(socket.AF_INET6) as other:
            port, why = 1, "Address already in use"
            try:
                other.bind(("::1", 0))
                other.listen()
                port = other.getsockname()[1]
            except OSError as error:  # a system without IPv6
                why = os.strerror(error.errno)
            self.file("m.gguf", "GGUF\n" + MODEL)
            result = self.wasinn("serve", "--host", "::1", "--http-port", str(port), "--model", "m=m.gguf")
            self.check_error(result, f"cannot listen on [::1]:{port}: {why}")

    def test_help(self):
        result = self.wasinn("serve", "--help")
        self.check(result, out="--http-port")
        for said in ("For one answer, endless loops included: 1s, 500ms; default 30s", "default 256M", "configuration and its certificates again"):
            self.assertIn(said, result.out)
        for flag in ("--engine", "--max-threads"):  # `wasinn run` has them
            self.assertNotIn(flag, result.out)
        self.check_error(self.wasinn("serve", "--nothing"), "--nothing", code=2)
