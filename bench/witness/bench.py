#!/usr/bin/env python3
"""Attacks a `wasinn serve`, and measures how an honest tenant is affected: docs/reliability.md, A server under attack.

usage: bench/witness/bench.py [ATTACK…] [--seconds S] [--rounds N] [--json FILE]

The witness sends, in turn, an inference of `digits` as tenant `honest`, a request to a route, and an inference of
`digits` as the attacker's own tenant. Quiet windows and windows with the attack alternate. For each attack and each of
these three requests the bench prints median and p99 in ms, the ratio of p99 to that of the quiet windows, the failures,
and the peak of the server's memory. `processes` is no attack: unrelated processes compute, as many as one route can
have threads. It shows how much of the effect comes only from more threads than processors.

WASINN_BUILD names another build's folder. Exit code 1: a request of the witness failed, or the server did not end
well."""

import argparse
import contextlib
import gzip
import hashlib
import http.client
import json
import multiprocessing
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path += [str(SOURCE / "bench/serve"), str(SOURCE / "tests/serve")]

import onnx_models  # noqa: E402
import servers  # noqa: E402

INFER = "/v2/models/{}/infer"
INT32 = 6
LOOPS = '(module (memory (export "memory") 1) (func (export "_start") (loop $ever (br $ever))))'
AMBIGUOUS = "root ::= (x | x x | x x x)*\nx ::= y | y y\ny ::= z | z z\nz ::= [a-z ]* | [a-z]+\n"


def key(name):
    return {"Authorization": f"Bearer key of {name}"}


EVIL, HONEST = key("evil"), key("honest")


def request_of(datatype, **inputs):
    return json.dumps(
        {
            "inputs": [
                {"name": name, "datatype": datatype, "shape": [1], "data": [value]} for name, value in inputs.items()
            ]
        }
    ).encode()


ENDLESS, KILLER = request_of("FP32", x=1), request_of("INT32", a=-(2**31), b=-1)
GRAMMAR = json.dumps({"model": "tiny", "prompt": "go", "max_tokens": 400, "grammar": AMBIGUOUS}).encode()
BOMB = gzip.compress(b"[" * (64 << 20))
IMAGE = (SOURCE / "examples/classify/images/0002_label-2.png").read_bytes()
WITNESSES = {
    "other tenant": ("/v2/models/digits/infer", servers.rest_body(), HONEST),
    "other route": ("/classify", IMAGE, HONEST),
    "other model": ("/v2/models/digits/infer", servers.rest_body(), EVIL),
}


def divides():
    """y = a / b. A process that computes INT_MIN / -1 crashes."""
    one = onnx_models.tensor(INT32, 1)
    return onnx_models.model(
        [onnx_models.node("Div", ["a", "b"], ["y"])],
        [onnx_models.value(name, one) for name in "ab"],
        [onnx_models.value("y", one)],
    )


def configuration(folder, upstream):
    (folder / "loops.wat").write_text(LOOPS)
    (folder / "divides.onnx").write_bytes(divides())
    models = {
        "digits": servers.MODEL,
        "endless": SOURCE / "tests/models/tiny/endless.onnx",
        "tiny": SOURCE / "models/tiny.gguf",
        "divides": folder / "divides.onnx",
        "upstream": f"http://127.0.0.1:{upstream}/v2/models/m",
    }
    text = "".join(
        f'[models.{name}]\npath = "{path}"\n{"isolate = true" if name == "divides" else ""}\n'
        for name, path in models.items()
    )
    routes = {"classify": (servers.BIN.parent / "guests/classify_route.wasm").resolve(), "loops": folder / "loops.wat"}
    text += "".join(f'[routes."/{name}"]\nfile = "{path}"\n' for name, path in routes.items())
    for name in ("honest", "evil"):
        text += f'[tenants.{name}]\nkeys = ["sha256:{hashlib.sha256(f"key of {name}".encode()).hexdigest()}"]\n'
    (folder / "serve.toml").write_text(text)
    return folder / "serve.toml"


def bytes_of(path, body, headers):
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST {path} HTTP/1.1\r\nHost: a\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Attacks:
    """Each attack is a context manager, and lasts as long as its context."""

    def __init__(self, port):
        self.port = port

    @contextlib.contextmanager
    def held(self, path, body, count=40):
        """Sends `count` requests, whose clients wait until the attack ends."""
        with contextlib.ExitStack() as clients:
            for _ in range(count):
                client = clients.enter_context(socket.create_connection(("127.0.0.1", self.port)))
                client.sendall(bytes_of(path, body, EVIL))
            yield

    @contextlib.contextmanager
    def again_and_again(self, count, once):  # on `count` threads
        stop = threading.Event()

        def run():
            while not stop.is_set():
                with contextlib.suppress(OSError, http.client.HTTPException):
                    once(stop)

        for _ in range(count):
            threading.Thread(target=run, daemon=True).start()
        try:
            yield
        finally:
            stop.set()

    def asked(self, count, path, body, more=None, pause=0.0):
        def once(stop):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=servers.PATIENCE)
            with contextlib.closing(connection):
                connection.request("POST", path, body, {**EVIL, **(more or {})})
                connection.getresponse().read()
            stop.wait(pause)

        return self.again_and_again(count, once)

    def unread(self):
        """Clients that never read their answers."""
        many = 50 * bytes_of(INFER.format("digits"), servers.rest_body(), EVIL)

        def once(stop):
            with socket.create_connection(("127.0.0.1", self.port), timeout=0.5) as client:
                while not stop.is_set():
                    client.sendall(many)

        return self.again_and_again(8, once)

    @contextlib.contextmanager
    def processes(self):
        count = 6 * len(os.sched_getaffinity(0)) + 1
        started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
        try:
            yield
        finally:
            for one in started:
                one.kill()
                one.wait()


