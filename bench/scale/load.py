"""Requests to a server on this machine at a rate, at random (Poisson), and the statuses and times of the answers.

bench/serve/load_main.cc does the same in C++, but only distinguishes good answers and errors. Here a refusal (429) is
no failure, and its time does not count. A time is measured from when a request was due, as there."""

import collections
import contextlib
import math
import os
import random
import select
import socket
import time

CHUNK = 1 << 16


class Connection:
    def __init__(self, port, request):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.fileno = self.socket.fileno
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request = request
        self.due, self.bytes, self.size = 0.0, b"", None

    def send(self, due):
        self.due, self.bytes, self.size = due, b"", None
        self.socket.sendall(self.request)

    def take(self):
        """The status, if the answer is whole by now."""
        piece = self.socket.recv(CHUNK)
        if not piece:
            raise ConnectionError("the server has hung up")
        self.bytes += piece
        if self.size is None:
            head, end, _ = self.bytes.partition(b"\r\n\r\n")
            if not end:
                return None
            lengths = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
            self.size = len(head) + len(end) + int(lengths[0].split(b":")[1])
        return int(self.bytes[9:12]) if len(self.bytes) >= self.size else None


def percentile(values, part):
    """The percentile of sorted values, by nearest rank."""
    return values[max(1, math.ceil(part * len(values))) - 1]


@contextlib.contextmanager
def real_time():
    """Real-time priority for the client, if the system allows it. A client that is interrupted sends several requests
    at once afterwards, and their times would include its own delay."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


class Load:
    def __init__(self, port, path, body, connections):
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        self.connections = [Connection(port, head + body) for _ in range(connections)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for connection in self.connections:
            connection.socket.close()

    def run(self, seconds, rate=0, warm_up=0.5, seed=1, good=200):
        """Sends `rate` requests per second; with 0, each connection sends its next request after the last answer. Times
        are in µs."""
        chance, clock = random.Random(seed), time.perf_counter
        free, busy, due = collections.deque(self.connections), set(), collections.deque()
        times, statuses = [], collections.Counter()
        start = clock()
        first, last, next_due = start + warm_up, start + warm_up + seconds, start
        with real_time():
            while (now := clock()) < last or busy:  # a run ends when its last answer has come
                while rate and next_due <= min(now, last):
                    due.append(next_due)
                    next_due += chance.expovariate(rate)
                while free and now < last and (due or not rate):
                    connection = free.popleft()
                    connection.send(due.popleft() if rate else clock())
                    busy.add(connection)
                # select, because epoll cannot wait for less than a millisecond
                patience = max(0, next_due - clock()) if rate and now < last else 1
                for connection in select.select(busy, (), (), patience)[0]:
                    if (status := connection.take()) is None:
                        continue
                    now = clock()
                    free.append(connection)
                    busy.remove(connection)
                    if first <= now < last:
                        statuses[status] += 1
                        if status == good:
                            times.append((now - connection.due) * 1e6)
        if not times or set(statuses) - {good, 429}:
            raise RuntimeError(f"not all are answered, or refused: {dict(statuses)}")
        times.sort()
        return {
            "per_s": len(times) / seconds,
            "statuses": dict(statuses),
            "mean_us": sum(times) / len(times),
            "p50_us": percentile(times, 0.5),
            "p99_us": percentile(times, 0.99),
        }
