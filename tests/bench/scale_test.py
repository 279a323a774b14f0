"""bench/scale: the simulation compared with known results about queues, and measure.py on a server, without times.

WASINN_SOURCE names the source tree, WASINN_BUILD the build. Needs SimPy (scripts/deps.sh bench)."""

import argparse
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
sys.path.append(str(SOURCE / "bench/scale"))

import cluster  # noqa: E402
import load  # noqa: E402
import simulate  # noqa: E402
from cluster import ANSWERED, LOST, NO_NODE, REFUSED, Cluster, Setup  # noqa: E402

PAGE = (SOURCE / "docs/scale.md").read_text(encoding="utf-8")
# Each request holds a processor for a millisecond, however many there are.
RECORD = {"service_us": [1000], "most_per_s": 1000, "alone_us": {"mean_us": 1000}, "rates": []}


def run(record=RECORD, **setup):
    return Cluster(Setup(**setup), record).run()


class QueueTest(unittest.TestCase):
    def test_waits_as_theory_has_them(self):
        # Pollaczek and Khinchine: behind a constant time of 1 the mean wait is rho / (2 (1 - rho)).
        for share, wait in ((0.5, 0.5), (0.8, 2.0)):
            reported = simulate.results_of(run(rate=1000 * share, seconds=40))
            self.assertAlmostEqual(reported["mean_us"] / 1000, 1 + wait, delta=0.1 * (1 + wait))
            self.assertEqual((reported["refused"], reported["lost"]), (0, 0))

    def test_two_processors_share_one_queue(self):
        # With as many processors as requests at once, none waits.
        reported = simulate.results_of(run(rate=100, seconds=20, processors=32))
        self.assertAlmostEqual(reported["p99_us"], 1000, places=3)
        self.assertLess(simulate.results_of(run(rate=1600, seconds=10, processors=2))["mean_us"], simulate.results_of(run(rate=800, seconds=10))["mean_us"])

    def test_a_request_without_room_is_refused(self):
        reported = simulate.results_of(run(rate=1500, seconds=5, max_waiting=64))
        self.assertAlmostEqual(reported["refused"], 1 / 3, delta=0.03)
        self.assertAlmostEqual(reported["per_s"], 1000, delta=10)
        self.assertAlmostEqual(reported["p50_us"] / 1000, 64, delta=1.5)

    def test_a_request_that_has_waited_for_too_long_is_refused(self):
        ended = run(rate=1500, seconds=5, wait_timeout=0.02).ended
        self.assertLessEqual(max(took for *_, took, status in ended if status == ANSWERED), 0.0211)
        self.assertTrue(all(took == 0.02 or abs(took - 0.02) < 1e-9 for *_, took, status in ended if status == REFUSED))
        self.assertGreater(sum(status == REFUSED for *_, status in ended), 200)

    def test_refused_clients_come_again_later(self):
        # A second of too much, and nothing behind it: with retries all are answered.
        setup = {"rate": 1200, "seconds": 3, "warm_up": 0.0, "max_waiting": 32}
        self.assertGreater(simulate.results_of(run(**setup))["refused"], 0.1)
        again = run(**setup, retries=3)
        self.assertGreater(again.tries[REFUSED], 0)
        late = [took for _, took, status in again.ended if status == ANSWERED and took > cluster.RETRY_AFTER]
        self.assertGreater(len(late), 100)

    def test_crowded_requests_take_less(self):
        # Alone 2 ms, where many are 1 ms: so many are answered, and the curve between goes through what was measured.
        rates = [{"share": 0.5, "per_s": 500, "mean_us": 4000, "idle": 0.25, "others": 0.0}]  # 1.5 ms each, with 2 there
        record = {**RECORD, "service_us": [2000], "alone_us": {"mean_us": 2000}, "rates": rates}
        self.assertAlmostEqual(cluster.Costs(record).share(2), 0.75, delta=0.01)
        self.assertAlmostEqual(simulate.results_of(run(record, rate=10, seconds=10))["p50_us"], 2000, places=3)
        self.assertAlmostEqual(simulate.results_of(run(record, rate=2000, seconds=3, max_waiting=128))["per_s"], 1000, delta=20)

    def test_others_have_their_share(self):
        self.assertAlmostEqual(simulate.results_of(run(rate=1500, seconds=10, max_waiting=64, others=0.2))["per_s"], 800, delta=40)

    def test_the_same_seed_is_the_same_run(self):
        ended = [run(rate=1800, nodes=3, seconds=2, seed=seed).ended for seed in (7, 7, 8)]
        self.assertEqual(ended[0], ended[1])
        self.assertNotEqual(ended[0], ended[2])


