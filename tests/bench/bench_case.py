"""Shared by the tests of wasinn bench.

WASINN names the command, WASINN_SOURCE the source tree."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

WASINN = os.environ["WASINN"]
SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])

TINY = SOURCE / "tests/models/tiny"

LEVEL_KEYS = {"guests", "per_s", "per_s_ratio", "spread", "p50_us", "p90_us", "p99_us", "steps_us"}
NOISE = re.compile(r"^wasinn: warning: the machine is (busy|noisy): .*\n", re.MULTILINE)


class BenchTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-bench-"))
        self.addCleanup(shutil.rmtree, self.dir)

    def bench(self, *args):
        """The command's exit code, stdout, and stderr but for what it says of the machine, of which no test knows how busy it is."""
        done = subprocess.run([WASINN, "bench", *map(str, args)], cwd=self.dir, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout, NOISE.sub("", done.stderr)

    def report(self, *args, iterations=5):
        code, out, err = self.bench("--json", "--iterations", iterations, *args)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def check_error(self, text, *args, code=125):
        result = self.bench("--iterations", 5, *args)
        self.assertEqual(result[:2], (code, ""), result)
        self.assertIn(text, result[2].splitlines()[0])
        self.assertTrue(result[2].startswith("wasinn: error: "), result)
