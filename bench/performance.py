#!/usr/bin/env python3
"""Measures the figures of docs/performance.md, and prints its tables.

usage: bench/performance.py [--build DIR] [--runs N] [--seconds S] [--pin CPU] [--peers DIR] [--only SECTION…]
                            [--lines WORD] [--write-docs]

Each line of a table is one command, which measures a guest and its comparison in turns. It runs N times (default: 3),
in rounds with the section's other lines. The table shows the run whose difference is the median. Commands run under
`chrt -f 1` if that is allowed. Lines that the build cannot measure are listed below the table, and the exit status is
1. --write-docs writes each complete table to its place in docs/performance.md, and draws the bars again."""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

import performance_plot
import performance_tables as tables

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PAGE = performance_plot.PAGE
MODELS = "tests/models"
MEAN, MEAN_LARGE = f"{MODELS}/tiny/mean.onnx", f"{MODELS}/tiny/mean_large.onnx"

# TorchScript does not declare shapes.
SHAPES = {
    "mean.pt": ["--shape", "image=1x3x8x8"],
    "relu.pt": ["--shape", "x=1x3x224x224"],
    "digits.pt": ["--shape", "image=1x1x8x8"],
}
# For each framework, the tiny model, the large one, and the digits.
MEASURED = {
    "ONNX Runtime": [MEAN, f"{MODELS}/tiny/relu.onnx", "models/digits.onnx"],
    "OpenVINO": [f"{MODELS}/openvino/mean.xml", f"{MODELS}/openvino/relu.xml", "models/digits.xml"],
    "TensorFlow Lite": [f"{MODELS}/tflite/mean.tflite", f"{MODELS}/tflite/relu.tflite", "models/digits.tflite"],
    "PyTorch": [f"{MODELS}/torch/mean.pt", f"{MODELS}/torch/relu.pt", "models/digits.pt"],
    "TensorFlow": [f"{MODELS}/tensorflow/mean.pb", f"{MODELS}/tensorflow/relu.pb", "models/digits.pb"],
}
PEER_INPUTS = {"mean.onnx": "image=1x3x8x8", "relu.onnx": "x=1x3x224x224"}

# One command. The tables show its `label`. `model`, `abi` and `engine` are set if a table shows them or is sorted by
# them.
Line = collections.namedtuple(
    "Line", ["label", "command", "model", "abi", "engine", "environment"], defaults=["", "", "", {}]
)
# `lines` and `table` are functions, of the options and of the measured lines.
Section = collections.namedtuple("Section", ["lines", "table"])


def wasinn(options, model, *flags, **of):
    """A line of `wasinn bench`."""
    words = ["bench", model, *flags, "--pin", str(options.pin)]
    command = [options.build / "bin/wasinn", *words, "--json", "--seconds", options.seconds]
    return Line(f"wasinn {' '.join(words)}", command, model=model, **of)


def frameworks(options):
    for models in MEASURED.values():
        for model in models:
            shape = SHAPES.get(pathlib.Path(model).name, [])
            yield wasinn(options, model, *shape, abi="witx")
            yield wasinn(options, model, *shape, "--abi", "wit", abi="wit")


def engines(options):
    yield wasinn(options, MEAN, engine="Wasmtime")
    yield wasinn(options, MEAN, "--engine", "wamr", engine="WAMR")
    words = ["--pin", str(options.pin), MEAN]
    program = [SOURCE / ".deps/wasmedge/bin/run", options.build / "bin/wasinn-bench-wasmedge"]
    command = [*program, *words, "--json", "--seconds", options.seconds]
    label = f".deps/wasmedge/bin/run build/release/bin/wasinn-bench-wasmedge {' '.join(words)}"
    yield Line(label, command, model=MEAN, engine="WasmEdge")


def once(options):
    """The tiny and the large model of each framework, and one that only has a large input."""
    for model in (MEAN_LARGE, *(model for models in MEASURED.values() for model in models[:2])):
        yield wasinn(options, model, *SHAPES.get(pathlib.Path(model).name, []), "--abi", "once")


def wamr_peer(options):
    program, guest = options.peers / "wamr/build/bench-wamr-wasi-nn", options.build / "guests/bench.wasm"
    command = ["taskset", "-c", options.pin, program, guest, SOURCE / MEAN, options.seconds]
    return [Line("bench-wamr-wasi-nn", command, model=MEAN)]


def wasmtime_peer(options):
    environment = {"ORT_DYLIB_PATH": str(SOURCE / ".deps/lib/libonnxruntime.so.1")}
    for name, shape in PEER_INPUTS.items():
        folder = options.scratch / pathlib.Path(name).stem
        folder.mkdir()
        shutil.copy(SOURCE / MODELS / "tiny" / name, folder / "model.onnx")
        program = options.peers / "release/bench-wasmtime-wasi-nn"
        component = SOURCE / "bench/guests/bench_component.wat"
        command = ["taskset", "-c", options.pin, program, component, folder, shape, options.seconds]
        yield Line("bench-wasmtime-wasi-nn", command, model=name, environment=environment)
        yield wasinn(options, f"{MODELS}/tiny/{name}", "--abi", "wit")


