#!/usr/bin/env python3
"""Draws docs/images/performance.svg: bars of the figures in the tables of docs/performance.md.

usage: bench/performance_plot.py (bench/performance.py --write-docs does it, too)"""

import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PAGE = SOURCE / "docs/performance.md"
FRAMEWORKS = {
    ".onnx": "ONNX Runtime",
    ".xml": "OpenVINO",
    ".tflite": "TensorFlow Lite",
    ".pt": "PyTorch",
    ".pb": "TensorFlow",
}

LEFT, WIDTH, BAR, ROOM = 150, 560, 15, 24  # of bars: left edge, greatest length, height, distance between groups

STYLE = """
    svg { --paper: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #818b98; --first: #0969da; --second: #bc4c00; }
    @media (prefers-color-scheme: dark) {
      svg { --paper: #0d1117; --ink: #f0f6fc; --soft: #9198a1; --line: #656c76; --first: #58a6ff; --second: #f0883e; }
    }
    text { fill: var(--ink); font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
    .head { font-weight: 600; font-size: 15px; }
    .soft { fill: var(--soft); font-size: 12px; }
    .end { text-anchor: end; }
    .paper { fill: var(--paper); stroke: var(--line); }
    .first { fill: var(--first); }
    .second { fill: var(--second); }
"""


def rows(page, section):
    """The cells of a section's tables."""
    inside = page.split(f"<!-- {section}: written by")[1].split(f"<!-- end of {section} -->")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in inside.splitlines() if line.startswith("| ")
    ]


def of_frameworks(page, model, number):
    """{framework: [core module, component]} of a model, by a pattern for the number in the column of differences."""
    found = {}
    for command, *cells in rows(page, "frameworks"):
        name = re.search(rf"/{model}(\.\w+)", command)
        if name:
            found.setdefault(FRAMEWORKS[name[1]], []).append(float(re.search(number, cells[5])[1]))
    return found


def beside_peers(page):
    """{host: [its own wasi-nn, wasinn]}"""
    called = [row for row in rows(page, "wamr-wasi-nn") if row[1] == "called each time"]
    component = [row for row in rows(page, "wasmtime-wasi-nn") if row[0] == "`mean.onnx`"]
    return {"Wasmtime": [float(row[6]) for row in component], "WAMR": [float(row[6]) for row in called]}


def panel(top, title, legend, unit, groups):
    """The panel's elements, and where it ends."""
    longest = max(value for values in groups.values() for value in values)
    out = [f'<text class="head" x="20" y="{top}">{title}</text>']
    for i, words in enumerate(legend):
        out.append(f'<rect class="{("first", "second")[i]}" x="{20 + 180 * i}" y="{top + 10}" width="12" height="12"/>')
        out.append(f'<text class="soft" x="{38 + 180 * i}" y="{top + 20}">{words}</text>')
    y = top + 36
    for name, values in groups.items():
        out.append(f'<text class="end" x="{LEFT - 10}" y="{y + BAR + 4}">{name}</text>')
        for kind, value in zip(("first", "second"), values):
            length = WIDTH * max(value, 0) / longest
            out.append(f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 2}"/>')
            out.append(f'<text class="soft" x="{LEFT + length + 6:.1f}" y="{y + BAR - 4}">{value:+g} {unit}</text>')
            y += BAR
        y += ROOM - BAR
    return out, y


def drawing(page):
    panels = (
        (
            "A small inference (768 bytes): what a guest adds, at the median",
            ("core module", "component"),
            "µs",
            of_frameworks(page, "mean", r"([+-][\d.]+) \("),
        ),
        (
            "602,112 bytes in and out: what a guest adds, at the median",
            ("core module", "component"),
            "%",
            of_frameworks(page, "relu", r"\(([+-][\d.]+) %"),
        ),
        (
            "Beside the engine's own wasi-nn: a small inference on ONNX Runtime",
            ("the engine's own", "wasinn"),
            "µs",
            beside_peers(page),
        ),
    )
    elements, y = [], 36
    for of_panel in panels:
        found, y = panel(y, *of_panel)
        elements += found
        y += 36
    height = y - 24
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {height}" role="img" aria-labelledby="title what">',
        '  <title id="title">What an inference from a guest costs beside a native one</title>',
        '  <desc id="what">Bars of the tables of docs/performance.md: small inferences and large ones of each '
        "framework, and beside the own wasi-nn of Wasmtime and WAMR.</desc>",
        f"  <style>{STYLE}  </style>",
        f'  <rect class="paper" x="1" y="1" width="858" height="{height - 2}" rx="10"/>',
        *(f"  {element}" for element in elements),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def write():
    (PAGE.parent / "images" / "performance.svg").write_text(drawing(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
