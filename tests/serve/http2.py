"""HTTP/2 written by hand, for what no client of gRPC sends."""

import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS = 1, 1, 4


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">IBI", len(payload) << 8 | kind, flags, stream) + payload


def literal(name, value):
    """A header as HPACK has it, not to be kept. Both are shorter than 127 bytes."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def request(path, *more):
    """The header block of a call."""
    return b"\x83\x86" + b"\x04" + bytes([len(path)]) + path + b"\x01\x01h" + literal(b"content-type", b"application/grpc") + literal(b"te", b"trailers") + b"".join(more)
