#!/usr/bin/env python3
"""Measures `wasinn serve` with a guest for each request, for the simulation of bench/scale/simulate.py: docs/scale.md.

usage: bench/scale/measure.py RECORD.json [--seconds S] [--rounds N] [--server-cpu N] [--client-cpu N]
                              [--guest FILE] [--body FILE] [--flag=FLAG]…

It records how long requests take one by one, in 500 steps; the highest rate of answers per second; the answers at
several rates, some of them above the highest; and the server's processor time, its memory, and the time until its first
answer. Rates take turns, and the record has medians of the turns. The server has one processor, the client another one.
WASINN_BUILD names another build's folder."""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "serve"))

import servers  # noqa: E402
from load import Load  # noqa: E402

STEPS = 500
SHARES = (0.3, 0.5, 0.7, 0.8, 0.9, 1.5)  # of the highest rate
CONNECTIONS = 192
MAX_WAITING = 64  # low, so that the queue fills up within a short turn
IMAGE = servers.SOURCE / "examples/classify/images/0002_label-2.png"
GUEST = servers.BIN.parent / "guests/classify_route.wasm"
ROUTE = "/classify"


# A program that computes without an end, and measures for how long another one had its processor.
NOTICE = """import time
gaps, last, end = [], time.perf_counter(), time.perf_counter() + 1
while last < end:
    now = time.perf_counter()
    if now - last > 2e-4: gaps.append(now - last)
    last = now
print(sorted(gaps)[len(gaps) // 2] * 1e6)"""
SPIN = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"


class Awake:
    """Work of the lowest priority. It keeps a processor from sleeping, and keeps other programs off it, which would
    have to be interrupted when a request comes. Its own processor time is the time that was left."""

    def __init__(self, processor):
        self.process = subprocess.Popen(["taskset", "-c", processor, sys.executable, "-c", SPIN])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def seconds(self):
        return seconds_of_processor(self.process.pid)


def serve(options, *flags, cpus=None):
    return servers.wasinn(cpus or options.server_cpu, "--route", f"{ROUTE}={options.guest}", *options.flag, *flags)


def loaded(options, server, connections):
    return Load(server.ports["http"], ROUTE, options.body.read_bytes(), connections)