SECTIONS = {
    "frameworks": Section(frameworks, tables.frameworks),
    "engines": Section(engines, tables.engines),
    "once": Section(once, tables.once),
    "wamr-wasi-nn": Section(wamr_peer, tables.wamr_peer),
    "wasmtime-wasi-nn": Section(wasmtime_peer, tables.wasmtime_peer),
}
PEERS = ("wamr-wasi-nn", "wasmtime-wasi-nn")


def real_time():
    """The words before a command that give it the lowest real-time priority, if this user has the permission."""
    allowed = shutil.which("chrt") and subprocess.run(["chrt", "-f", "1", "true"], capture_output=True).returncode == 0
    return ["chrt", "-f", "1"] if allowed else []


def run(line, priority):
    """The report, or why there is none."""
    command = list(map(str, [*priority, *line.command]))
    try:
        done = subprocess.run(
            command, cwd=SOURCE, env={**os.environ, **line.environment}, capture_output=True, text=True, timeout=300
        )
        if done.returncode != 0:
            return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        report = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return "it took more than 300 seconds"
    except (OSError, ValueError) as error:
        return str(error)
    return report if report.get("outputs_equal", True) else "the guest's outputs are not the native ones"


def measure(lines, runs, priority):
    """Returns (line, reports) for each line, and (line, why) for each line that failed. It measures in rounds, so that
    other work of the machine affects one run of several lines and not all runs of one line."""
    reports, failures = [[] for _ in lines], [None for _ in lines]
    for number in range(runs):
        for i, line in enumerate(lines):
            if failures[i] is not None:
                continue
            if sys.stderr.isatty():
                print(f"\r\033[K{number + 1}/{runs} {line.label}", end="", file=sys.stderr)
            report = run(line, priority)
            if isinstance(report, str):
                failures[i] = report
            else:
                reports[i].append(report)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    measured = [(line, found) for line, found, why in zip(lines, reports, failures) if why is None]
    return measured, [(line, why) for line, why in zip(lines, failures) if why is not None]


def machine():
    name = platform.machine()
    with contextlib.suppress(OSError):
        for row in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if row.startswith("model name"):
                name = row.partition(":")[2].strip()
                break
    return f"{name}, {os.cpu_count()} CPUs"


def conditions(options, priority, load, measured):
    """The sentence below a table that names the conditions of its measurement."""
    versions = sorted({report["framework"] for _, reports in measured for report in reports if "framework" in report})
    words = [
        f"Each row is one of {options.runs} runs of {options.seconds:g} s, the one with the median difference",
        machine(),
    ]
    words += [f"load average {load:.1f} at the start", *([f"`{' '.join(priority)}`"] if priority else []), *versions]
    return "; ".join(words) + "."


def begin_and_end(name):
    return f"<!-- {name}: written by bench/performance.py --write-docs -->", f"<!-- end of {name} -->"


def with_section(page, name, text):
    """`page` with `text` between the two comments that the section `name` has there."""
    begin, end = begin_and_end(name)
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"{PAGE.name} has no two lines '{begin}' and '{end}'")
    before, rest = page.split(begin)
    return f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}"


def show(name, options, priority):
    """Measures a section, prints it, and writes it to the page with --write-docs. Returns whether no line failed."""
    section = SECTIONS[name]
    load = os.getloadavg()[0]
    lines = list(section.lines(options))
    chosen = [line for line in lines if options.lines in line.label]
    measured, failed = measure(chosen, options.runs, priority)
    whole = len(measured) == len(lines)
    print(f"\n## {name}\n")
    # A comparison with another wasi-nn needs all of its rows.
    if measured and (whole or name not in PEERS):
        text = f"{section.table(measured)}\n\n{conditions(options, priority, load, measured)}"
        print(text, flush=True)
        if whole and options.write_docs:
            PAGE.write_text(with_section(PAGE.read_text(), name, text))
    for line, why in failed:
        print(f"\nnot measured: `{line.label}`: {why}", flush=True)
    if options.write_docs and not whole:
        print(f"\n{name} is not whole: {PAGE.name} keeps what it has")
    return not failed


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build/release")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="of each of the three measurements of a run")
    parser.add_argument("--pin", type=int, default=1)
    parser.add_argument(
        "--peers",
        type=pathlib.Path,
        help="the build folder of bench/peers, to measure its programs, too",
    )
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--lines", default="", metavar="WORD", help="only lines whose label contains WORD")
    parser.add_argument("--write-docs", action="store_true", help="write the tables to docs/performance.md")
    options = parser.parse_args()
    options.only = options.only or [name for name in SECTIONS if options.peers or name not in PEERS]
    if options.runs < 1 or options.seconds <= 0:
        parser.error("--runs and --seconds are more than 0")
    if not options.peers and set(options.only) & set(PEERS):
        parser.error("--peers DIR says where the programs of bench/peers are built")
    options.build = options.build.resolve()
    options.peers = options.peers.resolve() if options.peers else None
    return options


def main():
    options = parse()
    priority = real_time()
    with tempfile.TemporaryDirectory(prefix="wasinn-performance-") as scratch:
        options.scratch = pathlib.Path(scratch)
        results = [show(name, options, priority) for name in SECTIONS if name in options.only]
    if options.write_docs:
        performance_plot.write()
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
