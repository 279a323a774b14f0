"""scripts/gpu_test.sh where there is no GPU, on any machine: an nvidia-smi of this test says so."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])

NO_GPU = 77


class ScriptTest(unittest.TestCase):
    def script(self, *args, says="", status=0):
        with tempfile.TemporaryDirectory() as folder:
            smi = pathlib.Path(folder) / "nvidia-smi"
            smi.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
            smi.chmod(0o755)
            # Nothing may be kept or fetched: there is no home.
            env = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": "/nowhere"}
            return subprocess.run([SOURCE / "scripts/gpu_test.sh", *args], env=env, cwd=folder, capture_output=True, text=True, timeout=60)

    def test_one_line_and_a_status_of_its_own(self):
        for says, status in (("No devices were found", 6), ("No devices were found", 0), ("couldn t communicate with the NVIDIA driver", 9)):
            for args in ((), ("onnx",), ("--build", "/")):
                done = self.script(*args, says=says, status=status)
                self.assertEqual((done.returncode, done.stderr), (NO_GPU, ""), done)
                self.assertRegex(done.stdout, rf"\A\[ *\d+\.\d s\] not run: there is no NVIDIA GPU here: {re.escape(says)}\n\Z")

    def test_wrong_usage(self):
        for args in (("--prefix",), ("tensorflow",), ("--gpu",), ("--vulkan", "torch"), ("--vulkan", "--cpu")):
            done = self.script(*args)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("usage: scripts/gpu_test.sh", done.stdout)
        done = self.script("--prefix", "/nowhere")
        self.assertEqual((done.returncode, done.stderr), (1, "error: there is no folder /nowhere\n"))
