#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = ["simpy"]
# ///
"""Simulates nodes of `wasinn serve` behind a load balancer, with the record of bench/scale/measure.py: docs/scale.md.

usage: bench/scale/simulate.py WHAT… [--record FILE] [--json FILE] [--nodes N…] [--rate R] [--processors N] [--seed N]

  validate  one node, compared with the measurement at the same rates
  loads     1, 10 and 100 nodes at shares of their capacity, with each policy of the balancer
  loss      a node that fails under load, and comes back: the requests that are answered, refused and lost, and when
  size      how many nodes a rate takes, by the rule of docs/scale.md

Needs SimPy: `uv run` gets it, scripts/deps.sh bench puts it into .deps/share/simpy, or pip in an environment."""

import argparse
import collections
import json
import math
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent.parent / ".deps/share/simpy"))

from cluster import ANSWERED, LOST, NO_NODE, REFUSED, Cluster, Setup  # noqa: E402
from load import percentile  # noqa: E402

POLICIES = ("round-robin", "least-outstanding")
SHARES = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.2)
BUSY = 0.6  # the share of its processors that the rule for sizes lets a node use
STEP = 0.25  # seconds, in the timeline of `loss`


def of(record, processors):
    """The record for nodes with `processors`. A server with two processors takes more time for a request than with one.
    The record has no figures for more than two."""
    return record if processors == 1 else {**record, "most_per_s": 1e6 / record["on_two_us"]}


def most_per_s(record):
    """The highest rate of one processor."""
    return record["most_per_s"]


def mean_of(heavy):
    """How much longer requests take on average because of the heavy ones."""
    share, times = heavy
    return 1 + share * (times - 1)


def results_of(cluster):
    """The figures of all requests that fell due after the warm-up; `per_s` counts the answers of that time."""
    setup = cluster.setup
    ended = [one for one in cluster.ended if one[0] >= setup.warm_up]
    times = sorted(took for _, took, status in ended if status == ANSWERED)
    counts = collections.Counter(status for *_, status in ended)
    until = setup.warm_up + setup.seconds
    answers = sum(setup.warm_up <= due + took < until and status == ANSWERED for due, took, status in cluster.ended)
    return {
        "requests": len(ended),
        "per_s": answers / setup.seconds,
        "mean_us": 1e6 * sum(times) / len(times),
        "p50_us": 1e6 * percentile(times, 0.5),
        "p99_us": 1e6 * percentile(times, 0.99),
        "refused": counts[REFUSED] / len(ended),
        "lost": (counts[LOST] + counts[NO_NODE]) / len(ended),
    }


def print_row(*cells):
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_heads(*heads):
    print_row(*heads)
    print_row(*["---"] * len(heads))


def validate(record, options):
    """A row for each rate that was measured, and the differences in percent."""
    rows = []
    for measured in record["rates"]:
        setup = Setup(
            rate=measured["rate"],
            seconds=options.seconds,
            seed=options.seed,
            max_waiting=record["max_waiting"],
            others=measured["others"],
            turn=record["turn_us"] / 1e6,
        )
        simulated = results_of(Cluster(setup, record).run())
        differs = {key: 100 * (simulated[key] / measured[key] - 1) for key in ("per_s", "p50_us", "p99_us")}
        rows.append(
            {"share": measured["share"], "measured": measured, "simulated": simulated, "differs_percent": differs}
        )
    print_heads("share of the most", "requests/s: measured, simulated", "p50 in µs", "p99 in µs", "refused")
    for row in rows:
        pairs = [
            f"{row['measured'][key]:,.0f}, {row['simulated'][key]:,.0f} ({row['differs_percent'][key]:+.0f} %)"
            for key in ("per_s", "p50_us", "p99_us")
        ]
        print_row(f"{row['share']:.0%}", *pairs, f"{row['measured']['refused']:.1%}, {row['simulated']['refused']:.1%}")
    return rows


def loads(record, options):
    rows, record = [], of(record, options.processors)
    print_heads("nodes", "balancer", "share of what they can", "requests/s", "p50 in ms", "p99 in ms", "429")
    for nodes in options.nodes:
        for policy in POLICIES if nodes > 1 else POLICIES[:1]:
            for share in SHARES:
                rate = share * nodes * options.processors * most_per_s(record) / mean_of(options.heavy)
                # Each row has the same number of requests. Above the capacity the queue first has to fill up.
                seconds, warm_up = max(0.3, options.requests / rate), 0.3 if share < 1 else 1.5
                setup = Setup(
                    nodes=nodes,
                    processors=options.processors,
                    rate=rate,
                    seconds=seconds,
                    warm_up=warm_up,
                    policy=policy,
                    heavy=options.heavy,
                    seed=options.seed,
                )
                row = {"nodes": nodes, "policy": policy, "share": share, **results_of(Cluster(setup, record).run())}
                rows.append(row)
                times = (f"{row[key] / 1e3:.2f}" for key in ("p50_us", "p99_us"))
                shown = policy if nodes > 1 else ""
                print_row(nodes, shown, f"{share:.0%}", f"{row['per_s']:,.0f}", *times, f"{row['refused']:.1%}")
    return rows


