"""Pings of clients of gRPC that keep a connection which rests: gRPC counts the time between them by a clock of its own."""

import concurrent.futures
import socket
import time

from command import WAIT
from http2 import ACK, END_HEADERS, HEADERS, PING, PREFACE, SETTINGS, frame, request
from server import MODEL, ServeTest

STREAM = frame(HEADERS, END_HEADERS, 1, request(b"/inference.GRPCInferenceService/ModelStreamInfer"))


class Pings(ServeTest):
    def answers(self, server, begin, pause):
        """All that the server says to five pings."""
        with socket.create_connection(("127.0.0.1", server.grpc_port), timeout=WAIT) as connection:
            connection.sendall(PREFACE + frame(SETTINGS) + frame(SETTINGS, ACK) + begin)
            said = b""
            for i in range(5):
                time.sleep(pause if i else 0)
                try:
                    connection.sendall(frame(PING, payload=b"%08d" % i))
                    while b"%08d" % i not in said and (more := connection.recv(65536)):
                        said += more
                except OSError:
                    pass
            return said

    def test_ten_seconds_apart_they_are_answered(self):
        server = self.serve(models={"m": MODEL})
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for said in pool.map(lambda begin: self.answers(server, begin, 10), (b"", STREAM)):
                self.assertNotIn(b"too_many_pings", said)
                self.assertIn(b"%08d" % 4, said)
        self.assertIn(b"too_many_pings", self.answers(server, b"", 0.1))

    def test_as_often_as_the_flag_says(self):
        server = self.serve("--grpc-http2-min-recv-ping-interval-without-data", "10", models={"m": MODEL})
        self.assertNotIn(b"too_many_pings", self.answers(server, b"", 0.1))
