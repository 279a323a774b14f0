"""The same guest gets the same bytes from any server of the model: Triton, kserve, mlserver, or the host itself."""

import http.client
import os
import pathlib
import tempfile

import grpc
import inference_pb2 as pb
import inference_pb2_grpc as service_pb2_grpc

import python_servers
from command import WAIT, refused_port
from python_servers import MODEL
from remote import OverHttp, RemoteTest

IMAGES = pathlib.Path(os.environ["WASINN_IMAGES"])
CLASSIFY = pathlib.Path(os.environ["WASINN_CLASSIFY"])


class Others(RemoteTest):
    def setUp(self):
        super().setUp()
        self.env["WASINN_CONFIG"] = ""
        self.images = sorted(path.name for path in IMAGES.glob("*.png"))[:20]
        self.assertEqual(len(self.images), 20)

    def classify(self, path):
        """The guest's output: for each image its class, and the output's bytes."""
        result = self.wasinn("run", "--model", f"digits={path}", "--dir", f"{IMAGES}::/images", str(CLASSIFY), "--raw",
                             *(f"/images/{name}" for name in self.images))
        self.check(result, err="")
        return result.out

    def start(self, begin, *args):
        """The port of a server that is ready."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
        ports = self.ports = {what: refused_port(self) for what in ("http", "grpc", "metrics")}
        log = open(self.dir / "server.log", "wb")
        self.addCleanup(log.close)
        process = begin(folder, log, ports, *args)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        options = [("grpc.enable_http_proxy", 0), ("grpc.max_reconnect_backoff_ms", 500)]
        channel = grpc.insecure_channel(f"127.0.0.1:{ports['grpc']}", options)
        self.addCleanup(channel.close)
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        while not self.is_ready(stub):  # they import much, which takes as long as it takes
            self.assertIsNone(process.poll(), (self.dir / "server.log").read_text())
        return ports[self.scheme]

    def is_ready(self, stub):
        try:
            return stub.ModelReady(pb.ModelReadyRequest(name="digits"), timeout=2, wait_for_ready=True).ready
        except grpc.RpcError:
            return False

    def expect_same(self, begin, *args):
        port = self.start(begin, *args)
        self.assertEqual(self.classify(self.address(port, model="digits")), self.classify(MODEL))

    def test_triton(self):
        self.expect_same(python_servers.start_triton)

    def test_kserve(self):
        self.expect_same(python_servers.start_kserve)

    def test_kserve_with_numbers_instead_of_bytes(self):
        self.expect_same(python_servers.start_kserve, False)

    def test_mlserver(self):
        self.expect_same(python_servers.start_mlserver)

    def test_wasinn(self):
        server = self.serve("--model", f"digits={MODEL}")
        self.assertEqual(self.classify(self.address(server, model="digits")), self.classify(MODEL))

    def test_wasinn_behind_wasinn(self):
        server = self.serve("--model", f"digits={MODEL}")
        second = self.serve("--model", f"digits={self.address(server, model='digits')}")
        self.assertEqual(self.classify(self.address(second, model="digits")), self.classify(MODEL))


class HttpOthers(OverHttp, Others):
    def is_ready(self, stub):
        """Some serve gRPC before."""
        return super().is_ready(stub) and self.is_ready_over_http()

    def is_ready_over_http(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["http"], timeout=WAIT)
        try:
            connection.request("GET", "/v2/models/digits/ready")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()