class BalancerTest(unittest.TestCase):
    def test_policies_share_among_all(self):
        for policy in simulate.POLICIES:
            reported = simulate.results_of(run(rate=9000, nodes=10, seconds=1, policy=policy))
            self.assertAlmostEqual(reported["per_s"], 9000, delta=300)
            self.assertEqual(reported["refused"], 0)

    def test_least_outstanding_goes_around_what_is_slow(self):
        by = {policy: simulate.results_of(run(rate=4000, nodes=10, seconds=3, policy=policy, heavy=(0.01, 50)))["p99_us"] for policy in simulate.POLICIES}
        self.assertLess(by["least-outstanding"], by["round-robin"])


class LossTest(unittest.TestCase):
    setup = {"nodes": 2, "rate": 900, "seconds": 6, "lost_at": 1.0, "away": 2.0, "notice": 1.0, "start": 0.5, "policy": "round-robin"}

    def test_what_the_node_had_is_lost_and_others_are_answered(self):
        lost = run(**self.setup)
        statuses = {status for *_, status in lost.ended}
        self.assertEqual(statuses, {ANSWERED, LOST})
        self.assertLess(lost.tries[LOST], 10)  # it had no more
        self.assertEqual(run(**self.setup, retries=2).tries[LOST], lost.tries[LOST])
        self.assertEqual({status for *_, status in run(**self.setup, retries=2).ended}, {ANSWERED})

    def test_until_it_is_noticed_each_other_request_is_late(self):
        ended = run(**self.setup).ended
        unnoticed = [took for due, took, status in ended if 2.0 < due < 2.7]
        self.assertAlmostEqual(sum(took > 0.25 for took in unnoticed) / len(unnoticed), 0.5, delta=0.1)
        self.assertEqual([took for due, took, status in ended if 3.3 < due and took > 0.25], [])

    def test_the_only_node(self):
        ended = run(**{**self.setup, "nodes": 1, "rate": 500}).ended
        away = {status for due, _, status in ended if 3.0 < due < 4.4}
        self.assertEqual(away, {NO_NODE})
        self.assertEqual({status for due, _, status in ended if due > 4.6}, {ANSWERED})


class PageTest(unittest.TestCase):
    def test_its_tables_are_what_the_record_gives(self):
        record = json.loads((SOURCE / "bench/scale/measured.json").read_text())
        for what in (simulate.validate, simulate.size):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                what(record, argparse.Namespace(seconds=5, seed=1, rate=None))
            for line in printed.getvalue().splitlines():
                self.assertIn(line, PAGE, "run bench/scale/simulate.py validate size")

    def test_sizes(self):
        self.assertEqual(simulate.nodes_needed(10000, 360, 4), 3)  # 3.6 processors are busy: 6 are needed
        self.assertEqual(simulate.nodes_needed(10000, 360, 6), 2)
        self.assertEqual(simulate.nodes_needed(10000, 360, 6, spare=2), 3)


class MeasureTest(unittest.TestCase):
    def test_a_record_of_a_server(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "record.json"
            cpus = sorted(os.sched_getaffinity(0))
            command = [sys.executable, "-B", SOURCE / "bench/scale/measure.py", file, "--seconds", "0.2", "--rounds", "1", "--beside-others"]
            command += ["--server-cpu", str(cpus[0]), "--client-cpu", str(cpus[-1])]
            done = subprocess.run(command, capture_output=True, text=True, timeout=240)
            self.assertEqual(done.returncode, 0, done.stderr)
            record = json.loads(file.read_text())
        self.assertEqual(record["service_us"], sorted(record["service_us"]))
        self.assertEqual(len(record["rates"]), 6)
        self.assertGreater(record["most_per_s"], 0)
        for what in ("compiled", "cached"):
            self.assertGreater(record["first_answer_s"][what], 0)
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(len(simulate.validate(record, argparse.Namespace(seconds=0.5, seed=1))), 6)

    def test_percentiles(self):
        self.assertEqual([load.percentile([1, 2, 3, 4], part) for part in (0.01, 0.5, 0.51, 1)], [1, 2, 3, 4])
