"""The guest that is a model for the tests (guests/model.cc): how it is served and asked."""

import os
import pathlib

from configured import ConfiguredTest
from server import until

PROBE = os.environ["WASINN_MODEL_PROBE"]
HOST = "in in f32 1,2\n"  # what the guest calls "host"


def request(what="double", x=(1, 2), **more):
    return {"inputs": [{"name": "what", "datatype": "BYTES", "shape": [1], "data": [what]},
                       {"name": "x", "datatype": "FP32", "shape": [len(x) // 2, 2], "data": list(x)}], **more}


def data(answer):
    return {output["name"]: output["data"] for output in answer.json()["outputs"]}


def await_loop(server):
    """Until a guest of the server's has looped for a while, by what the system says of it."""

    def ticks():
        return int(pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11])

    before = ticks()
    until(lambda: ticks() > before + 20)


class GuestModelTest(ConfiguredTest):
    def serve_guest(self, *flags, name="g", models=None):
        return self.serve("--guest-model", f"{name}={PROBE}", *flags, models=models)

    def expect_double(self, server, name="g"):
        answer = server.infer(name, request())
        self.check_answer(answer, 200)
        self.assertEqual(data(answer), {"y": [2, 4], "label": ["row 0"]})

    def expect_log(self, server, text):
        """Its end, with a log of that."""
        self.assertIn(text, self.log_of(server))
