#!/usr/bin/env python3
"""Measures what a remote model costs compared with only a client (gRPC's, or Boost.Beast for HTTP), and the latency if
one of three servers is dead.

usage: bench/remote/bench.py

The servers are wasinn's own, with a test backend that returns its inputs. `ninja remote-bench` builds the programs;
WASINN_BUILD names another build than build/release."""

import os
import pathlib
import re
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("WASINN_BUILD", SOURCE / "build/release"))
SIZES = (192, 150528)  # numbers: 768 bytes, 600 KB


def start(folder):
    (folder / "m.gguf").write_text("GGUF\nin x f32 -1\n")
    (folder / "echo.toml").write_text(f"backend_dirs = ['{BUILD / 'lib/wasinn-test'}']\n")
    flags = "--config echo.toml --http-port 0 --grpc-port 0 --no-metrics --no-page --model m=m.gguf"
    command = [BUILD / "bin/wasinn", "serve", *flags.split()]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    addresses = {}
    while len(addresses) < 2:
        line = process.stdout.readline()
        if found := re.match(r"serving (HTTP|gRPC) on (\S+)", line):
            addresses[found[1]] = found[2].removeprefix("http://")
        if not line:
            raise SystemExit("the server does not serve")
    return process, addresses


def bench(what, servers, n):
    done = subprocess.run([BUILD / "bin/remote-bench", what, servers, "m", str(n)], capture_output=True, text=True)
    print(f"{what}: {done.stdout or done.stderr}", end="", flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="wasinn-bench-") as folder:
        servers = [start(pathlib.Path(folder)) for _ in range(3)]
        try:
            for n in SIZES:
                bench("overhead", servers[0][1]["gRPC"], n)
                bench("overhead-http", servers[0][1]["HTTP"], n)
            addresses = ",".join(address["gRPC"] for _, address in servers)
            bench("servers", addresses, SIZES[0])
            servers[1][0].kill()
            servers[1][0].wait()
            print("one of three killed:")
            bench("servers", addresses, SIZES[0])
        finally:
            for process, _ in servers:
                process.kill()
                process.wait()


if __name__ == "__main__":
    main()
