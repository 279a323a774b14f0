"""examples/ray on a cluster of two nodes, one of which is killed under load.

WASINN names the command, WASINN_SOURCE the source tree, WASINN_GUESTS its compiled guests. Needs Ray (scripts/deps.sh ray)."""

import collections
import os
import pathlib
import signal
import socket
import sys
import threading
import time
import unittest
import warnings

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
MARK = f"TEST_OF_WASINN_ON_RAY={os.getpid()}"  # by which what this test has started is known
os.environ.update([MARK.split("=")])
for what in ("REPLICA", "HANDLE"):
    os.environ[f"RAY_SERVE_{what}_AUTOSCALING_METRIC_PUSH_INTERVAL_S"] = "0.5"
os.environ["RAY_agent_register_timeout_ms"] = "120000"  # where a machine is busy
os.environ["RAY_SERVE_PROXY_PREFER_LOCAL_NODE_ROUTING"] = "0"  # there is one proxy alone, and both nodes shall have requests
SOURCE, GUESTS = pathlib.Path(os.environ["WASINN_SOURCE"]), pathlib.Path(os.environ["WASINN_GUESTS"])
EXAMPLE = SOURCE / "examples/ray"
sys.path.append(str(EXAMPLE))  # of this process; nodes have it by PYTHONPATH
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(EXAMPLE)]))

import ray  # noqa: E402
from ray import serve  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

import client  # noqa: E402
import guests  # noqa: E402

WAIT = 90  # seconds, for what takes much less
IMAGES = {digit: (SOURCE / f"examples/classify/images/{file}").read_bytes() for digit, file in ((2, "0002_label-2.png"), (7, "0052_label-7.png"))}
ARGS = {
    "models": {"digits": str(SOURCE / "models/digits.onnx")}, "routes": {"/classify": str(GUESTS / "classify_route.wasm")},
    "autoscaling": {"max_replicas": 2, "upscale_delay_s": 0.1, "look_back_period_s": 1}, "max_queued_requests": 12,
}  # fmt: skip


def until(what):
    """Its value, once it is true."""
    end = time.monotonic() + WAIT
    while not (value := what()):
        if time.monotonic() > end:
            raise AssertionError("it does not come to be")
        time.sleep(0.05)
    return value


def servers():
    """The processes of `wasinn serve`."""
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if process.joinpath("comm").read_text() == "wasinn-serve\n" and MARK.encode() in process.joinpath("environ").read_bytes().split(b"\0"):
                found.add(int(process.name))
        except OSError:  # it has ended
            continue
    return found


class Clients:
    """Threads that ask without an end, each image in turn, and note each answer."""

    def __init__(self, url, threads, make_session):
        self.url, self.make_session = url, make_session
        self.ended = threading.Event()
        self.lock, self.answers, self.nodes, self.wrong = threading.Lock(), collections.Counter(), collections.Counter(), []
        self.threads = [threading.Thread(target=self.ask) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        session = self.make_session()
        while not self.ended.is_set():
            for digit, image in IMAGES.items():
                try:
                    answer = session.post(f"{self.url}/classify", image, timeout=WAIT)
                except OSError as error:
                    with self.lock:
                        self.answers[type(error).__name__] += 1
                    continue
                with self.lock:
                    self.answers[answer.status_code] += 1
                    self.nodes[answer.headers.get("x-ray-node")] += answer.ok
                    if answer.ok and digit != best(answer.json()):
                        self.wrong.append((digit, answer.text))
                    if answer.status_code == 429 and not answer.headers.get("Retry-After"):
                        self.wrong.append((digit, dict(answer.headers)))

    def count(self, what):
        with self.lock:
            return self.answers[what]

    def count_of(self, node):
        with self.lock:
            return self.nodes[node]

    def end(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()


def best(reported):
    return max(range(10), key=reported["scores"].__getitem__)


class RayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore", ResourceWarning)  # Ray's
        cls.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        cls.addClassCleanup(cls.cluster.shutdown)
        cls.other = cls.cluster.add_node(num_cpus=1)
        ray.init(address=cls.cluster.address, log_to_driver=False, configure_logging=False)
        cls.addClassCleanup(ray.shutdown)
        held = socket.socket()  # so that no other program gets its port before Ray listens there
        cls.addClassCleanup(held.close)
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            held.setsockopt(socket.SOL_SOCKET, option, 1)
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        cls.url = f"http://127.0.0.1:{port}"
        serve.start(proxy_location="HeadOnly", http_options={"port": port})
        cls.addClassCleanup(serve.shutdown)

    def replicas(self):
        """By their nodes, of those that run."""
        deployment = serve.status().applications["default"].deployments["Guests"]
        return deployment.replica_states.get("RUNNING", 0)

    def load(self, threads, make_session=client.session):
        clients = Clients(self.url, threads, make_session)
        self.addCleanup(clients.end)
        return clients

    def test_a_cluster_under_load_of_which_a_node_is_lost(self):
        serve.run(guests.app(ARGS))
        self.assertEqual(self.replicas(), 1)
        answer = client.session().post(f"{self.url}/classify?a=b", IMAGES[7], timeout=WAIT)
        self.assertEqual((answer.status_code, answer.headers["Content-Type"], best(answer.json())), (200, "application/json", 7))
        # The output of the guest and of wasinn is passed on, errors too.
        self.assertEqual(client.session().post(f"{self.url}/classify", b"no image", timeout=WAIT).status_code, 400)
        self.assertEqual(client.session().get(f"{self.url}/nothing", timeout=WAIT).status_code, 404)

        # More than a node has room for: another one joins, each with one replica.
        patient = self.load(8)
        until(lambda: self.replicas() == 2)
        nodes = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
        until(lambda: all(patient.count_of(node) > 20 for node in nodes))
        lost = self.other.node_id
        self.assertIn(lost, nodes)

        # A client without retries sees each refusal, with a time for the next try.
        impatient = self.load(64, lambda: client.session(attempts=0))
        until(lambda: impatient.count(429) > 0 and impatient.count(200) > 0)
        impatient.end()

        # A node is lost, with its requests. Clients that repeat theirs get answers, and no client gets a wrong one.
        impatient = self.load(8, lambda: client.session(attempts=0))
        before = patient.count_of(lost)
        until(lambda: impatient.count(200) > 50 and patient.count_of(lost) > before)
        self.cluster.remove_node(self.other, allow_graceful=False)
        until(lambda: lost not in {node["NodeID"] for node in ray.nodes() if node["Alive"]})
        until(lambda: len(servers()) == 1)
        left = (nodes - {lost}).pop()
        answered = patient.count_of(left)
        until(lambda: patient.count_of(left) > answered + 100)

        # Another node takes its place.
        new = self.cluster.add_node(num_cpus=1).node_id
        until(lambda: patient.count_of(new) > 20)

        # A server that crashes takes nothing along but what it had. Its replica is replaced.
        crashed = min(servers())
        os.kill(crashed, signal.SIGKILL)
        until(lambda: len(servers() - {crashed}) == 2)
        answered = patient.count(200)
        until(lambda: patient.count(200) > answered + 100)
        for clients in (patient, impatient):
            clients.end()
            self.assertEqual(clients.wrong, [])
        print(f"answers with retries: {dict(patient.answers)}, by node: {list(patient.nodes.values())}; without: {dict(impatient.answers)}", file=sys.stderr)
        self.assertEqual(set(patient.answers), {200})
        self.assertLessEqual(set(impatient.answers) - {200, 429, 500, 503}, {"ConnectionError"})