def steps_of(values):
    """The means of STEPS parts of the sorted values. The mean of all values stays the same."""
    values = sorted(values)
    cuts = [len(values) * step // STEPS for step in range(STEPS + 1)]
    return [round(statistics.fmean(values[begin:end]), 1) for begin, end in zip(cuts, cuts[1:]) if end > begin]


def one_by_one(options, folder):
    """How long requests take that never wait, by the server's access log and by the client."""
    log = pathlib.Path(folder) / "access.jsonl"
    with serve(options, "--access-log", log) as server, loaded(options, server, 1) as load:
        load.run(1)
        result = load.run(options.seconds * options.rounds, warm_up=0)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    took = [line["duration_us"] for line in lines if line.get("target") == ROUTE]
    return {
        "service_us": steps_of(took[len(took) // 10 :]),
        "alone_us": {key: round(result[key], 1) for key in ("mean_us", "p50_us", "p99_us")},
    }


def seconds_of_processor(pid):
    """The processor time of all threads of a process, in seconds."""
    return sum(int(task.read_text().split()[0]) for task in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def at_rates(options, awake):
    """The highest rate, and the answers at shares of it, in turns."""
    runs = {share: [] for share in SHARES}
    most, each_us = [], []
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(serve(options, "--max-waiting", MAX_WAITING))
        load = stack.enter_context(loaded(options, server, CONNECTIONS))
        few = stack.enter_context(loaded(options, server, 16))
        few.run(1)
        for turn in range(options.rounds):
            before = seconds_of_processor(server.process.pid)
            most.append(few.run(options.seconds, warm_up=0)["per_s"])
            each_us.append((seconds_of_processor(server.process.pid) - before) / (most[-1] * options.seconds) * 1e6)
            for share in SHARES if turn % 2 == 0 else reversed(SHARES):
                runs[share].append(at_rate(options, server, load, awake, share * statistics.median(most), turn))
        memory = {
            "rss_mb": server.status("VmRSS") / 1024,
            "threads": server.status("Threads"),
            "descriptors": server.descriptors(),
        }
    rates = [
        {"share": share} | {key: round(statistics.median(run[key] for run in all_runs), 4) for key in all_runs[0]}
        for share, all_runs in runs.items()
    ]
    return {
        "most_per_s": round(statistics.median(most), 1),
        "processor_us": round(statistics.median(each_us), 1),
        "max_waiting": MAX_WAITING,
        "connections": CONNECTIONS,
        "rates": rates,
        "memory": {key: round(value, 1) for key, value in memory.items()},
    }


def at_rate(options, server, load, awake, rate, seed):
    """The answers at one rate, and the shares of the processor that were left and that other programs had."""

    def clocks():
        return time.monotonic(), awake.seconds(), seconds_of_processor(server.process.pid)

    before = clocks()
    result = load.run(options.seconds, rate=rate, seed=seed)
    took, idle, ours = (now - then for now, then in zip(clocks(), before))
    refused = result["statuses"].get(429, 0) / sum(result["statuses"].values())
    others = max(0, 1 - (idle + ours) / took)
    times = {key: result[key] for key in ("per_s", "mean_us", "p50_us", "p99_us")}
    return {"rate": rate, **times, "refused": refused, "idle": idle / took, "others": others}


def on_two(options):
    """Processor time of a request if the server may use both processors, one of which the client uses, too."""
    cpus, seconds = f"{options.server_cpu},{options.client_cpu}", options.seconds * options.rounds
    with serve(options, cpus=cpus) as server, loaded(options, server, 16) as load:
        load.run(1)
        before = seconds_of_processor(server.process.pid)
        requests = load.run(seconds, warm_up=0)["per_s"] * seconds
        took = seconds_of_processor(server.process.pid) - before
    return {"on_two_us": round(took / requests * 1e6, 1)}


def turns(options):
    """For how long the system gives a processor to one of several threads that compute."""
    pin = ["taskset", "-c", options.server_cpu.split(",")[0], sys.executable, "-c"]
    with subprocess.Popen([*pin, "while True: pass"]) as other:
        printed = subprocess.run([*pin, NOTICE], check=True, stdout=subprocess.PIPE).stdout
        other.kill()
    return {"turn_us": round(float(printed), 1)}


def first_answer(options, cache):
    """Seconds from a server's start to its first answer. By then it has opened the framework, loaded the model, and
    compiled the guest or read it from the cache."""
    os.environ["XDG_CACHE_HOME"] = cache
    start = time.monotonic()
    with serve(options) as server:
        servers.post(server.ports["http"], ROUTE, options.body.read_bytes())
        return time.monotonic() - start


def starts(options):
    seconds = {"compiled": [], "cached": []}
    kept = os.environ.get("XDG_CACHE_HOME")
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as cache:
            for what in seconds:
                seconds[what].append(first_answer(options, cache))
    os.environ.pop("XDG_CACHE_HOME")
    if kept is not None:
        os.environ["XDG_CACHE_HOME"] = kept
    return {"first_answer_s": {what: round(statistics.median(took), 3) for what, took in seconds.items()}}


def machine():
    models = [
        line.split(":")[1].strip()
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "processor": models[0],
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=pathlib.Path, metavar="RECORD.json")
    parser.add_argument("--seconds", type=float, default=2, help="length of each turn (default: 2)")
    parser.add_argument("--rounds", type=int, default=5, help="turns (default: 5)")
    parser.add_argument(
        "--guest", type=pathlib.Path, default=GUEST, help="a program behind a route (default: classify_route.wasm)"
    )
    parser.add_argument(
        "--body", type=pathlib.Path, default=IMAGE, help="body of each request (default: a picture of a digit)"
    )
    parser.add_argument(
        "--flag",
        action="append",
        default=[],
        help="a flag of wasinn serve, such as --flag=--model=NAME=FILE; the server always has the model digits",
    )
    parser.add_argument("--server-cpu", default="0", help="processor of the server (default: 0)")
    parser.add_argument("--client-cpu", default="1", help="processor of the client (default: 1)")
    parser.add_argument(
        "--beside-others",
        action="store_true",
        help="do not take precedence over other programs of this machine, which are not disturbed then",
    )
    options = parser.parse_args()
    os.sched_setaffinity(0, {int(options.client_cpu)})
    record = {
        "command": shlex.join(["bench/scale/measure.py", *(word for word in sys.argv[1:])]),
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "guest": options.guest.name,
        "body": options.body.name,
    }
    precedence = contextlib.nullcontext if options.beside_others else servers.precedence
    with tempfile.TemporaryDirectory() as folder, precedence():
        record |= turns(options)
        with Awake(options.server_cpu) as awake:
            record |= one_by_one(options, folder)
            record |= at_rates(options, awake)
        record |= on_two(options) | starts(options)
    options.record.write_text(json.dumps(record, indent=1) + "\n")
    for key, value in record.items():
        if key != "service_us":
            print(f"{key:14} {json.dumps(value)}")


if __name__ == "__main__":
    main()
