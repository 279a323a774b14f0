"""The tests that llama.cpp has for its own server, on ours, with models of this repository. What differs, and what they do not show with these models,
stands in llama_server/expected.toml, test by test."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import unittest

from command import CommandTest

HERE = pathlib.Path(__file__).resolve().parent / "llama_server"
TESTS = pathlib.Path(os.environ["WASINN_LLAMA_SERVER_TESTS"])
EXPECTED = tomllib.loads((HERE / "expected.toml").read_text())
PASSED, FAILED, SKIPPED = "passes", "fails", "skipped"


class LlamaServerTest(CommandTest):
    """What came of each test is what is listed, or it passed, or needs what there is not."""

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
        alike = EXPECTED["alike"]
        said = {test: re.sub(r" at 0x[0-9a-f]+", "", results.get(test, "")).partition("\n")[0][:80] for test in alike}
        self.assertEqual(said, alike, "they say something else")
        listed = {test: group["outcome"] for group in EXPECTED["groups"] for test in group["tests"]} | dict.fromkeys(alike, FAILED)
        self.assertEqual(len(listed), len(alike) + sum(len(group["tests"]) for group in EXPECTED["groups"]), "a test is listed twice")
        found = {test: {"passed": PASSED, "skipped": SKIPPED}.get(outcome, FAILED) for test, outcome in results.items()}
        self.assertEqual(sorted(listed.keys() - found.keys()), [], "tests that are listed and not there")
        others = {test: results[test] for test, outcome in found.items()
                  if outcome != listed.get(test, PASSED) and not (outcome == SKIPPED and test not in listed)}
        self.assertEqual(others, {}, "other outcomes than those that are listed")
        self.assertEqual(list(found.values()).count(PASSED), EXPECTED["passed"])


if __name__ == "__main__":
    unittest.main()
