"""Guests of models that a server has."""

import signal

from command import ECHO, PROBE
from fake import Fake
from http_fake import HttpFake
from server import Server, ServeTest

MODEL = "in x f32 2,3\n"
SUM = "errno 0 sum 21"  # of what the probe sends, where it comes back


class RemoteTest(ServeTest):
    scheme, secure, port_flag = "grpc", "grpcs", "--grpc-port"
    fake_type = Fake

    def fake(self, *args, **more):
        fake = self.fake_type(*args, **more)
        self.addCleanup(fake.stop)
        return fake

    def port_of(self, server):
        return getattr(server, "grpc_port", None) or getattr(server, "port", server)

    def path_of(self, model):
        return model

    def address(self, *servers, model="m", scheme=None):
        """The address of our own servers, fakes, or ports."""
        hosts = ",".join(f"127.0.0.1:{self.port_of(one)}" for one in servers)
        return f"{scheme or self.scheme}://{hosts}/{self.path_of(model)}"

    def configure(self, address, *lines, more=""):
        """Settings with a model `m` at an address, and what its config has."""
        text = f"backend_dirs = ['{ECHO}']\n{more}\n[models.m]\npath = '{address}'\n[models.m.config]\n" + "\n".join(lines)
        return self.file("remote.toml", text + "\n")

    def infer_in_guest(self, address, *lines, n=1, more="", flags=()):
        """The output of a guest that computes n times."""
        settings = self.configure(address, *lines, more=more)
        return self.wasinn("run", "--config", settings, *flags, PROBE, *(["infer", "m"] * n))

    def expect_sums(self, result, n=1, err=""):
        self.check(result, err=err)
        self.assertEqual(result.out.splitlines(), [f"infer m {SUM}"] * n, result)

    def expect_failure(self, result, errno, text):
        """Expects the error of a guest whose only compute failed."""
        self.assertIn(f"errno {errno} ", result.out, result)
        self.assertRegex(result.err, text, result)

    def expect_unavailable(self, answer, text):
        """Expects a 503 of a second server."""
        self.assertEqual(answer.status, 503, answer)
        self.assertIn(text, answer.json()["error"])

    def front(self, address, *lines, flags=()):
        """A second server, whose model `m` is that of the first."""
        server = Server(self.dir, self.env, ("--config", self.configure(address, *lines), *flags))
        self.addCleanup(server.process.communicate)
        self.addCleanup(server.process.send_signal, signal.SIGKILL)
        return server


class OverHttp:
    """Before a test case: the same over HTTP."""

    scheme, secure, port_flag = "http", "https", "--http-port"
    fake_type = HttpFake

    def port_of(self, server):
        return getattr(server, "port", server)

    def path_of(self, model):
        name, _, version = model.partition(":")
        return f"v2/models/{name}" + (f"/versions/{version}" if version else "")


class OverJson(OverHttp):
    """At servers that take no raw bytes."""

    def fake_type(self, *args, **more):
        return HttpFake(*args, binary=False, **more)


def request(values=(1, 2, 3, 4, 5, 6)):
    return {"inputs": [{"name": "x", "shape": [2, 3], "datatype": "FP32", "data": list(values)}]}


def sum_of(answer):
    return sum(answer.json()["outputs"][0]["data"])


