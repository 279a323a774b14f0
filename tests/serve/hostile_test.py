"""Clients that attack a server: texts that are no JSON, requests without an end, more than there is room for."""

import json
import os
import pathlib
import select
import signal
import socket

from command import longer_and_longer
from server import BODY, KILLED, MODEL, RUNNING, ServeTest, head, json_lines, read_all, until

BINARY = "Inference-Header-Content-Length: 2\r\n"
BYTES = "in x u8 -1\n"


def texts(model, count):
    """A request in JSON with so many numbers, which the echo backend gives back."""
    return {"inputs": [{"name": "x", "datatype": "UINT8", "shape": [count], "data": [7] * count}]}


def send(connection, data):
    """True: all of it. False: the server has hung up."""
    try:
        connection.sendall(data)
        return True
    except (BrokenPipeError, ConnectionResetError):
        return False


class Json(ServeTest):
    def test_what_brought_parsers_down(self):
        server = self.serve(models={"m": MODEL})
        for line in pathlib.Path(__file__).with_name("broken_json.txt").read_text().splitlines():
            with self.subTest(line):
                self.check_answer(server.infer("m", json.loads(line).encode("latin-1")), 400, "not an inference request")
        self.expect_service(server)

    def test_no_body(self):
        server = self.serve(models={"m": MODEL})
        with server.socket() as connection:
            connection.sendall(head(0, "Connection: close\r\n").replace(b"Content-Length: 0\r\n", b""))
            self.assertTrue(read_all(connection).startswith(b"HTTP/1.1 400 "))

    def test_more_than_may_be_json(self):
        server = self.serve("--max-json", "1K", models={"m": BYTES})
        self.check_answer(server.infer("m", BODY + b" " * 1024), 413, "larger than 1024 bytes")
        self.check_answer(server.infer("m", BODY + b" " * 1024, b"a"), 413, "larger than 1024 bytes")
        tensor = {"name": "x", "datatype": "UINT8", "shape": [4096], "parameters": {"binary_data_size": 4096}}
        self.check_answer(server.infer("m", {"inputs": [tensor]}, bytes(4096)), 200)  # of which tensors are none

    def test_flags_are_named_only_for_limits_that_they_set(self):
        server = self.serve("--max-json", "8K", models={"m": MODEL})
        for path, has in (("/v2/health/live", False), ("/v2/models/m/infer", True)):
            answer = server.request("POST", path, b" " * 10_000)
            self.check_answer(answer, 413, "the limit of this request")
            self.assertEqual("--max-json" in answer.json()["error"], has, answer)

    def test_of_unknown_models_nothing_is_parsed(self):
        server = self.serve(models={"m": MODEL})
        self.check_answer(server.infer("no", b"{"), 404, "there is no model 'no'")

    def test_names_that_errors_would_repeat(self):
        server = self.serve(models={"m": MODEL})
        [tensor] = json.loads(BODY)["inputs"]
        for sent in ({"id": "a" * 4097, "inputs": [tensor]}, {"inputs": [{**tensor, "name": "a" * 4097}]},
                     {"inputs": [{**tensor, "datatype": "a" * 4097}]}, {"inputs": [tensor], "outputs": [{"name": "a" * 4097}]}):
            self.check_answer(server.infer("m", sent), 400, "has more than 4096 bytes")
        self.check_answer(server.infer("m", {"id": "a" * 4096, "inputs": [tensor]}), 200)


