#!/usr/bin/env python3
"""Inferences whose shapes change, and the memory that they take: docs/reliability.md, Shapes that change.

usage: bench/soak/shapes.py [FRAMEWORK…] [--place PLACE…] [--inferences N] [--share S] [--seed N] [--config TOML] [--json FILE]

Inputs are 32 to 2,048 numbers wide, as chance says. A network for each framework (wide.py) computes them in this process, in a worker, and in a
`wasinn serve`, each in new processes. A line for each: the memory (RSS, MiB) of all its processes together, 20 times. WASINN_BUILD names another build's folder.
Exit code 1: a result is wrong, or the most memory of the last quarter is above that of before by more than the share."""

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
    """This process, and the workers that it starts by this path."""

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

    with wasinn.Host(config) as host, host.guest() as guest, guest.load_by_name("wide") as graph, graph.context() as context:

        def ask(inputs):
            (output,) = context.compute({name: wasinn.Tensor("f32", shape, data) for name, shape, data in inputs}).values()
            return output.data

        yield Here(str(config.with_name("wasinn-worker"))), ask


@contextlib.contextmanager
def in_serve(config):
    with servers.wasinn(None, "--config", config, of=()) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.ports["http"], timeout=servers.PATIENCE)

        def ask(inputs):
            tensors = [{"name": name, "datatype": "FP32", "shape": shape, "parameters": {"binary_data_size": len(data)}} for name, shape, data in inputs]
            header = json.dumps({"inputs": tensors, "parameters": {"binary_data_output": True}}).encode()
            body = b"".join([header, *(data for _, _, data in inputs)])
            connection.request("POST", "/v2/models/wide/infer", body, {"Inference-Header-Content-Length": str(len(header))})
            response = connection.getresponse()
            answer = response.read()
            assert response.status == 200, answer
            return answer[int(response.headers["Inference-Header-Content-Length"]) :]

        with contextlib.closing(connection):
            yield server, ask


PLACES = {"process": in_host, "worker": in_host, "serve": in_serve}


def run(framework, place, flags, told):
    """Puts the samples: inferences, and MiB."""
    chance = random.Random(flags.seed)
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "host.toml"
        config.with_name("wasinn-worker").symlink_to(servers.BIN.parent.resolve() / "lib/wasinn/wasinn-worker")
        isolate = "isolate = true\n" if place == "worker" else ""
        file, make, shapes_of, sum_of = MODELS[framework]
        config.with_name(file).write_bytes(make())
        config.write_text(f'worker = "{config.with_name("wasinn-worker")}"\n[models.wide]\npath = "{file}"\nbackend = "{framework}"\n{isolate}[models.wide.config]\n{flags.config}\n')
        with PLACES[place](config) as (server, ask):
            samples = []
            for done in range(1, flags.inferences + 1):
                width = chance.randint(NARROWEST, WIDEST)
                given = sum(array.array("f", ask([(name, shape, ONE * math.prod(shape)) for name, shape in shapes_of(width).items()])))
                assert given == sum_of(width), f"{given}, not {sum_of(width)}, of width {width}"
                if done * SAMPLES // flags.inferences > len(samples):
                    samples.append(server.status("VmRSS") / 1024)
            told.put(samples)


def growth_of(samples):
    """By which share the last quarter's most is above that of what was before."""
    before = len(samples) * 3 // 4
    return max(samples[before:]) / max(samples[:before]) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("frameworks", metavar="FRAMEWORK", nargs="*", choices=[*MODELS, []], help=", ".join(MODELS))
    parser.add_argument("--place", nargs="+", choices=PLACES, default=list(PLACES))
    parser.add_argument("--inferences", type=int, default=20000)
    parser.add_argument("--share", type=float, default=0.03, help="default 0.03")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--config", default="", help="lines of the model's configuration, in TOML")
    parser.add_argument("--json", help="a file for the samples")
    flags = parser.parse_args()
    rows, well = [], True
    for framework in flags.frameworks or MODELS:
        for place in flags.place:
            begin, told = time.monotonic(), multiprocessing.SimpleQueue()
            process = multiprocessing.Process(target=run, args=(framework, place, flags, told))
            process.start()
            process.join()
            samples = [] if told.empty() else told.get()
            growth = growth_of(samples) if samples else None
            good = growth is not None and growth <= flags.share
            well &= good
            rows.append({"framework": framework, "place": place, "mib": samples, "growth": growth})
            told_of = f"{' '.join(f'{one:.0f}' for one in samples)}  {growth:+.1%}" if samples else "failed"
            print(f"{framework:10} {place:8} {time.monotonic() - begin:5.0f} s  {told_of}{'' if good else '  TOO MUCH' if samples else ''}", flush=True)
    if flags.json:
        pathlib.Path(flags.json).write_text(json.dumps(rows, indent=1))
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