def loss(record, options):
    rows, record = [], of(record, options.processors)
    heads = ("answered", "came again", "429", "lost", "p99 in ms, while the node is away", "late")
    print_heads("nodes", "balancer", "share before", *heads)
    for nodes in (nodes for nodes in options.nodes if nodes > 1):
        for policy in POLICIES:
            rate = options.rate or BUSY * nodes * options.processors * most_per_s(record)
            setup = Setup(
                nodes=nodes,
                processors=options.processors,
                rate=rate,
                seconds=10,
                policy=policy,
                seed=options.seed,
                retries=options.retries,
                lost_at=2.0,
                start=record["first_answer_s"]["compiled"],
            )
            share = rate / (nodes * options.processors * most_per_s(record))
            row = {"nodes": nodes, "policy": policy, "rate": rate, "share": share}
            row |= loss_of(Cluster(setup, record).run())
            rows.append(row)
            answered = 1 - row["refused"] - row["lost"]
            counts = (f"{answered:.3%}", f"{row['came_again']:,}", f"{row['refused']:.3%}", f"{row['lost']:.3%}")
            print_row(nodes, policy, f"{share:.0%}", *counts, f"{row['away_p99_us'] / 1e3:.2f}", f"{row['late']:.2%}")
    return rows


def loss_of(cluster):
    """The figures of all requests, and of those that fell due while a node was away. Requests are `late` if they waited
    as long as the balancer takes to give a node up."""
    setup = cluster.setup
    gone = setup.warm_up + setup.lost_at
    away = sorted(
        took
        for due, took, status in cluster.ended
        if gone <= due < gone + setup.away + setup.start and status == ANSWERED
    )
    return {
        **results_of(cluster),
        "away_p99_us": 1e6 * percentile(away, 0.99),
        "late": sum(took >= setup.reach for took in away) / len(away),
        "came_again": sum(cluster.tries.values()) - len(cluster.ended),
        "timeline": timeline(cluster),
    }


def timeline(cluster):
    """The answers per second and their p99, in steps of the time at which requests fell due."""
    setup, steps = cluster.setup, collections.defaultdict(list)
    for due, took, status in cluster.ended:
        if due >= setup.warm_up and status == ANSWERED:
            steps[int((due - setup.warm_up) / STEP)].append(took)
    return [
        {"at_s": STEP * step, "per_s": len(times) / STEP, "p99_us": 1e6 * percentile(sorted(times), 0.99)}
        for step, times in sorted(steps.items())
    ]


def nodes_needed(rate, busy_us, processors, spare=1):
    """How many nodes a rate needs, so that the others are no busier than BUSY if `spare` of them are lost."""
    return math.ceil(round(rate * busy_us / 1e6 / (processors * BUSY), 9)) + spare


def size(record, options):
    rate, busy_us = options.rate or 10000, 1e6 / most_per_s(of(record, 2))
    print_heads("processors of a node", "nodes, one of them spare", "busy, all there", "busy, one lost")
    rows = []
    for processors in (2, 4, 8, 16):
        nodes, cores = nodes_needed(rate, busy_us, processors), rate * busy_us / 1e6
        row = {
            "processors": processors,
            "nodes": nodes,
            "busy": cores / (nodes * processors),
            "busy_one_lost": cores / ((nodes - 1) * processors),
        }
        rows.append(row)
        print_row(processors, nodes, f"{row['busy']:.0%}", f"{row['busy_one_lost']:.0%}")
    return rows


def main():
    whats = {"validate": validate, "loads": loads, "loss": loss, "size": size}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=whats, metavar="WHAT")
    parser.add_argument(
        "--record", type=pathlib.Path, default=FOLDER / "measured.json", help="default: bench/scale/measured.json"
    )
    parser.add_argument("--json", type=pathlib.Path, help="a file for all figures")
    parser.add_argument(
        "--nodes", type=int, nargs="+", default=[1, 10, 100], help="numbers of nodes (default: 1 10 100)"
    )
    parser.add_argument("--processors", type=int, default=1, help="processors of each node (default: 1)")
    parser.add_argument("--rate", type=float, help="requests per second, for `loss` and `size`")
    parser.add_argument("--retries", type=int, default=3, help="how often a client tries again, in `loss` (default: 3)")
    parser.add_argument(
        "--heavy",
        type=float,
        nargs=2,
        default=(0.0, 1.0),
        metavar=("SHARE", "TIMES"),
        help="in `loads`, SHARE of the requests takes TIMES as long (default: 0 1)",
    )
    parser.add_argument("--requests", type=int, default=50000, help="requests of each row of `loads` (default: 50000)")
    parser.add_argument("--seconds", type=float, default=5, help="seconds of each row of `validate` (default: 5)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    record = json.loads(options.record.read_text())
    figures = {}
    for what in options.what:
        print(f"{what}:", flush=True)
        figures[what] = whats[what](record, options)
        print()
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
