"""Connections that make one request each and then are idle."""

import resource
import socket
import struct

PATIENCE = 60  # seconds

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, HEADERS, DATA, PING = 4, 1, 0, 6
END_STREAM, ACK, END_HEADERS = 1, 1, 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A header of HTTP/2, without compression."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def call(path, message):
    """A call of gRPC, with the preface of its connection."""
    headers = [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", path.encode()),
        (b":authority", b"localhost"),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
    ]
    block = b"".join(literal(*header) for header in headers)
    data = b"\0" + struct.pack(">I", len(message)) + message
    return PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 1, block) + frame(DATA, END_STREAM, 1, data)


def grpc_ended(got):
    """Whether stream 1 has ended: its trailers have come."""
    while len(got) >= 9:
        length = int.from_bytes(got[:3], "big")
        if len(got) < 9 + length:
            return False
        if got[3] == HEADERS and got[4] & END_STREAM and int.from_bytes(got[5:9], "big") == 1:
            return True
        got = got[9 + length :]
    return False


def http_ended(got):
    head, ends, body = got.partition(b"\r\n\r\n")
    if not ends:
        return False
    lengths = [
        int(line.partition(b":")[2]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    ]
    return len(body) >= lengths[0]


def pinged(got):
    """Whether a ping was answered."""
    while len(got) >= 9:
        length = int.from_bytes(got[:3], "big")
        if got[3] == PING and got[4] & ACK:
            return True
        got = got[9 + length :]
    return False


class Connections:
    def __init__(self, protocol, port, number, body_file, path):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        body = body_file.read_bytes()
        self.is_http = protocol == "http"
        self.request = call(path, body)
        if self.is_http:
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            self.request = head.encode() + body
        self.sockets = []
        for _ in range(number):
            one = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            self.sockets.append(one)
            self.ask(one, self.request, http_ended if self.is_http else grpc_ended)

    @staticmethod
    def ask(one, request, has_ended):
        one.sendall(request)
        got = b""
        while not has_ended(got):
            more = one.recv(65536)
            assert more, "a connection was closed"
            got += more

    def ask_again(self):
        """Checks that all of them are still open."""
        request, has_ended = (self.request, http_ended) if self.is_http else (frame(PING, 0, 0, bytes(8)), pinged)
        for one in self.sockets:
            self.ask(one, request, has_ended)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.sockets:
            one.close()
