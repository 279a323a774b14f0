#!/usr/bin/env python3
"""Makes page.jpg: page.txt as a printed page on a table, photographed askew, in uneven light; its last line is upside
down.

usage: make_page.py OUT.jpg

It needs Pillow, NumPy and the fonts of Debian's fonts-dejavu-core."""

import pathlib
import sys

import numpy
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/"
PAGE = (1000, 1120)  # the size as printed
CORNERS = ((62, 48), (742, 22), (782, 868), (18, 838))  # in the photograph: from the upper left, clockwise
PHOTO = (800, 900)
TITLE, *LINES, OVERTURNED = pathlib.Path(__file__).with_name("page.txt").read_text(encoding="utf-8").splitlines()


def printed():
    page = Image.new("RGB", PAGE, (250, 248, 240))
    draw = ImageDraw.Draw(page)
    draw.text((80, 70), TITLE, font=ImageFont.truetype(FONTS + "DejaVuSerif-Bold.ttf", 54), fill=(30, 30, 40))
    text = ImageFont.truetype(FONTS + "DejaVuSerif.ttf", 32)
    for number, line in enumerate(LINES):
        draw.text((80, 200 + 86 * number), line, font=text, fill=(40, 40, 50))
    strip = Image.new("RGB", (640, 60), (250, 248, 240))
    ImageDraw.Draw(strip).text((20, 8), OVERTURNED, font=text, fill=(120, 30, 30))
    page.paste(strip.rotate(180), (180, 990))
    return page


def from_photo_to_page():
    """The eight numbers of a perspective for Pillow, which maps each place of the photograph to its place on the
    page."""
    width, height = PAGE
    rows, targets = [], []
    for (x, y), (u, v) in zip(CORNERS, ((0, 0), (width, 0), (width, height), (0, height)), strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        targets += [u, v]
    return numpy.linalg.solve(numpy.array(rows, float), numpy.array(targets, float))


def photographed(page):
    perspective = from_photo_to_page()
    on_page = Image.new("L", PAGE, 255).transform(
        PHOTO, Image.Transform.PERSPECTIVE, perspective, Image.Resampling.BICUBIC
    )
    table = Image.new("RGB", PHOTO, (110, 78, 52))
    table.paste(page.transform(PHOTO, Image.Transform.PERSPECTIVE, perspective, Image.Resampling.BICUBIC), mask=on_page)
    pixels = numpy.asarray(table.filter(ImageFilter.GaussianBlur(0.7)), float)
    x, y = numpy.meshgrid(numpy.linspace(0, 1, PHOTO[0]), numpy.linspace(0, 1, PHOTO[1]))
    light = 1 - 0.35 * ((x - 0.3) ** 2 + (y - 0.2) ** 2)
    noise = numpy.random.default_rng(17).normal(0, 6, pixels.shape)
    return Image.fromarray(numpy.clip(pixels * light[..., None] + noise, 0, 255).astype(numpy.uint8))


if __name__ == "__main__":
    photographed(printed()).save(sys.argv[1], quality=62, optimize=True)
