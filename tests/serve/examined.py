"""schemathesis' requests to a server by docs/serve/openapi.yaml: its own command, on a server of the test's."""

import collections
import json
import os
import pathlib
import subprocess
import sys

import yaml

from server import ServeTest

DESCRIPTION = pathlib.Path(__file__).resolve().parents[2] / "docs/serve/openapi.yaml"
# Mostly valid names, so that more than names is tested. A request that fits the description, but not the model, gets
# 400, which schemathesis would call a fault (positive data). One that does not fit gets 413 if its JSON is large.
CONFIG = """
[dictionaries.models]
values = ["echo", "tiny"]
[dictionaries.versions]
values = ["1"]
[dictionaries.tensors]
values = ["x"]
[parameters]
"path.model" = { dictionary = "models", probability = 0.8 }
"path.version" = { dictionary = "versions", probability = 0.8 }
"body.inputs[*].name" = { dictionary = "tensors", probability = 0.8 }
"body.outputs[*].name" = { dictionary = "tensors", probability = 0.8 }
[checks.positive_data_acceptance]
enabled = false
[checks.negative_data_rejection]
expected-statuses = [400, 404, 405, 413]
"""


class Examined(ServeTest):
    """By schemathesis' own command."""

    def setUp(self):
        super().setUp()
        self.server = self.start()
        self.description = yaml.safe_load(DESCRIPTION.read_text())
        self.paths = self.description["paths"]
        self.file("schemathesis.toml", CONFIG)

    def examine(self, paths, *flags, port=None, phases="examples,coverage,fuzzing"):
        """How often each operation of these paths was answered with each status."""
        self.file("openapi.json", json.dumps({**self.description, "paths": paths}))
        command = [sys.executable, "-B", "-m", "schemathesis.cli", "--no-color", "--config-file", "schemathesis.toml",
                   "run", "openapi.json", "--url", f"http://127.0.0.1:{port or self.server.port}",
                   "--generation-deterministic", "--max-examples", "10", "--phases", phases, "--continue-on-failure",
                   "--report", "ndjson", "--report-ndjson-path", "report.ndjson", *flags]
        env = {**self.env, "PYTHONPATH": os.environ["PYTHONPATH"]}
        done = subprocess.run(command, cwd=self.dir, env=env, capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        answers = collections.defaultdict(collections.Counter)
        for line in (self.dir / "report.ndjson").read_text().splitlines():
            answer = json.loads(line).get("ScenarioFinished")
            for one in answer["recorder"].get("interactions", {}).values() if answer else ():
                answers[answer["recorder"]["label"]][one["response"]["status_code"]] += 1
        return answers
