"""Reads gray PNG files of 8 bits with only Python's standard library."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def read_gray(path):
    """Width, height, and the gray values row by row."""
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(SIGNATURE):
        raise ValueError("not a PNG file")
    chunks = {}
    at = len(SIGNATURE)
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunks[kind] = chunks.get(kind, b"") + data[at + 8 : at + 8 + size]
        at += size + 12  # with the checksum
    width, height, *kind = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    if kind != [8, 0, 0, 0, 0]:
        raise ValueError("not a plain gray image of 8 bits")
    return width, height, unfilter(zlib.decompress(chunks[b"IDAT"]), width, height)


def unfilter(data, width, height):
    """Each row is stored as the number of a filter, and the differences of the pixels from the filter's prediction."""
    above = bytes(width)
    pixels = bytearray()
    for row in range(height):
        line = bytearray(data[row * (width + 1) + 1 : (row + 1) * (width + 1)])
        for x in range(width):
            left, up, corner = (line[x - 1], above[x], above[x - 1]) if x else (0, above[0], 0)
            predicted = (0, left, up, (left + up) // 2, paeth(left, up, corner))[data[row * (width + 1)]]
            line[x] = (line[x] + predicted) & 255
        above = line
        pixels += line
    return bytes(pixels)


def paeth(left, up, corner):
    """The one of the three that is nearest to left + up - corner."""
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))
