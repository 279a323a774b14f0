#!/usr/bin/env python3
"""Measures `wasinn serve`: docs/performance-serving.md.

usage: bench/serve/bench.py WHAT… [--json FILE] [--seconds S] [--rounds N] [--server-cpu N] [--client-cpu N]

  throughput  REST and gRPC beside Triton and beside servers that only echo: as many requests as are answered, of 1, 8 and 32 connections
  load80      what answers take at 80 % of the most requests, which come evenly, and at random (Poisson), beside servers that only echo
  routes      a guest for each request beside a process for each, and what an instance costs that reloads its model, or is kept
  idle        memory of 10,000 connections that rest, HTTP and gRPC
  texts       streams of a language model over /v1, and the turns of a chat, beside llama.cpp's own server (scripts/deps.sh llama-server)
  flood       one tenant's p99, alone and beside another one that asks over 64 connections as fast as it is answered
  beside      digits' p99, alone and beside a remote server that never answers, a model that computes for long, and a load that never ends
  soak        80 % load for 10 minutes: memory, threads and descriptors at its beginning and its end

What is compared takes turns, the server on one processor and the client on another; told are medians of the turns. Exit code 1: a target is missed."""

import argparse
import contextlib
import hashlib
import json
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import idle
import servers
import texts

CONNECTIONS = (1, 8, 32)
# Of 128, each of which rests for 20 ms between requests, 1 in 100 takes 40 ms over gRPC, with a bare server too.
AT_A_RATE = 16
PATHS = {"http": servers.REST, "grpc": servers.GRPC}
ANSWER_BYTES = {"http": 240, "grpc": 90}  # of a body, as wasinn's
IMAGE = servers.SOURCE / "examples/classify/images/0002_label-2.png"
FLOOD = 64  # connections
GUEST = servers.BIN.parent / "guests/classify_route.wasm"


class Report:
    def __init__(self):
        self.figures, self.missed = {}, []

    def tell(self, name, value, most=None, least=None):
        """A figure, and between what it should be."""
        self.figures[name] = value
        target, is_missed = "", False
        if least is not None:
            target, is_missed = f"  (target: at least {least})", value < least
        if most is not None:
            target, is_missed = f"  (target: no more than {most})", value > most
        if is_missed:
            self.missed.append(name)
        print(f"{name:58} {value:12,.2f}{target}{'  MISSED' if is_missed else ''}", flush=True)


