#!/usr/bin/env python3
"""Inferences whose shapes change, and the memory that they take: docs/reliability.md, Shapes that change.

usage: bench/soak/shapes.py [FRAMEWORK…] [--place PLACE…] [--inferences N] [--share S] [--seed N]
                            [--config TOML] [--json FILE]

Inputs are 32 to 2,048 numbers wide, at random. A network for each framework (wide.py) computes them in this process, in
a worker, and in a `wasinn serve`, each in new processes. Each run prints a line: 20 samples of the memory (RSS, MiB) of
all its processes together. WASINN_BUILD names another build's folder. Exit code 1: a result is wrong, or the peak of
the last quarter is above the peak of the first three by more than the share."""

import argparse
import array
import contextlib
import http.client
import json
import math
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path += [str(SOURCE / "bench/serve"), str(SOURCE / "packaging/python")]

import servers  # noqa: E402
from wide import MODELS  # noqa: E402

NARROWEST, WIDEST = 32, 2048
ONE = array.array("f", [1]).tobytes()
SAMPLES = 20


class Here(servers.Server):
    """This process, and the workers that it starts from this path."""

    def __init__(self, worker):
        self.worker = worker

    def pids(self):
        found = subprocess.run(["pgrep", "-f", self.worker], stdout=subprocess.PIPE, text=True, check=False)
        return [os.getpid(), *map(int, found.stdout.split())]


@contextlib.contextmanager
def in_host(config):
    from wasinn import _paths

    _paths.PREFIX = servers.BIN.parent.resolve()
    import wasinn

    with contextlib.ExitStack() as stack:
        host = stack.enter_context(wasinn.Host(config))
        guest = stack.enter_context(host.guest())
        graph = stack.enter_context(guest.load_by_name("wide"))
        context = stack.enter_context(graph.context())

        def ask(inputs):
            tensors = {name: wasinn.Tensor("f32", shape, data) for name, shape, data in inputs}
            (output,) = context.compute(tensors).values()
            return output.data

        yield Here(str(config.with_name("wasinn-worker"))), ask


@contextlib.contextmanager
def in_serve(config):
    with servers.wasinn(None, "--config", config, of=()) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.ports["http"], timeout=servers.PATIENCE)

        def ask(inputs):
            tensors = [
                {"name": name, "datatype": "FP32", "shape": shape, "parameters": {"binary_data_size": len(data)}}
                for name, shape, data in inputs
            ]
            header = json.dumps({"inputs": tensors, "parameters": {"binary_data_output": True}}).encode()
            body = b"".join([header, *(data for _, _, data in inputs)])
            headers = {"Inference-Header-Content-Length": str(len(header))}
            connection.request("POST", "/v2/models/wide/infer", body, headers)
            response = connection.getresponse()
            answer = response.read()
            assert response.status == 200, answer
            return answer[int(response.headers["Inference-Header-Content-Length"]) :]

        with contextlib.closing(connection):
            yield server, ask


PLACES = {"process": in_host, "worker": in_host, "serve": in_serve}


def run(framework, place, flags, results):
    """Puts the samples, in MiB, into the queue `results`."""
    chance = random.Random(flags.seed)
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "host.toml"
        config.with_name("wasinn-worker").symlink_to(servers.BIN.parent.resolve() / "lib/wasinn/wasinn-worker")
        isolate = "isolate = true\n" if place == "worker" else ""
        file, make, shapes_of, sum_of = MODELS[framework]
        config.with_name(file).write_bytes(make())
        config.write_text(
            f'worker = "{config.with_name("wasinn-worker")}"\n'
            f'[models.wide]\npath = "{file}"\nbackend = "{framework}"\n{isolate}'
            f"[models.wide.config]\n{flags.config}\n"
        )
        with PLACES[place](config) as (server, ask):
            samples = []
            for done in range(1, flags.inferences + 1):
                width = chance.randint(NARROWEST, WIDEST)
                inputs = [(name, shape, ONE * math.prod(shape)) for name, shape in shapes_of(width).items()]
                given = sum(array.array("f", ask(inputs)))
                assert given == sum_of(width), f"{given}, not {sum_of(width)}, of width {width}"
                if done * SAMPLES // flags.inferences > len(samples):
                    samples.append(server.status("VmRSS") / 1024)
            results.put(samples)


def growth_of(samples):
    """By which share the peak of the last quarter is above the peak of the samples before."""
    before = len(samples) * 3 // 4
    return max(samples[before:]) / max(samples[:before]) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("frameworks", metavar="FRAMEWORK", nargs="*", choices=[*MODELS, []], help=", ".join(MODELS))
    parser.add_argument("--place", nargs="+", choices=PLACES, default=list(PLACES))
    parser.add_argument("--inferences", type=int, default=20000)
    parser.add_argument("--share", type=float, default=0.03, help="default: 0.03")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--config", default="", help="lines of the model's configuration, in TOML")
    parser.add_argument("--json", help="a file for the samples")
    flags = parser.parse_args()
    rows, well = [], True
    for framework in flags.frameworks or MODELS:
        for place in flags.place:
            begin, results = time.monotonic(), multiprocessing.SimpleQueue()
            process = multiprocessing.Process(target=run, args=(framework, place, flags, results))
            process.start()
            process.join()
            samples = [] if results.empty() else results.get()
            growth = growth_of(samples) if samples else None
            good = growth is not None and growth <= flags.share
            well &= good
            rows.append({"framework": framework, "place": place, "mib": samples, "growth": growth})
            words = "failed"
            if samples:
                words = f"{' '.join(f'{one:.0f}' for one in samples)}  {growth:+.1%}{'' if good else '  TOO MUCH'}"
            print(f"{framework:10} {place:8} {time.monotonic() - begin:5.0f} s  {words}", flush=True)
    if flags.json:
        pathlib.Path(flags.json).write_text(json.dumps(rows, indent=1))
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
