#!/usr/bin/env python3
"""usage: bench.py: what a remote model costs over gRPC's client alone, and what a dead server of three costs others.

The servers are wasinn's own, with a backend for tests that gives back what it gets. `ninja remote-bench` makes what this runs; WASINN_BUILD names
another build than build/release.
"""

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
    command = [BUILD / "bin/wasinn", "serve", "--config", "echo.toml", "--http-port", "0", "--grpc-port", "0", "--no-metrics", "--no-page",
               "--model", "m=m.gguf"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    while True:
        line = process.stdout.readline()
        if found := re.match(r"serving gRPC on (\S+)", line):
            return process, found[1]
        if not line:
            raise SystemExit("the server does not serve")


def bench(what, servers, n):
    done = subprocess.run([BUILD / "bin/remote-bench", what, servers, "m", str(n)], capture_output=True, text=True)
    print(f"{what}: {done.stdout or done.stderr}", end="", flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="wasinn-bench-") as folder:
        servers = [start(pathlib.Path(folder)) for _ in range(3)]
        try:
            for n in SIZES:
                bench("overhead", servers[0][1], n)
            addresses = ",".join(address for _, address in servers)
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