class Bench:
    def __init__(self, options, report):
        self.options, self.report = options, report
        self.folder = pathlib.Path(options.folder)
        (self.folder / "http").write_bytes(servers.rest_body())
        (self.folder / "grpc").write_bytes(servers.grpc_body())

    def command(self, port, protocol, connections, rate=0, seconds=None, path=None, body=None, warm_up=0.5, key=None, poisson=False):
        command = ["taskset", "-c", self.options.client_cpu, servers.BIN / "serve-load", "--protocol", protocol, "--port", port,
                   "--path", path or PATHS[protocol], "--body", body or self.folder / protocol, "--connections", connections, "--rate", rate,
                   "--seconds", seconds or self.options.seconds, "--warm-up", warm_up, *(["--poisson"] if poisson else []), *(["--key", key] if key else [])]
        return list(map(str, command))

    def load(self, *args, **more):
        told = json.loads(subprocess.run(self.command(*args, **more), check=True, stdout=subprocess.PIPE).stdout)
        assert told["requests"] > 0 and told["errors"] == 0, told
        return told

    def wasinn(self, *flags):
        return servers.wasinn(self.options.server_cpu, *flags)

    def echo(self, protocol):
        return servers.echo(protocol, self.options.server_cpu, ANSWER_BYTES[protocol], self.options.echo_threads)

    def turns(self, sides, protocol, connections):
        """The medians of each side."""
        told = {side.name: [] for side in sides}
        for turn in range(self.options.rounds):
            for side in sides if turn % 2 == 0 else reversed(sides):
                told[side.name].append(self.load(side.ports[protocol], protocol, connections))
        return {name: {key: statistics.median(one[key] for one in all_told) for key in all_told[0]} for name, all_told in told.items()}

    def throughput(self):
        with contextlib.ExitStack() as stack:
            wasinn = stack.enter_context(self.wasinn())
            triton = stack.enter_context(servers.triton(self.options.server_cpu, self.folder))
            echoes = {protocol: stack.enter_context(self.echo(protocol)) for protocol in PATHS}
            for protocol in PATHS:
                for connections in CONNECTIONS:
                    told = self.turns([wasinn, triton, echoes[protocol]], protocol, connections)
                    self.compare(f"{protocol}, {connections} connections", told, f"echo_{protocol}")

    def compare(self, what, told, echo):
        tell, ours, triton, bare = self.report.tell, told["wasinn"], told["triton"], told[echo]
        for name, side in told.items():
            tell(f"{what}: {name}, requests/s", side["per_s"])
            tell(f"{what}: {name}, p50 in µs", side["p50_us"])
            tell(f"{what}: {name}, p99 in µs", side["p99_us"])
        tell(f"{what}: requests/s, as multiple of Triton's", ours["per_s"] / triton["per_s"], least=1)
        tell(f"{what}: p99, as share of Triton's", ours["p99_us"] / triton["p99_us"], most=1)
        tell(f"{what}: requests/s, as share of the echo's", ours["per_s"] / bare["per_s"], least=0.8)

    def load80(self):
        """Beside the echo at 80 % of its own most: what its p99 has, the machine adds."""
        with self.wasinn() as wasinn, self.echo("http") as http, self.echo("grpc") as grpc:
            for protocol, echo in {"http": http, "grpc": grpc}.items():
                told = {(side.name, how): [] for side in (wasinn, echo) for how in ("even", "random")}
                for _ in range(self.options.rounds):
                    for side in (wasinn, echo):
                        port = side.ports[protocol]
                        rate = 0.8 * self.load(port, protocol, 32)["per_s"]
                        for how in ("even", "random"):
                            told[side.name, how].append(self.load(port, protocol, AT_A_RATE, rate=rate, poisson=how == "random"))
                for (name, how), all_told in told.items():
                    self.tell_tail(f"{protocol}, 80 % load, {how}: {name}", all_told, is_ours=name == "wasinn")

    def tell_tail(self, what, all_told, is_ours):
        middle = sorted(all_told, key=lambda one: one["p99_us"] / one["p50_us"])[len(all_told) // 2]
        for key, text in {"per_s": "requests/s", "p50_us": "p50 in µs", "p90_us": "p90 in µs", "p99_us": "p99 in µs"}.items():
            self.report.tell(f"{what}, {text}", middle[key])
        # At random even a server that always takes the same time has 4.8.
        self.report.tell(f"{what}, p99, as multiple of p50", middle["p99_us"] / middle["p50_us"], most=5 if is_ours else None)

    def process(self):
        """Seconds of one `wasinn run` that answers the same request."""
        command = ["taskset", "-c", self.options.server_cpu, servers.BIN / "wasinn", "run", "--model", f"digits={servers.MODEL}",
                   "--env", "REQUEST_METHOD=POST", GUEST]
        with open(IMAGE, "rb") as body:
            start = time.monotonic()
            out = subprocess.run(command, stdin=body, stdout=subprocess.PIPE, check=True).stdout
            took = time.monotonic() - start
        assert b"scores" in out, out
        return took

    def routes(self):
        tell = self.report.tell
        with self.wasinn("--route", f"/classify={GUEST}") as wasinn:
            self.process()  # which fills the cache of compiled guests
            per_s, p99, processes = [], [], []
            for _ in range(self.options.rounds):
                told = self.load(wasinn.ports["http"], "http", 1, path="/classify", body=IMAGE)
                per_s.append(told["per_s"])
                p99.append(told["p99_us"])
                processes += [self.process() for _ in range(5)]
        process = 1 / statistics.median(processes)
        tell("route, a guest for each request: requests/s", statistics.median(per_s))
        tell("route, a guest for each request: p99 in µs", statistics.median(p99))
        tell("a process for each request: requests/s", process)
        tell("a guest for each, as multiple of a process for each", statistics.median(per_s) / process, least=10)
        command = ["taskset", "-c", self.options.server_cpu, servers.BIN / "serve-instances", servers.MODEL]
        told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        names = {"fresh": "a fresh instance, named model", "reloaded": "a fresh instance that loads its model", "reused": "an instance for 128 requests"}
        for name, text in names.items():
            tell(f"{text}: µs of an inference", told[name]["mean_us"])
            tell(f"{text}: p99 in µs", told[name]["p99_us"])

    def idle(self):
        for protocol in ("http", "grpc"):
            with self.wasinn() as wasinn:
                # What a first request brings with it is not the connections'.
                self.load(wasinn.ports[protocol], protocol, 8, seconds=1)
                before = wasinn.status("VmRSS")
                rested = idle.Connections(protocol, wasinn.ports[protocol], self.options.connections, self.folder / protocol, PATHS[protocol])
                with rested:
                    grown = (wasinn.status("VmRSS") - before) / 1000 * 1.024
                    self.report.tell(f"{protocol}, {self.options.connections} idle connections: MB more", grown, most=200)
                    rested.ask_again()

    def texts(self):
        texts.run(self, self.options)

    def flood(self):
        names, flags = ("calm", "flood"), []
        config = self.folder / "tenants.toml"
        config.write_text("".join(f'[tenants.{name}]\nkeys = ["sha256:{hashlib.sha256(name.encode()).hexdigest()}"]\n' for name in names))
        with self.wasinn("--config", config) as wasinn:
            for protocol in ("http", "grpc"):
                port, told = wasinn.ports[protocol], {"alone": [], "beside": []}
                for _ in range(self.options.rounds):
                    told["alone"].append(self.load(port, protocol, 1, key="calm"))
                    flood = subprocess.Popen(["nice", "-n", "39", *self.command(port, protocol, FLOOD, seconds=self.options.seconds + 2, warm_up=0, key="flood")],
                                             stdout=subprocess.PIPE)
                    told["beside"].append(self.load(port, protocol, 1, key="calm"))
                    assert json.loads(flood.communicate()[0])["errors"] == 0
                middle = {how: statistics.median(one["p99_us"] for one in all_told) for how, all_told in told.items()}
                for how, p99 in middle.items():
                    self.report.tell(f"{protocol}, {how}: p99 in µs", p99)
                self.report.tell(f"{protocol}, beside a flood: p99, as multiple", middle["beside"] / middle["alone"], most=2)

    def beside(self):
        """Of 40 requests for what stands still, while digits is asked over one connection. The slow ones are the echo backend's (tests)."""
        with socket.create_server(("127.0.0.1", 0), backlog=128) as hung:
            slow = {"a hung server": f"http://127.0.0.1:{hung.getsockname()[1]}/v2/models/far"}
            for what, word in (("a slow model", "gate"), ("a long load", "load_gate")):
                slow[what] = self.folder / f"{word}.gguf"
                slow[what].write_text(f"GGUF\nin x f32 1\n{word} {self.folder}/never\n")
            flags = [flag for i, path in enumerate(slow.values()) for flag in ("--model", f"slow{i}={path}")]
            config = self.folder / "echo.toml"
            config.write_text(f"backend_dirs = ['{servers.BIN.parent / 'lib/wasinn-test'}']\n")
            with self.wasinn("--config", config, *flags) as wasinn:
                port = wasinn.ports["http"]
                alone = [self.load(port, "http", 1)["p99_us"] for _ in range(self.options.rounds)]
                self.report.tell("digits alone: p99 in µs", statistics.median(alone))
                for i, what in enumerate(slow):
                    with contextlib.ExitStack() as stack:
                        for _ in range(40):
                            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                            body = b'{"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [5]}]}'
                            client.sendall(f"POST /v2/models/slow{i}/infer HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
                        beside = [self.load(port, "http", 1)["p99_us"] for _ in range(self.options.rounds)]
                    self.report.tell(f"digits beside {what}: p99, as multiple", statistics.median(beside) / statistics.median(alone), most=2)

    def soak(self):
        with self.wasinn() as wasinn:
            for protocol in ("http", "grpc"):
                port = wasinn.ports[protocol]
                most = self.load(port, protocol, 32)["per_s"]
                self.load(port, protocol, AT_A_RATE, rate=0.8 * most, seconds=5)
                seconds = self.options.soak_seconds / 2
                begin = self.state(wasinn)
                told = self.load(port, protocol, AT_A_RATE, rate=0.8 * most, seconds=seconds)
                end = self.state(wasinn)
                self.report.tell(f"{protocol}, soak of {seconds:.0f} s: requests", told["requests"])
                self.report.tell(f"{protocol}, soak: p99 in µs", told["p99_us"])
                self.report.tell(f"{protocol}, soak: MB more", (end[0] - begin[0]) / 1000 * 1.024, most=8)
                self.report.tell(f"{protocol}, soak: threads more", end[1] - begin[1], most=0)
                self.report.tell(f"{protocol}, soak: descriptors more", end[2] - begin[2], most=0)

    @staticmethod
    def state(server):
        """Once the connections of the last load are closed."""
        end = time.monotonic() + servers.PATIENCE
        descriptors = server.descriptors()
        while time.monotonic() < end:
            time.sleep(0.5)
            if server.descriptors() == descriptors:
                break
            descriptors = server.descriptors()
        return server.status("VmRSS"), server.status("Threads"), descriptors


def main():
    names = ("throughput", "load80", "routes", "idle", "texts", "flood", "beside", "soak")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=names, metavar="WHAT")
    parser.add_argument("--json", type=pathlib.Path, help="a file for all figures")
    parser.add_argument("--seconds", type=float, default=2, help="of each turn; 2 unless told")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side; 5 unless told")
    parser.add_argument("--soak-seconds", type=float, default=600, help="600 unless told")
    parser.add_argument("--text-model", type=pathlib.Path, default=servers.SOURCE / ".deps/share/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                        help="a GGUF; SmolLM2 unless told")
    parser.add_argument("--ban", type=int, nargs="*", default=[0, 2], help="tokens that would end its texts; SmolLM2's unless told")
    parser.add_argument("--requests", type=int, default=2, help="of each client in a turn; 2 unless told")
    parser.add_argument("--connections", type=int, default=10000, help="that rest; 10000 unless told")
    parser.add_argument("--server-cpu", default="0", help="0 unless told")
    parser.add_argument("--client-cpu", default="1", help="1 unless told")
    parser.add_argument("--echo-threads", type=int, default=1, help="of the echo of HTTP: as many as wasinn has on that processor")
    options = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as folder, servers.precedence():
        options.folder = folder
        bench = Bench(options, report)
        for what in options.what:
            getattr(bench, what)()
    if options.json:
        options.json.write_text(json.dumps({"figures": report.figures, "missed": report.missed}, indent=1))
    if report.missed:
        print(f"missed: {'; '.join(report.missed)}")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
