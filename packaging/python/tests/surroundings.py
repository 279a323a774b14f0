"""The surroundings of the tests: the environment, an empty home, and a PATH with only the environment's programs.

WASINN_SOURCE is the source tree, WASINN_GUESTS its compiled guests."""

import os
import pathlib
import sysconfig
import tempfile
import unittest

SOURCE, GUESTS = pathlib.Path(os.environ["WASINN_SOURCE"]), pathlib.Path(os.environ["WASINN_GUESTS"])
MODELS, IMAGES = SOURCE / "models", SOURCE / "examples/classify"
SITE = pathlib.Path(sysconfig.get_path("platlib"))
# For each framework that the environment has, the model that it runs.
DIGITS = {
    backend: MODELS / file
    for backend, place, file in (
        ("onnx", "onnxruntime/capi", "digits.onnx"),
        ("openvino", "openvino/libs", "digits.xml"),
        ("torch", "torch/lib", "digits.pt"),
        ("tensorflow", "tensorflow", "digits_saved_model"),
        ("tflite", "wasinn/_prefix/lib/wasinn", "digits.tflite"),
    )
    if any(SITE.joinpath(place).glob("*.so*"))
}


class InstalledTest(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory(prefix="wasinn-python-")
        self.addCleanup(home.cleanup)
        self.dir = pathlib.Path(home.name)
        kept = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(kept)))
        os.environ["HOME"] = home.name
        # The compiled guest, once for all tests.
        os.environ["XDG_CACHE_HOME"] = os.path.join(os.environ["WASINN_DIST"], "cache")
