"""The image guest-builder: makes a guest in each language, in a container with a read-only root and without rights, and runs the guests here. Not one of
ctest's: the image has gigabytes.
usage: guest_builder.py ARCHIVE            with PYTHONPATH as tests/kubernetes/CMakeLists.txt has it, WASINN (a command that runs components), as root"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import container
from container import Container
from manifests import ROOT

OURS = "/opt/wasinn"
EXAMPLES = f"{OURS}/examples/classify-component"
LIMITS = {"memory": "8Gi", "cpu": "2"}
RIGHTS = {"runAsUser": 65532, "runAsGroup": 65532, "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
          "seccompProfile": {"type": "RuntimeDefault"}}


class GuestBuilderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-builder-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.image = container.unpack(ARCHIVE, cls.folder)

    def check_guest(self, guest, *commands, arguments=("--dir", f"{ROOT}/examples/classify::.", "images/0002_label-2.png"), says="2"):
        """Made by the commands, run by wasinn: its first word is the digit, or it prints scores."""
        mounts = [{"name": "work", "mountPath": "/work"}, {"name": "tmp", "mountPath": "/tmp"}]
        spec = {"command": ["bash", "-ec", " && ".join(commands)], "args": [], "securityContext": RIGHTS, "resources": {"limits": LIMITS}, "volumeMounts": mounts}
        made = Container(self.folder / "rootfs", self.image, {}, spec, more=())
        self.addCleanup(made.remove)
        done = made.run_to_end()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        flags, words = arguments[:-1], arguments[-1:]
        command = [os.environ["WASINN"], "run", "--model", f"digits={ROOT}/models/digits.onnx", *flags, made.volumes["work"] / guest, *words]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn(says, ran.stdout)

    def test_c(self):
        self.check_guest("classify.component.wasm",
                         f"clang-19 --target=wasm32-wasi -O2 -nostartfiles -I{OURS}/guest/c -idirafter /usr/include {EXAMPLES}/c/classify.c"
                         f" {OURS}/guest/c/wasi_nn_component_start.c -o classify.wasm",
                         f"jco embed --wit {OURS}/guest/wit/deps/wasi-nn classify.wasm -o embedded.wasm",
                         "jco new --wasi-command embedded.wasm -o classify.component.wasm")

    def test_cpp(self):
        self.check_guest("classify.wasm", f"clang++-19 --target=wasm32-wasi -std=c++20 -O2 -fno-exceptions -I{OURS}/guest/c -I{OURS}/guest/cpp"
                         f" {OURS}/examples/classify/classify.cc {OURS}/examples/classify/image.cc -o classify.wasm")

    def test_rust(self):
        self.check_guest("digits.wasm", f"cp -r {OURS}/guest/rust .", "CARGO_TARGET_DIR=/tmp/target cargo-wasm build --release --manifest-path rust/Cargo.toml --example digits",
                         "cp /tmp/target/wasm32-wasip1/release/examples/digits.wasm .", arguments=("unused",), says="0.")

    def test_go(self):
        self.check_guest("digits.wasm", f"cd {OURS}/guest/go", "go-wasm build -o /work/digits.wasm ./examples/digits", arguments=("unused",), says="0.")

    def test_python(self):
        self.check_guest("classify.component.wasm", f"componentize-py -d {OURS}/guest/wit -w program componentize -p {EXAMPLES}/python classify -o classify.component.wasm")

    def test_javascript(self):
        self.check_guest("classify.component.wasm", f"componentize-js {EXAMPLES}/javascript/classify.js --wit {OURS}/guest/wit -n program-with-files"
                         " --disable http fetch-event --out classify.component.wasm")


if __name__ == "__main__":
    ARCHIVE = sys.argv.pop(1)
    unittest.main()
