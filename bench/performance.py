#!/usr/bin/env python3
"""Measures what docs/performance.md shows, and prints its table.

usage: bench/performance.py [--build DIR] [--runs N] [--seconds S] [--pin CPU] [--peers DIR] [--only WORD]

Each line of the table is one command, `wasinn bench … --json`, run N times (3); a line shows the run whose difference is the
median. With --peers, the folder that bench/README.md tells cargo to build to, Wasmtime's own wasi-nn is measured too. Runs under
`chrt -f 1` where that is allowed. A framework that the build lacks is left out, and said so."""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
MODELS = "tests/models"

# What is measured, of each framework: the tiny model, the large one, the digits. TorchScript does not say shapes.
SHAPES = {
    "mean.pt": ["--shape", "image=1x3x8x8"],
    "relu.pt": ["--shape", "x=1x3x224x224"],
    "digits.pt": ["--shape", "image=1x1x8x8"],
}
MEASURED = {
    "ONNX Runtime": [f"{MODELS}/tiny/mean.onnx", f"{MODELS}/tiny/relu.onnx", "models/digits.onnx"],
    "OpenVINO": [f"{MODELS}/openvino/mean.xml", f"{MODELS}/openvino/relu.xml", "models/digits.xml"],
    "TensorFlow Lite": [f"{MODELS}/tflite/mean.tflite", f"{MODELS}/tflite/relu.tflite", "models/digits.tflite"],
    "PyTorch": [f"{MODELS}/torch/mean.pt", f"{MODELS}/torch/relu.pt", "models/digits.pt"],
    "TensorFlow": [f"{MODELS}/tensorflow/mean.pb", f"{MODELS}/tensorflow/relu.pb", "models/digits.pb"],
}
ABIS = ("witx", "wit")
PEER_INPUTS = {"mean": "image=1x3x8x8", "relu": "x=1x3x224x224"}


def real_time():
    """The words before a command that give it the least real-time priority, where this user may."""
    allowed = shutil.which("chrt") and subprocess.run(["chrt", "-f", "1", "true"], capture_output=True).returncode == 0
    return ["chrt", "-f", "1"] if allowed else []


def commands(pin):
    for framework, models in MEASURED.items():
        for model in models:
            for abi in ABIS:
                shape = SHAPES.get(pathlib.Path(model).name, [])
                words = ["bench", model, *shape, "--pin", str(pin)]
                words += ["--abi", abi] if abi != "witx" else []
                yield framework, model, abi, words


def run(wasinn, words, seconds):
    """The report, or why there is none."""
    command = [*real_time(), wasinn, *words, "--json", "--seconds", str(seconds)]
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["no output"])[-1]
    return json.loads(done.stdout)


def row(words, runs):
    report = sorted(runs, key=lambda one: one["difference_us"])[len(runs) // 2]
    native, copy, guest = (report["p50_us"][side] for side in ("native", "native_copy", "guest"))
    allocations = "n/a" if report["allocations"] is None else f"{report['allocations']:g}"
    return (
        f"| `wasinn {' '.join(words)}` | {native:.2f} | {copy:.2f} | {guest:.2f} | {guest - copy:+.2f} "
        f"({(guest / copy - 1) * 100:+.0f} %) | {report['copies']:g} | {allocations} |"
    )


def table(options):
    wasinn = options.build / "bin/wasinn"
    print("| command | native, µs | with a memcpy each way | guest | difference | copies | allocations |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    missing = {}
    for framework, model, abi, words in commands(options.pin):
        if options.only and options.only not in f"{framework} {model} {abi}":
            continue
        runs = [run(wasinn, words, options.seconds) for _ in range(options.runs)]
        failed = [one for one in runs if isinstance(one, str)]
        if failed:
            missing[" ".join(words)] = failed[0]
            continue
        if not all(one["outputs_equal"] for one in runs):
            missing[" ".join(words)] = "the guest's outputs are not the native ones"
        print(row(words, runs), flush=True)
    for words, why in missing.items():
        print(f"\nnot measured: `wasinn {words}`: {why}")
    return bool(missing)


def peer(options):
    """Wasmtime's own wasi-nn with the same component, on the same ONNX Runtime."""
    program = options.peers / "release/bench-wasmtime-wasi-nn"
    environment = {**os.environ, "ORT_DYLIB_PATH": str(SOURCE / ".deps/lib/libonnxruntime.so.1")}
    print("\n| Wasmtime's own wasi-nn | p50, µs |\n| --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, shape in PEER_INPUTS.items():
            model = pathlib.Path(folder) / name
            model.mkdir()
            shutil.copy(SOURCE / MODELS / "tiny" / f"{name}.onnx", model / "model.onnx")
            words = [program, SOURCE / "bench/guests/bench_component.wat", model, shape, str(options.seconds)]
            command = [*real_time(), "taskset", "-c", str(options.pin), *map(str, words)]
            times = []
            for _ in range(options.runs):
                out = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True).stdout
                times.append(float(re.search(r"p50 ([0-9.]+)", out).group(1)))
            print(f"| {name}.onnx | {statistics.median(times):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build/release")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="of each run, twice")
    parser.add_argument("--pin", type=int, default=1)
    parser.add_argument("--peers", type=pathlib.Path)
    parser.add_argument("--only", help="lines whose framework, model or ABI has this word")
    options = parser.parse_args()
    options.build = options.build.resolve()
    missing = table(options)
    if options.peers:
        peer(options)
    sys.exit(missing)


if __name__ == "__main__":
    main()
