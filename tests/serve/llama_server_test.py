"""The tests that llama.cpp has for its own server, on ours, with models of this repository. Differences, and tests that these models cannot pass, are
listed in llama_server/expected.toml, test by test."""

import json
import os
import pathlib
import subprocess
import sys
import tomllib

from command import CommandTest

HERE = pathlib.Path(__file__).resolve().parent / "llama_server"
TESTS = pathlib.Path(os.environ["WASINN_LLAMA_SERVER_TESTS"])
EXPECTED = tomllib.loads((HERE / "expected.toml").read_text())


class LlamaServerTest(CommandTest):
    """The result of each test is the listed one, or it passed, or needs something that is not there."""

    def run_tests(self):
        results = self.dir / "results.json"
        command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "local_models", "-m", "not slow",
                   *(f"unit/test_{name}.py" for name in EXPECTED["files"])]
        path = os.pathsep.join((str(HERE), os.environ["PYTHONPATH"]))
        ours = {name: os.environ[name] for name in ("WASINN", "WASINN_MODELS", "WASINN_TEST_MODELS")}
        done = subprocess.run(command, cwd=TESTS, env={**self.env, **ours, "PYTHONPATH": path, "RESULTS": str(results), "WASINN_CONFIG": ""},
                              capture_output=True, text=True, errors="replace", timeout=880)
        self.assertIn(done.returncode, (0, 1), done.stdout[-3000:] + done.stderr[-3000:])
        return json.loads(results.read_text())

    def test_wasinn(self):
        results = self.run_tests()
        failed = {test: answer for test, answer in results.items() if answer not in ("passed", "skipped")}
        self.assertEqual(sorted(failed), sorted(sum(EXPECTED["fails"].values(), [])), json.dumps(failed, indent=1))
        self.assertEqual(list(results.values()).count("passed"), EXPECTED["passed"])
