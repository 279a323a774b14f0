"""Frames of HTTP/2 that no client of gRPC sends: the memory that they take, and the service of others meanwhile."""

import re
import socket
import struct

from http2 import ACK, CONTINUATION, DATA, END_HEADERS, HEADERS, PING, PREFACE, SETTINGS, WINDOW_UPDATE, frame, literal, request
from server import ServeTest

INFER = request(b"/inference.GRPCInferenceService/ModelInfer")
# A header of 3,900 bytes that is kept, and names of it, each of one byte.
KEPT = INFER + b"\x40\x01x\x7f" + bytes([0x80 | (3900 - 127) & 127, (3900 - 127) >> 7]) + b"v" * 3900
BOMB = INFER + b"\xbe" * 16000
LARGE = INFER + b"".join(literal(b"x-%d" % i, b"v" * 100) for i in range(60))
MOST = 192 << 10  # KiB beyond what it held before: 64M for requests, as much for gRPC, and a constant


class Flood(ServeTest):
    def connect_raw(self, server):
        connection = socket.create_connection(("127.0.0.1", server.grpc_port), timeout=2)
        self.addCleanup(connection.close)
        connection.sendall(PREFACE + frame(SETTINGS) + frame(SETTINGS, ACK))
        return connection

    def held_kib(self, server, what="VmHWM"):
        with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as status:
            return int(re.search(what + r":\s+(\d+)", status.read())[1])

    def flood(self, begin, again, times):
        server = self.serve("--max-memory-in-flight", "64M", "--max-body", "32M", models={"m": "in x f32 1\n"})
        self.expect_service(server)
        before = self.held_kib(server)
        connection = self.connect_raw(server)
        for piece in (begin, *[again] * times):
            try:
                connection.sendall(piece)
            except OSError:  # it was hung up on, or is not read any more
                break
            self.expect_service(server)
        self.expect_service(server)
        self.assertLess(self.held_kib(server) - before, MOST)

    def test_calls_whose_answers_are_not_read(self):
        for again in (frame(PING, payload=b"12345678") * 5000, frame(SETTINGS, payload=struct.pack(">HI", 4, 65535)) * 5000):
            self.flood(b"", again, 100)

    def test_frames_that_say_nothing(self):
        call = frame(HEADERS, END_HEADERS, 1, INFER)
        self.flood(b"", frame(WINDOW_UPDATE, payload=struct.pack(">I", 1)) * 5000, 50)
        self.flood(call, frame(DATA, stream=1) * 5000, 50)
        self.flood(frame(HEADERS, 0, 1, INFER), frame(CONTINUATION, stream=1) * 5000, 50)

    def test_headers(self):
        calls = b"".join(frame(HEADERS, END_HEADERS, i, LARGE) for i in range(1, 1001, 2))
        self.flood(b"", calls, 1)
        bombs = b"".join(frame(HEADERS, END_HEADERS, i, BOMB) for i in range(3, 203, 2))
        self.flood(frame(HEADERS, END_HEADERS, 1, KEPT), bombs, 1)