ATTACKS = {
    "upstream": lambda attacks: attacks.held(INFER.format("upstream"), ENDLESS),
    "computes": lambda attacks: attacks.held(INFER.format("endless"), ENDLESS),
    "route": lambda attacks: attacks.held("/loops", b""),
    "grammars": lambda attacks: attacks.asked(8, "/v1/completions", GRAMMAR),
    "killer": lambda attacks: attacks.asked(1, INFER.format("divides"), KILLER, pause=1.0),
    "bombs": lambda attacks: attacks.asked(4, INFER.format("digits"), BOMB, {"Content-Encoding": "gzip"}),
    "unread": Attacks.unread,
    "processes": Attacks.processes,
}


def watch(port, stop, seen, rounds):
    """Sends requests until `stop`, and puts (name, begin, seconds, status) of each into `seen`. Counts the rounds."""
    records, connections = [], {}
    while not stop.is_set():
        for name, (path, body, headers) in WITNESSES.items():
            begin, status = time.monotonic(), 0
            try:
                connection = connections.setdefault(
                    name, http.client.HTTPConnection("127.0.0.1", port, timeout=servers.PATIENCE)
                )
                connection.request("POST", path, body, headers)
                response = connection.getresponse()
                response.read()
                status = response.status
            except (OSError, http.client.HTTPException):
                connections.pop(name).close()
            records.append((name, begin, time.monotonic() - begin, status))
            time.sleep(0.003)
        rounds.value += 1
    seen.put(records)


def window(seconds, rounds):
    """Waits so long, and on a slow machine until each request was sent in it. Returns its begin and end."""
    begin, last = time.monotonic(), rounds.value + 2
    time.sleep(seconds)
    while rounds.value < last and time.monotonic() < begin + servers.PATIENCE:
        time.sleep(0.01)
    return begin, time.monotonic()


def summary_of(records, windows):
    """The figures of the requests that begin in these windows."""
    inside = [one for one in records if any(begin <= one[1] < end for begin, end in windows)]
    times = sorted(seconds * 1000 for _, _, seconds, status in inside if status == 200)
    failures = sum(status != 200 for _, _, _, status in inside)
    median, p99 = (statistics.median(times), times[len(times) * 99 // 100]) if times else (None, None)
    return {"requests": len(times), "median_ms": median, "p99_ms": p99, "failures": failures}


def measure(server, attack, seconds, rounds):
    stop, seen, sent = multiprocessing.Event(), multiprocessing.Queue(), multiprocessing.Value("L")
    witness = multiprocessing.Process(target=watch, args=(server.ports["http"], stop, seen, sent))
    witness.start()
    time.sleep(0.5)
    pathlib.Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")  # resets the peak
    windows = {"quiet": [], "attack": []}
    for _ in range(rounds):
        windows["quiet"].append(window(seconds, sent))
        with attack():
            windows["attack"].append(window(seconds, sent))
        time.sleep(0.5)
    stop.set()
    records = seen.get(timeout=2 * servers.PATIENCE)
    witness.join()
    of_each = {name: [one for one in records if one[0] == name] for name in WITNESSES}
    witnesses = {
        name: {what: summary_of(of_one, spans) for what, spans in windows.items()} for name, of_one in of_each.items()
    }
    return {"witnesses": witnesses, "peak_mib": server.status("VmHWM") / 1024}


def show(attack, result):
    for name, one in result["witnesses"].items():
        quiet, during = one["quiet"], one["attack"]
        if quiet["p99_ms"] is None or during["p99_ms"] is None:
            print(f"{attack:10} {name:13} no answer in a window", flush=True)
            continue
        median, p99 = (f"{quiet[key]:7.2f} -> {during[key]:7.2f} ms" for key in ("median_ms", "p99_ms"))
        ratio, peak = f"{during['p99_ms'] / quiet['p99_ms']:6.2f}", f"{result['peak_mib']:.0f} MiB"
        print(
            f"{attack:10} {name:13} median {median}   p99 {p99}   ratio {ratio}   "
            f"failures {during['failures']}   peak {peak}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=" ".join(ATTACKS))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    if unknown := set(options.attacks) - set(ATTACKS):
        parser.error(f"expected some of {' '.join(ATTACKS)}, found {' '.join(sorted(unknown))}")
    results = {}
    # The upstream server accepts connections, and never answers.
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0), backlog=200) as silent:
        config = configuration(pathlib.Path(folder), silent.getsockname()[1])
        with servers.wasinn(None, "--config", config, of=()) as server:
            attacks = Attacks(server.ports["http"])
            for name in options.attacks or ATTACKS:
                results[name] = measure(server, lambda: ATTACKS[name](attacks), options.seconds, options.rounds)
                show(name, results[name])
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    failures = sum(
        one["failures"]
        for of_one in results.values()
        for of_name in of_one["witnesses"].values()
        for one in of_name.values()
    )
    return 1 if failures or server.process.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
