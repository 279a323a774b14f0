#!/usr/bin/env python3
"""Prints the characters that a model of rapidocr knows, one per line: they are in the metadata of its file.

usage: characters.py MODEL.onnx >characters.txt

It only needs Python's standard library. The file is a message of Protocol Buffers, ModelProto: its fields 14 are pairs
of a name (1) and a text (2)."""

import pathlib
import sys


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, content) of the fields that have a length; the other fields of these messages are numbers."""
    at = 0
    while at < len(data):
        tag, at = number(data, at)
        size, at = number(data, at)
        if tag & 7 == 2:
            yield tag >> 3, data[at : at + size]
            at += size


def main():
    model = memoryview(pathlib.Path(sys.argv[1]).read_bytes())
    metadata = [dict(fields(content)) for field, content in fields(model) if field == 14]
    texts = {bytes(pair[1]).decode(): bytes(pair[2]).decode() for pair in metadata}
    sys.stdout.reconfigure(encoding="utf-8")
    print(texts["character"])


if __name__ == "__main__":
    main()
