"""bench/witness: each attack ends in errors for the attacker alone. Nothing here looks at a time.

WASINN_SOURCE names the source tree, WASINN_BUILD the build."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(os.environ["WASINN_SOURCE"]) / "bench/witness/bench.py"


class WitnessTest(unittest.TestCase):
    def test_no_request_of_the_witness_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "witness.json"
            command = [sys.executable, "-B", BENCH, "--seconds", "1", "--rounds", "1", "--json", file]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            reported = json.loads(file.read_text())
        for attack, one in reported.items():
            for witness, windows in one["witnesses"].items():
                for window in windows.values():
                    self.assertGreater(window["requests"], 0, (attack, witness))

    def test_an_unknown_attack_is_named(self):
        done = subprocess.run([sys.executable, "-B", BENCH, "nothing"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("found nothing", done.stderr)
