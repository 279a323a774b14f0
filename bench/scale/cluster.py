"""Nodes behind a load balancer, as a simulation (SimPy): docs/scale.md lists what it models and what it leaves out.

A node is a `wasinn serve`. Its processors take requests in the order in which they came. At most `max_waiting` requests
wait or run; the next one gets 429, and its client tries again after Retry-After. The balancer goes on sending requests
to a failed node until it has noticed the failure, and sends a request to another node if the first one cannot be
reached."""

import collections
import dataclasses
import heapq
import random

import simpy

ANSWERED, REFUSED, LOST, NO_NODE = 200, 429, 502, 503
# The Retry-After of `wasinn serve`, in seconds. Clients wait up to a half longer, so that not all come back at once.
RETRY_AFTER, SPREAD = 1.0, 0.5


@dataclasses.dataclass
class Setup:
    nodes: int = 1
    processors: int = 1  # of each node
    others: float = 0.0  # the share of each processor that other programs take
    turn: float = 0.004  # seconds for which they do so at a time
    rate: float = 1000.0  # requests per second, at random
    seconds: float = 5.0  # whose requests count
    warm_up: float = 1.0
    policy: str = "least-outstanding"  # or round-robin
    max_waiting: int = 1024  # --max-waiting
    wait_timeout: float = 30.0  # --wait-timeout
    heavy: tuple[float, float] = (0.0, 1.0)  # this share of the requests takes this many times as long
    retries: int = 0  # of a client that gets 429, or whose node fails
    lost_at: float | None = None  # when a node fails, in seconds after the warm-up
    notice: float = 2.0  # seconds until the balancer has noticed
    reach: float = 0.25  # seconds until it gives up a node that cannot be reached
    away: float = 5.0  # seconds until the node is back and begins to start
    start: float = 0.5  # seconds of its start
    seed: int = 1


class Node:
    def __init__(self, setup, costs):
        self.setup, self.costs, self.is_up, self.is_listed = setup, costs, True, True
        self.clear(0.0)

    def clear(self, now):
        self.free_at = [now] * self.setup.processors  # a heap
        self.requests = set()  # those that wait or run

    def begin(self, now, work):
        """Returns the time of a request's answer, and its status. `work` is the processor time of a request on an idle
        node; it takes less if many others are there."""
        if len(self.requests) >= self.setup.max_waiting:
            return now, REFUSED
        begins = self.free_at[0]
        if begins - now > self.setup.wait_timeout:
            return now + self.setup.wait_timeout, REFUSED
        ends = max(now, begins) + work * self.costs.share(len(self.requests) / self.setup.processors)
        heapq.heapreplace(self.free_at, ends)
        return ends, ANSWERED

    def pause(self, now):
        """Another program takes one of its processors for a turn."""
        heapq.heapreplace(self.free_at, max(now, self.free_at[0]) + self.setup.turn)


class Balancer:
    def __init__(self, nodes, policy):
        self.nodes, self.policy = nodes, policy
        self.waiting = dict.fromkeys(nodes, 0)  # the balancer's own count, which a failed node does not decrease
        self.renew()

    def renew(self):
        """Called when it has noticed that a node has failed, or is back."""
        self.listed = [node for node in self.nodes if node.is_listed]
        self.next = 0

    def choose(self, other_than=None):
        if not self.listed or self.listed == [other_than]:
            return None
        if self.policy == "least-outstanding":
            return min((node for node in self.listed if node is not other_than), key=self.waiting.__getitem__)
        self.next = (self.next + 1) % len(self.listed)
        return self.listed[self.next] if self.listed[self.next] is not other_than else self.choose(other_than)


class Request:
    __slots__ = ("due", "attempts", "is_lost")

    def __init__(self, due):
        self.due, self.attempts, self.is_lost = due, 0, False


