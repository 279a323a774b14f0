"""The command `wasinn` as pip installed it."""

import json
import os
import re
import signal
import subprocess
import unittest

from surroundings import DIGITS, GUESTS, IMAGES, SITE, SOURCE, InstalledTest

CLASSIFY = GUESTS / "classify.wasm"


def wasinn(*args):
    return subprocess.run(["wasinn", *args], capture_output=True, text=True, timeout=60)


class CommandTest(InstalledTest):
    def test_it_prints_the_version_of_the_headers(self):
        version = re.search(r'WASINN_VERSION "(.*)"', (SOURCE / "include/wasinn/types.h").read_text())[1]
        self.assertIn(version, wasinn("--version").stdout)

    def test_it_finds_the_frameworks_beside_it(self):
        found = {backend["name"]: backend for backend in json.loads(wasinn("backends", "--json").stdout)}
        self.assertIn("onnx", DIGITS)
        for name in DIGITS:
            self.assertTrue(found[name]["available"], found[name])
            self.assertTrue(found[name]["library"].startswith(str(SITE)), found[name])

    def test_it_says_how_pip_installs_a_framework(self):
        (self.dir / "none.toml").write_text(
            "[backends.onnx]\nlibrary = '/nonexistent'\n[backends.llama]\nlibrary = '/nonexistent'\n"
        )
        found = {
            b["name"]: b
            for b in json.loads(wasinn("backends", "--json", "--config", str(self.dir / "none.toml")).stdout)
        }
        for name in ("onnx", "llama"):
            if name in DIGITS or (SITE / "llama_cpp").is_dir():
                self.assertEqual(found[name]["install"], f"pip install 'wasinn[{name}]'")
                self.assertIn(f"; pip install 'wasinn[{name}]' installs it", found[name]["missing"])
                self.assertNotIn("deps.sh", found[name]["missing"])

    def test_a_program_classifies_with_each_framework(self):
        for backend, model in DIGITS.items():
            done = wasinn(
                "run", "--model", f"digits={model}", "--dir", f"{IMAGES}::.", str(CLASSIFY), "images/0002_label-2.png"
            )
            self.assertEqual((backend, done.returncode, done.stderr), (backend, 0, ""))
            self.assertRegex(done.stdout, r"2 +█+\S* +97\.\d %", backend)

    def test_the_demo_is_one_command(self):
        done = wasinn("demo")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^\$ wasinn run --model digits=\S+ .*\n(.*\n)+ .*2 +█+\S* +97\.\d %")

    def test_its_exit_code_is_the_programs(self):
        self.assertEqual(wasinn("run", str(self.dir / "none.wasm")).returncode, 125)
        self.assertEqual(wasinn("run", "--unknown").returncode, 2)
        (self.dir / "trap.wat").write_text('(module (memory (export "memory") 1) (func (export "_start") unreachable))')
        self.assertEqual(wasinn("run", str(self.dir / "trap.wat")).returncode, 134)

    def test_it_is_the_process_that_was_started(self):
        (self.dir / "loop.wat").write_text(
            '(module (memory (export "memory") 1) (func (export "_start") (loop (br 0))))'
        )
        run = subprocess.Popen(["wasinn", "run", "--timeout", "60s", self.dir / "loop.wat"])
        while os.path.basename(os.readlink(f"/proc/{run.pid}/exe")) != "wasinn":
            self.assertIsNone(run.poll())
        run.send_signal(signal.SIGTERM)
        self.assertIn(run.wait(timeout=30), (143, -signal.SIGTERM))


if __name__ == "__main__":
    unittest.main()