class Framing(ServeTest):
    def expect_refusal(self, first, endless):
        """Expects the refusal of a request with this beginning and no end."""
        server = self.serve(models={"m": MODEL})
        with server.socket() as connection:
            connection.sendall(head(0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + first)
            until(lambda: not send(connection, endless))
        self.expect_service(server)

    def test_a_chunk_extension(self):
        self.expect_refusal(b"1;", b"a" * 2**20)

    def test_a_trailer(self):
        self.expect_refusal(b"0\r\n", b"a: b\r\n" * 2**17)

    def test_a_header_of_very_many_lines(self):
        """Each is held in many more bytes than it has."""
        server = self.serve(models={"m": MODEL})
        for lines, status in ((126, b"200"), (127, b"431")):  # beside Content-Length and Connection
            with server.socket() as connection:
                connection.sendall(head(len(BODY), "a:\r\n" * lines + "Connection: close\r\n").replace(b"Host: a\r\n", b"") + BODY)
                self.assertTrue(read_all(connection).startswith(b"HTTP/1.1 " + status), lines)

    def test_two_hosts(self):
        server = self.serve(models={"m": MODEL})
        for path in ("/", "/v2", "/v2/health/live", "/v1/models", "/wasinn/state"):
            with self.subTest(path), server.socket() as client:
                client.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n".encode())
                answer = read_all(client)
                self.assertTrue(answer.startswith(b"HTTP/1.1 400"), answer)
                self.assertIn(b"two headers Host", answer)

    def test_a_client_of_http_1_0_gets_no_100_continue(self):
        """It would take that for the answer."""
        server = self.serve(models={"m": MODEL})
        for version, status in ((b"HTTP/1.0", b"200"), (b"HTTP/1.1", b"100")):
            with server.socket() as connection:
                connection.sendall(head(len(BODY), "Expect: 100-continue\r\nConnection: close\r\n").replace(b"HTTP/1.1", version) + BODY)
                self.assertTrue(read_all(connection).startswith(version + b" " + status))

    def test_what_a_connection_holds_for_a_chunk(self):
        server = self.serve(models={"m": MODEL})
        for size, status in ((8 << 10, b"200"), (17 << 10, b"431")):
            with server.socket() as connection:
                connection.sendall(head(0, "Connection: close\r\n").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") +
                                   b"%x;%s\r\n%s\r\n0\r\n\r\n" % (len(BODY), b"a" * size, BODY))
                self.assertTrue(read_all(connection).startswith(b"HTTP/1.1 " + status), size)

    def test_it_gets_the_reason(self):
        """Also a client that sends all before it reads."""
        server = self.serve("--max-body", "1M", models={"m": MODEL})
        for _ in range(5):
            self.check_answer(server.request("POST", "/v2/models/m/infer", bytes(16 << 20)), 413, "larger than 1048576 bytes")

    def test_head_has_no_body(self):
        server = self.serve(models={"m": MODEL})
        with server.socket() as connection:
            connection.sendall(b"HEAD /v2/models/m HTTP/1.1\r\nHost: a\r\n\r\n" + head(len(BODY), "Connection: close\r\n") + BODY)
            first, second, body = read_all(connection).split(b"\r\n\r\n")
        self.assertTrue(first.startswith(b"HTTP/1.1 200 ") and second.startswith(b"HTTP/1.1 200 "), (first, second))
        self.assertEqual(json.loads(body)["model_name"], "m")


class Memory(ServeTest):
    """The limit of memory for all requests and responses."""

    FULL = "requests and responses have reached their limit of memory"

    def expect_refused(self, server, model, request, binary=b""):
        for _ in range(4):
            answer = server.infer(model, request, binary)
            self.check_answer(answer, 429, self.FULL)
            self.assertEqual(answer.headers["Retry-After"], "1")

    def expect_room(self, server, size):
        tensor = {"name": "x", "datatype": "UINT8", "shape": [size], "parameters": {"binary_data_size": size}}
        asked = {"inputs": [tensor], "parameters": {"binary_data_output": True}}
        self.check_answer(server.infer("m", asked, bytes(size)), 200)

    def test_a_header_holds_none(self):
        server = self.serve("--max-memory-in-flight", "1M", models={"m": BYTES})
        for _ in range(4):
            connection = server.socket()
            self.addCleanup(connection.close)
            connection.sendall(head(2**20, BINARY))
        self.expect_room(server, 400_000)

    def test_bodies(self):
        server = self.serve("--max-memory-in-flight", "1M", models={"m": BYTES})
        self.expect_refused(server, "m", BODY, bytes(2**20))
        self.expect_room(server, 400_000)  # and as much again for the answer

    def test_bodies_together(self):
        server = self.serve("--max-memory-in-flight", "1M", models={"m": BYTES})
        until(lambda: self.is_refused_beside_a_large_one(server))
        until(lambda: server.infer("m", BODY, bytes(2000)).status != 429)
        self.expect_room(server, 400_000)

    def is_refused_beside_a_large_one(self, server):
        """Unless the large one was refused, for a small one was there."""
        with server.socket() as connection:
            connection.sendall(head(2**20, BINARY) + bytes(2**20 - 1000))
            while not select.select([connection], [], [], 0)[0]:
                if server.infer("m", BODY, bytes(2000)).status == 429:
                    return True
        return False

    def test_parsing(self):
        server = self.serve("--max-memory-in-flight", "1M", models={"m": BYTES})
        self.expect_refused(server, "m", texts("m", 30_000))
        self.check_answer(server.infer("m", texts("m", 10_000)), 200)

    def test_answers(self):
        server = self.serve("--max-memory-in-flight", "1M", models={"m": BYTES, "large": BYTES + "outgrows 2000000\n"})
        self.expect_refused(server, "large", texts("large", 1))
        self.expect_refused(server, "large", {**texts("large", 1), "parameters": {"binary_data_output": True}})
        self.expect_room(server, 400_000)

    def test_answers_about_a_model(self):
        lines = "".join(f"in x{i} f32 1\n" for i in range(2000))
        server = self.serve("--max-memory-in-flight", "64K", "--max-body", "64K", models={"m": lines})
        for path in ("/v2/models/m", "/v2/models/m/config"):
            self.check_answer(server.request("GET", path), 429, self.FULL)
        self.check_answer(server.request("GET", "/v2/models/m/ready"), 200)

    LARGE = {"m": BYTES, "large": BYTES + "outgrows 8000000\n"}
    MUCH = {**texts("large", 1), "parameters": {"binary_data_output": True}}

    def ask_for_much(self, server):
        """A connection that reads nothing, and so little that little of the answer lies in the system's buffers."""
        asked = json.dumps(self.MUCH).encode()
        connection = socket.socket()
        self.addCleanup(connection.close)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(head(len(asked), model="large") + asked)
        return connection

    def test_an_unread_answer_is_held_until_its_client_leaves(self):
        server = self.serve("--max-memory-in-flight", "12M", "--client-timeout", "1h", models=self.LARGE)
        connection = self.ask_for_much(server)
        until(lambda: server.held() > 6_000_000)
        self.expect_refused(server, "large", self.MUCH)
        connection.close()
        until(lambda: server.held() < 1_000_000)
        self.assertEqual(server.infer("large", self.MUCH).status, 200)

    def test_a_client_that_does_not_read_is_hung_up_on(self):
        for timeout in longer_and_longer():
            server = self.serve("--client-timeout", f"{timeout}ms", "--access-log", f"{timeout}.log", models=self.LARGE)
            connection = self.ask_for_much(server)
            if connection.recv(12, socket.MSG_PEEK) == b"HTTP/1.1 200":  # else it was late itself
                break
        [line] = until(lambda: json_lines(self.dir / f"{timeout}.log"))
        self.assertEqual((line["status"], line["complete"]), (200, False))
        self.assertLess(len(read_all(connection)), 8_000_000)

    def test_a_body_that_stands_still(self):
        server = self.serve("--client-timeout", "100ms", models={"m": MODEL})
        with server.socket() as connection:
            connection.sendall(head(1000) + b"{")
            self.assertEqual(read_all(connection), b"")
        self.expect_service_in_time(server)


class Waiting(ServeTest):
    def test_requests_of_gone_clients_are_not_computed(self):
        server = self.serve("--max-waiting", "2", models={"m": MODEL + "turns 8\ngate g\n"})
        connections = [server.socket() for _ in range(2)]
        for connection in connections:
            connection.sendall(head(len(BODY)) + BODY)
        until(lambda: server.busy() == 2)
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 429)
        self.check_answer(server.request("GET", "/v2/models/m/ready"), 200)
        until((self.dir / "g.reached").exists)
        for connection in connections:
            connection.close()
        until(lambda: server.busy() == 0)
        server.await_metrics(f"{RUNNING} 0")

    def test_a_request_that_turns_out_slow_holds_up_no_other(self):
        """After computes that were quick, and so ran on the threads that read and write."""
        server = self.serve(models={"m": BYTES + "turns 64\nendless 9\n"})
        for _ in range(20):
            self.check_answer(server.infer("m", texts("m", 1)), 200)
        slow = BODY.replace(b"FP32", b"UINT8").replace(b"5", b"9")
        for _ in range(4 * os.cpu_count()):
            connection = server.socket()
            self.addCleanup(connection.close)
            connection.sendall(head(len(slow)) + slow)
        for _ in range(3):
            self.check_answer(server.request("GET", "/v2/health/live"), 200)
        until(lambda: f"{RUNNING} 0" not in server.metrics())
        self.check_answer(server.request("GET", "/v2/health/live"), 200)
        server.process.send_signal(signal.SIGTERM)
        self.assertIn(server.stop(signal.SIGINT), KILLED)