class Cluster:
    """`record` is that of measure.py. After `run`, `ended` has the time of each request, its duration and its status."""

    def __init__(self, setup, record):
        self.setup, self.env, self.chance = setup, simpy.Environment(), random.Random(setup.seed)
        self.costs = Costs(record)
        self.nodes = [Node(setup, self.costs) for _ in range(setup.nodes)]
        self.balancer = Balancer(self.nodes, setup.policy)
        self.ended, self.tries = [], collections.Counter()

    def run(self):
        self.env.process(self.arrive())
        if self.setup.others > 0:
            self.env.process(self.interrupt())
        if self.setup.lost_at is not None:
            self.env.process(self.lose(self.nodes[0]))
        self.env.run()  # until the last request is answered
        return self

    def goes_on(self):
        return self.env.now < self.setup.warm_up + self.setup.seconds

    def after(self, seconds, what):
        self.env.timeout(seconds).callbacks.append(lambda _: what())

    def arrive(self):
        while self.goes_on():
            self.send(Request(self.env.now))
            yield self.env.timeout(self.chance.expovariate(self.setup.rate))

    def interrupt(self):
        rate = self.setup.nodes * self.setup.processors * self.setup.others / self.setup.turn
        while self.goes_on():
            yield self.env.timeout(self.chance.expovariate(rate))
            self.chance.choice(self.nodes).pause(self.env.now)

    def send(self, request, other_than=None):
        node = self.balancer.choose(other_than)
        if node is None:
            self.end(request, NO_NODE)
            return
        self.balancer.waiting[node] += 1
        if not node.is_up:
            self.after(self.setup.reach, lambda: self.send_elsewhere(request, node))
            return
        at, status = node.begin(self.env.now, self.work())
        if at > self.env.now:
            node.requests.add(request)
        self.after(at - self.env.now, lambda: self.leave(request, node, status))

    def work(self):
        share, times = self.setup.heavy
        return self.chance.choice(self.costs.alone) * (times if share and self.chance.random() < share else 1)

    def send_elsewhere(self, request, node):
        self.balancer.waiting[node] -= 1
        self.send(request, node)

    def leave(self, request, node, status):
        if request.is_lost:
            request.is_lost = False  # its client may try again
            return
        node.requests.discard(request)
        self.balancer.waiting[node] -= 1
        self.end(request, status)

    def end(self, request, status):
        self.tries[status] += 1
        if status == ANSWERED or request.attempts == self.setup.retries:
            self.ended.append((request.due, self.env.now - request.due, status))
            return
        request.attempts += 1
        self.after(RETRY_AFTER * (1 + self.chance.uniform(0, SPREAD)), lambda: self.send(request))

    def lose(self, node):
        """The node fails and loses its requests. Then the balancer notices. Then the node comes back, and gets requests
        after its start."""
        yield self.env.timeout(self.setup.warm_up + self.setup.lost_at)
        node.is_up = False
        for request in sorted(node.requests, key=lambda one: one.due):
            request.is_lost = True
            self.balancer.waiting[node] -= 1
            self.end(request, LOST)
        node.clear(self.env.now)
        yield self.env.timeout(self.setup.notice)
        node.is_listed = False
        self.balancer.renew()
        yield self.env.timeout(max(0.0, self.setup.away - self.setup.notice) + self.setup.start)
        node.clear(self.env.now)
        node.is_up = node.is_listed = True
        self.balancer.renew()


class Costs:
    """The processor time of a request, in seconds, from the record of measure.py. A request without others takes as
    long as its client waits: threads wake each other, and an idle processor is slow at first. With many others it takes
    less, because the threads are awake: as much as on a processor that is never idle. A curve connects the two. It is
    fitted to how busy the processor was at each rate, not to latencies."""

    def __init__(self, record):
        mean = sum(record["service_us"]) / len(record["service_us"])
        alone, crowded = record["alone_us"]["mean_us"], 1e6 / record["most_per_s"]
        self.alone = [time / mean * alone / 1e6 for time in record["service_us"]]
        self.least, self.bend = crowded / alone, 1.0
        # The number of requests at a time (Little's law), and the time of each as a share of its time alone.
        seen = [
            (run["per_s"] * run["mean_us"] / 1e6, 1e6 * (1 - run["idle"] - run["others"]) / run["per_s"] / alone)
            for run in record["rates"]
            if run["share"] < 1
        ]
        if seen:
            self.bend = min(
                (step / 8 for step in range(1, 81)),
                key=lambda bend: sum((self.share(n, bend) - share) ** 2 for n, share in seen),
            )

    def share(self, others, bend=None):
        """The time of a request with so many others per processor, as a share of its time without others."""
        return self.least + (1 - self.least) / (1 + others / (bend or self.bend))
