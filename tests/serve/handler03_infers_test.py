"""Components of WASI 0.3 behind paths that infer with wasi:nn@0.3.0-draft: overlapping and abandoned computes."""

import concurrent.futures
import http.client
import unittest

from configured import HURRIED
from handler03_test import Handler03Test
from server import until

FLOAT = "in x f32 1\n"
TEXT = "in x u8 -1 opaque\npieces 4\n"
COMPUTES_NOTHING = ("wasinn_contexts 0", "wasinn_tensors 0", "wasinn_inferences_running 0", "wasinn_inferences_waiting 0")
NOTHING_IS_HELD = ("wasinn_guests 1", *COMPUTES_NOTHING)  # one is the models'


class InfersTest(Handler03Test):
    def setUp(self):
        super().setUp()
        self.clients = concurrent.futures.ThreadPoolExecutor(8)
        self.addCleanup(self.clients.shutdown)

    def gated(self, name, lines=FLOAT):
        """A model whose computes take turns, and wait until the test opens its gate."""
        return f"{lines}turns 0\ngate {self.dir / name}.gate\n"

    def open_gate(self, name):
        self.file(f"{name}.gate", "")

    def await_gate(self, *names):
        until(lambda: all((self.dir / f"{name}.gate.reached").exists() for name in names))

    def begin_at_gate(self, server, path, *names):
        """A connection whose request has computes that wait at their gates."""
        client = server.socket()
        self.addCleanup(client.close)
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        self.await_gate(*names)
        return client

    def serve_few(self, models):
        """One compute at a time, of all guests."""
        return self.serve_handler("--config", self.configure("max_computes = 1\n"), models=models)


class Infers(InfersTest):
    def test_computes_of_a_request_overlap(self):
        server = self.serve_handler(models={"a": self.gated("a"), "b": self.gated("b")})
        answer = self.clients.submit(self.ask, server, "infer?a,b")
        self.await_gate("a", "b")
        self.open_gate("b")
        self.open_gate("a")
        self.assertEqual(answer.result().body, b"3")
        server.await_metrics(*NOTHING_IS_HELD)

    def test_requests_have_an_instance_each(self):
        server = self.serve_handler(models={"a": self.gated("a"), "m": FLOAT})
        answers = [self.clients.submit(self.ask, server, "infer?a") for _ in range(2)]
        server.await_metrics("wasinn_inferences_running 2")
        self.assertEqual(self.ask(server, "infer?m,m").body, b"3")
        self.open_gate("a")
        self.assertEqual([answer.result().body for answer in answers], [b"1", b"1"])

    def test_a_compute_that_is_dropped_gives_its_turn_back(self):
        server = self.serve_handler(models={"g": self.gated("g"), "m": FLOAT})
        for _ in range(20):
            self.assertEqual(self.ask(server, "infer-first?g,m").body, b"2")
        server.await_metrics(*NOTHING_IS_HELD)

    def test_pieces_go_out_as_they_come(self):
        server = self.serve_handler(models={"s": self.gated("s", TEXT) + f"gated {ord('!')}\n"})
        connection = server.connect()
        self.addCleanup(connection.close)
        connection.request("POST", "/h/speak?s", b"one two!")
        response = connection.getresponse()
        self.assertEqual(response.read1(), b"data: one \n\n")
        self.await_gate("s")
        self.open_gate("s")
        self.assertEqual(response.read(), b"data: two!\n\n")
        server.await_metrics(*NOTHING_IS_HELD)

    def test_errors_are_the_guests(self):
        server = self.serve_handler(models={"n": TEXT + "room 4\n", "f": FLOAT + "fail 1\n"})
        self.assertEqual(server.request("POST", "/h/speak?n", b"one two!").body, b"data: one \n\nerror: echo: no room is left\n\n")
        self.ask(server, "infer?f", 500)
        self.ask(server, "infer?none", 500)
        self.log_of(server)


class Ends(InfersTest):
    def test_a_client_that_leaves_ends_its_computes(self):
        server = self.serve_few(models={"g": self.gated("g"), "t": self.gated("t", TEXT), "m": FLOAT})
        for path, name in (("infer?g,m", "g"), ("speak?t", "t")):
            with self.subTest(path=path):
                self.begin_at_gate(server, f"/h/{path}", name).close()
                server.await_metrics(*NOTHING_IS_HELD)
                self.assertEqual(self.ask(server, "infer?m,m").body, b"3")
        self.open_gate("g")
        self.assertEqual(self.ask(server, "infer?g").body, b"1")
        self.assertEqual(self.log_of(server).count("the guest was stopped"), 2)

    def test_computes_end_with_the_answer(self):
        server = self.serve_few(models={"g": self.gated("g"), "m": FLOAT})
        self.assertEqual(self.ask(server, "infer-left?g").body, b"whole")
        server.await_metrics(*NOTHING_IS_HELD)
        self.assertEqual(self.ask(server, "infer?m").body, b"1")

    def test_a_trap_ends_the_computes_of_its_own_request(self):
        server = self.serve_handler(models={"g": self.gated("g"), "h": self.gated("h"), "m": FLOAT})
        other = self.clients.submit(self.ask, server, "infer?g,m")
        self.await_gate("g")
        for _ in range(3):
            self.check_answer(server.request("GET", "/h/infer-trap?h,g"), 502, "it ended in a trap")
        server.await_metrics("wasinn_guests 2", "wasinn_inferences_running 1")
        self.open_gate("g")
        self.assertEqual(other.result().body, b"3")
        server.await_metrics(*NOTHING_IS_HELD)
        self.log_of(server)

    def test_the_deadline_ends_computes(self):
        server = self.for_two(self.serve_handler, models={"g": self.gated("g"), "t": self.gated("t", TEXT), "m": FLOAT})
        self.check_answer(server.request("GET", "/h/infer?g,m", headers=HURRIED), 504, "was not done within 200 ms")
        with self.assertRaises(http.client.IncompleteRead):  # its head was sent
            server.request("GET", "/h/speak?t", headers=HURRIED)
        server.await_metrics(*COMPUTES_NOTHING)
        self.assertEqual(self.ask(server, "infer?m").body, b"1")
        self.log_of(server)


if __name__ == "__main__":
    unittest.main()
