"""Streams of texts over /v1, compared with llama.cpp's own server. Both have the same model, libraries and threads, and
take turns."""

import contextlib
import http.client
import itertools
import json
import os
import pathlib
import random
import statistics
import threading
import time

import servers

CLIENTS = (1, 4, 8)
PLACES, CONTEXT = 8, 2048
WORDS = (
    "river stone bird quiet letter garden seven winter under bridge "
    "paper music north small kettle window harbour yellow story field"
).split()
TOKENS, TURNS = 64, 6
# The least and the most, as a multiple of what llama-server has.
TARGETS = {"tokens/s": (0.95, None), "first token, median in ms": (None, 1.05)}


class Client:
    def __init__(self, port):
        self.port = port

    def ask(self, path, **fields):
        """Returns the times at which pieces of the text came, in seconds from the request; the number of tokens; the
        text. Each request has its own connection, because llama-server hangs up after a stream."""
        fields = {"temperature": 0, "max_tokens": TOKENS, **fields}
        body = json.dumps({"stream": True, "stream_options": {"include_usage": True}, **fields})
        begin = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=servers.PATIENCE)
        with contextlib.closing(connection):
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            return self.read(connection.getresponse(), begin)

    def read(self, response, begin):
        assert response.status == 200, (response.status, response.read())
        times, lines = [], []
        for line in iter(response.readline, b""):
            if line.startswith(b"data: {"):
                times.append(time.monotonic() - begin)
                lines.append(line)
        usage = json.loads(lines[-1][6:])["usage"]
        texts = [self.text_of(line) for line in lines]
        return [at for at, text in zip(times, texts) if text], usage["completion_tokens"], "".join(texts)

    @staticmethod
    def text_of(line):
        for choice in json.loads(line[6:])["choices"]:
            return choice.get("text") or choice.get("delta", {}).get("content") or ""
        return ""


def words(seed, n):
    return " ".join(random.Random(seed).choices(WORDS, k=n))


def p99(values):
    return sorted(values)[max(0, -(-99 * len(values) // 100) - 1)]


def stream(server, clients, requests, seed, ban):
    """The figures of all clients together, each of which makes `requests` requests."""
    firsts, pauses, tokens = [], [], []

    def ask(number):
        client = Client(server.ports["http"])
        for i in range(requests):
            times, n, _ = client.ask("/v1/completions", prompt=words(f"{seed} {number} {i}", 100), logit_bias=ban)
            firsts.append(1000 * times[0])
            pauses.extend(1000 * (b - a) for a, b in itertools.pairwise(times))
            tokens.append(n)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(clients)]
    begin, cpu = time.monotonic(), server.cpu_seconds()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, cpu = time.monotonic() - begin, server.cpu_seconds() - cpu
    assert len(tokens) == clients * requests and set(tokens) == {TOKENS}, tokens
    return {
        "tokens/s": sum(tokens) / took,
        "processor's time for a token in ms": 1000 * cpu / sum(tokens),
        "first token, median in ms": statistics.median(firsts),
        "first token, p99 in ms": p99(firsts),
        "between tokens, p99 in ms": p99(pauses),
    }


def converse(server, seed, ban):
    """The figures of all turns of a chat except the first one."""
    client, messages, firsts = Client(server.ports["http"]), [], []
    for turn in range(TURNS):
        messages.append({"role": "user", "content": words(f"{seed} {turn}", 40)})
        times, _, text = client.ask("/v1/chat/completions", messages=messages, logit_bias=ban, max_tokens=32)
        firsts.append(1000 * times[0])
        messages.append({"role": "assistant", "content": text})
    return {"first token, median in ms": statistics.median(firsts[1:]), "first token, p99 in ms": p99(firsts[1:])}


def compare(bench, what, measure, rounds):
    """Measures both in turns. A ratio is the median of the ratios of neighbouring turns."""
    results = {"wasinn": [], "llama-server": []}
    for turn in range(rounds):
        for name in sorted(results, reverse=turn % 2 == 0):
            results[name].append(measure(name, turn))
    for key in results["wasinn"][0]:
        for name, of_side in results.items():
            bench.report.add(f"{what}, {name}: {key}", statistics.median(one[key] for one in of_side))
        ratio = statistics.median(a[key] / b[key] for a, b in zip(results["wasinn"], results["llama-server"]))
        least, most = TARGETS.get(key, (None, None))
        bench.report.add(f"{what}: {key}, of llama-server's", ratio, least=least, most=most)


def run(bench, options):
    os.sched_setaffinity(0, {int(cpu) for cpu in options.client_cpu.split(",")})  # of this client only
    model = options.text_model
    ban = [[token, False] for token in options.ban]
    folder = pathlib.Path(options.folder)
    with contextlib.ExitStack() as stack:
        sides = {
            name: stack.enter_context(start(options.server_cpu, model, PLACES, CONTEXT, folder))
            for name, start in (("wasinn", servers.language), ("llama-server", servers.llama_server))
        }
        for side in sides.values():
            stream(side, 1, 1, "warm up", ban)
        for clients in CLIENTS:

            def measure(name, turn, clients=clients):
                return stream(sides[name], clients, options.requests, f"{name} {clients} {turn}", ban)

            compare(bench, f"{clients} streams", measure, options.rounds)
        compare(bench, "a chat", lambda name, turn: converse(sides[name], f"{name} {turn}", ban), options.rounds)
