#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = ["simpy"]
# ///
"""Nodes of `wasinn serve` behind a load balancer, simulated with what bench/scale/measure.py recorded: docs/scale.md.

usage: bench/scale/simulate.py WHAT… [--record FILE] [--json FILE] [--nodes N…] [--rate R] [--processors N] [--seed N]

  validate  one node, beside what was measured at the same rates
  loads     1, 10 and 100 nodes at shares of what they can, with each policy of the balancer
  loss      a node that is gone under load, and comes back: who is answered, refused and lost, and when
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
BUSY = 0.6  # of its processors: the share that the rule for sizes gives a node
STEP = 0.25  # seconds: of what `loss` tells


def of(record, processors):
    """The record for nodes of so many. Two processors of one server take more time for a request than one does; of more nothing is known here."""
    return record if processors == 1 else {**record, "most_per_s": 1e6 / record["on_two_us"]}


def most_per_s(record):
    """Of one processor."""
    return record["most_per_s"]


def mean_of(heavy):
    """How much longer requests take, with those that take long."""
    share, times = heavy
    return 1 + share * (times - 1)


def told(cluster):
    """Of the requests that fell due after the warm-up; `per_s` are the answers of that time."""
    setup = cluster.setup
    ended = [one for one in cluster.ended if one[0] >= setup.warm_up]
    times = sorted(took for _, took, status in ended if status == ANSWERED)
    counts = collections.Counter(status for *_, status in ended)
    until = setup.warm_up + setup.seconds
    answers = sum(setup.warm_up <= due + took < until and status == ANSWERED for due, took, status in cluster.ended)
    return {
        "requests": len(ended), "per_s": answers / setup.seconds, "mean_us": 1e6 * sum(times) / len(times),
        "p50_us": 1e6 * percentile(times, 0.5), "p99_us": 1e6 * percentile(times, 0.99),
        "refused": counts[REFUSED] / len(ended), "lost": (counts[LOST] + counts[NO_NODE]) / len(ended),
    }  # fmt: skip


def validate(record, options):
    """A row for each rate that was measured, and the differences in percent."""
    rows = []
    for measured in record["rates"]:
        setup = Setup(rate=measured["rate"], seconds=options.seconds, seed=options.seed, max_waiting=record["max_waiting"], others=measured["others"],
                      turn=record["turn_us"] / 1e6)  # fmt: skip
        simulated = told(Cluster(setup, record).run())
        differs = {key: 100 * (simulated[key] / measured[key] - 1) for key in ("per_s", "p50_us", "p99_us")}
        rows.append({"share": measured["share"], "measured": measured, "simulated": simulated, "differs_percent": differs})
    print("| share of the most | requests/s: measured, simulated | p50 in µs | p99 in µs | refused |\n| --- | --- | --- | --- | --- |")
    for row in rows:
        pairs = [f"{row['measured'][key]:,.0f}, {row['simulated'][key]:,.0f} ({row['differs_percent'][key]:+.0f} %)" for key in ("per_s", "p50_us", "p99_us")]
        print(f"| {row['share']:.0%} | {' | '.join(pairs)} | {row['measured']['refused']:.1%}, {row['simulated']['refused']:.1%} |")
    return rows


def loads(record, options):
    rows, record = [], of(record, options.processors)
    print("| nodes | balancer | share of what they can | requests/s | p50 in ms | p99 in ms | 429 |\n| --- | --- | --- | --- | --- | --- | --- |")
    for nodes in options.nodes:
        for policy in POLICIES if nodes > 1 else POLICIES[:1]:
            for share in SHARES:
                rate = share * nodes * options.processors * most_per_s(record) / mean_of(options.heavy)
                # As many requests for each row; a queue that fills up needs longer before.
                seconds, warm_up = max(0.3, options.requests / rate), 0.3 if share < 1 else 1.5
                setup = Setup(nodes=nodes, processors=options.processors, rate=rate, seconds=seconds, warm_up=warm_up, policy=policy,
                              heavy=options.heavy, seed=options.seed)  # fmt: skip
                row = {"nodes": nodes, "policy": policy, "share": share, **told(Cluster(setup, record).run())}
                rows.append(row)
                print(f"| {nodes} | {policy if nodes > 1 else ''} | {share:.0%} | {row['per_s']:,.0f} | {row['p50_us'] / 1e3:.2f} | {row['p99_us'] / 1e3:.2f} "
                      f"| {row['refused']:.1%} |", flush=True)  # fmt: skip
    return rows


def loss(record, options):
    rows, record = [], of(record, options.processors)
    print("| nodes | balancer | share before | answered | came again | 429 | lost | p99 in ms, while the node is away | late |\n" + "| --- " * 9 + "|")
    for nodes in (nodes for nodes in options.nodes if nodes > 1):
        for policy in POLICIES:
            rate = options.rate or BUSY * nodes * options.processors * most_per_s(record)
            setup = Setup(nodes=nodes, processors=options.processors, rate=rate, seconds=10, policy=policy, seed=options.seed, retries=options.retries, lost_at=2.0,
                          start=record["first_answer_s"]["compiled"])  # fmt: skip
            share = rate / (nodes * options.processors * most_per_s(record))
            row = {"nodes": nodes, "policy": policy, "rate": rate, "share": share, **loss_of(Cluster(setup, record).run())}
            rows.append(row)
            print(f"| {nodes} | {policy} | {row['share']:.0%} | {1 - row['refused'] - row['lost']:.3%} | {row['came_again']:,} | {row['refused']:.3%} "
                  f"| {row['lost']:.3%} | {row['away_p99_us'] / 1e3:.2f} | {row['late']:.2%} |", flush=True)  # fmt: skip
    return rows


def loss_of(cluster):
    """What became of all, and of those that fell due while a node was away: `late` are those that waited as long as it takes to give a node up."""
    setup = cluster.setup
    gone = setup.warm_up + setup.lost_at
    away = sorted(took for due, took, status in cluster.ended if gone <= due < gone + setup.away + setup.start and status == ANSWERED)
    return {**told(cluster), "away_p99_us": 1e6 * percentile(away, 0.99), "late": sum(took >= setup.reach for took in away) / len(away),
            "came_again": sum(cluster.tries.values()) - len(cluster.ended), "timeline": timeline(cluster)}  # fmt: skip


def timeline(cluster):
    """In steps of when they fell due: how many were answered in a second, and the slowest of a hundred."""
    setup, steps = cluster.setup, collections.defaultdict(list)
    for due, took, status in cluster.ended:
        if due >= setup.warm_up and status == ANSWERED:
            steps[int((due - setup.warm_up) / STEP)].append(took)
    return [{"at_s": STEP * step, "per_s": len(times) / STEP, "p99_us": 1e6 * percentile(sorted(times), 0.99)} for step, times in sorted(steps.items())]


def nodes_needed(rate, busy_us, processors, spare=1):
    """So many that `spare` of them may be lost, and the others are no busier than BUSY."""
    return math.ceil(round(rate * busy_us / 1e6 / (processors * BUSY), 9)) + spare


def size(record, options):
    rate, busy_us = options.rate or 10000, 1e6 / most_per_s(of(record, 2))
    print("| processors of a node | nodes, one of them spare | busy, all there | busy, one lost |\n| --- | --- | --- | --- |")
    rows = []
    for processors in (2, 4, 8, 16):
        nodes, cores = nodes_needed(rate, busy_us, processors), rate * busy_us / 1e6
        row = {"processors": processors, "nodes": nodes, "busy": cores / (nodes * processors), "busy_one_lost": cores / ((nodes - 1) * processors)}
        rows.append(row)
        print(f"| {processors} | {nodes} | {row['busy']:.0%} | {row['busy_one_lost']:.0%} |")
    return rows


def main():
    whats = {"validate": validate, "loads": loads, "loss": loss, "size": size}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=whats, metavar="WHAT")
    parser.add_argument("--record", type=pathlib.Path, default=FOLDER / "measured.json", help="bench/scale/measured.json unless told")
    parser.add_argument("--json", type=pathlib.Path, help="a file for all figures")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 10, 100], help="1 10 100 unless told")
    parser.add_argument("--processors", type=int, default=1, help="of each node; 1 unless told")
    parser.add_argument("--rate", type=float, help="requests in a second, of `loss` and `size`")
    parser.add_argument("--retries", type=int, default=3, help="how often a client comes again, in `loss`; 3 unless told")
    parser.add_argument("--heavy", type=float, nargs=2, default=(0.0, 1.0), metavar=("SHARE", "TIMES"),
                        help="of `loads`: such a share of requests takes so many times as long")  # fmt: skip
    parser.add_argument("--requests", type=int, default=50000, help="of each row of `loads`; 50000 unless told")
    parser.add_argument("--seconds", type=float, default=5, help="of each row of `validate`; 5 unless told")
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
