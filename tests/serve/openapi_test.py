"""The server and docs/serve/openapi.yaml, held against each other by schemathesis, which asks all that the description allows, and what it
does not, and looks at each answer: no 5xx, a status and a type that are described, bodies and headers of the form that is."""

import json

import schemathesis
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from examined import DESCRIPTION, Examined
from server import ServeTest, head, until

INFER = "/v2/models/{model}/infer"
REQUEST = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [2, 3], "data": [1, 2, 3, 4, 5, 6]}]}


class Models(Examined):
    """By schemathesis' own command."""

    def start(self):
        return self.serve(models={"echo": "in x f32 2,3\n"})

    def check_infers(self):
        answer = self.server.infer("echo", REQUEST)
        self.check_answer(answer, 200)
        self.assertEqual(answer.json()["outputs"][0]["data"], [1, 2, 3, 4, 5, 6])

    def test_models_and_inferences(self):
        paths = {path: of for path, of in self.paths.items()
                 if not path.endswith(("load", "/generate", "/generate_stream")) and path != "/metrics" and not path.startswith("/v1/")}
        # With some length of the JSON in each request, nothing else would be looked at.
        for path in paths.values():
            path["parameters"] = [one for one in path.get("parameters", ()) if not one["$ref"].endswith("/JsonLength")]
        answers = self.examine(paths)
        described = {f"{method.upper()} {path}" for path, of in paths.items() for method in of if method != "parameters"}
        self.assertEqual(set(answers), described)
        for operation, statuses in answers.items():
            with self.subTest(operation):
                self.assertGreater(statuses[200], 0)
                self.assertGreater(statuses[405], 0)
                if "{model}" in operation:
                    self.assertGreater(statuses[404], 0)
                if operation.startswith("POST /v2/models"):
                    self.assertGreater(statuses[400], 50)
        self.check_infers()

    def test_lengths_of_the_json(self):
        statuses = self.examine({INFER: self.paths[INFER]}, phases="fuzzing")[f"POST {INFER}"]
        self.assertGreater(statuses[400], 0)
        self.check_infers()

    def test_load_and_unload(self):
        answers = self.examine({path: of for path, of in self.paths.items() if path.endswith("load")})
        self.assertEqual(len(answers), 2)
        for statuses in answers.values():
            self.assertGreater(statuses[200], 0)
            self.assertGreater(statuses[404], 0)
        self.check_answer(self.server.request("POST", "/v2/repository/models/echo/load"), 200)
        self.check_infers()

    def test_metrics(self):
        paths = {"/metrics": self.paths["/metrics"]}
        # This port gives them for any method.
        answers = self.examine(paths, "--exclude-checks", "unsupported_method", port=self.server.metrics_port)
        self.assertEqual(set(answers), {"GET /metrics"})


class Described(ServeTest):
    """Answers that chance seldom brings about."""

    CHECKS = (status_code_conformance, content_type_conformance, response_headers_conformance, response_schema_conformance)

    def setUp(self):
        super().setUp()
        self.description = schemathesis.openapi.from_path(DESCRIPTION)

    def ask(self, server, model="echo", path=INFER, method="POST", body=REQUEST, **more):
        """The status of a described answer."""
        case = self.description[path][method].Case(path_parameters={"model": model}, body=body, media_type="application/json")
        answer = case.call(base_url=f"http://127.0.0.1:{server.port}", **more)
        case.validate_response(answer, checks=self.CHECKS)
        return answer.status_code

    def test_errors(self):
        late = self.serve("--nn-timeout", "50ms", models={"late": "in x f32 2,3\ndelay 60000\n"})
        self.assertEqual(self.ask(late, "late"), 504)
        models = {"echo": "in x f32 2,3\n", "fails": "in x f32 2,3\nfail 5\n"}
        server = self.serve("--max-body", "64K", "--max-json", "4K", models=models)
        self.assertEqual(self.ask(server), 200)
        self.assertEqual(self.ask(server, body={"inputs": []}), 400)
        self.assertEqual(self.ask(server, "no"), 404)
        self.assertEqual(self.ask(server, body={"inputs": [], "id": "a" * 5000}), 413)
        self.assertEqual(self.ask(server, headers={"Content-Encoding": "br"}), 415)
        self.assertEqual(self.ask(server, "fails"), 500)
        self.assertEqual(self.ask(server, path="/v2/repository/models/{model}/unload"), 200)
        self.assertEqual(self.ask(server), 503)
        for path in ("/v2/models/{model}", *(f"/v2/models/{{model}}/{what}" for what in ("ready", "config", "stats"))):
            self.assertEqual(self.ask(server, path=path, method="GET"), 503)
        self.file("echo.gguf", "GGUF\nfail_load 1\n")
        self.assertEqual(self.ask(server, path="/v2/repository/models/{model}/load"), 400)
        self.assertIn("model 'echo:1' cannot be loaded", self.log_of(server))

    def test_too_many(self):
        server = self.serve("--max-waiting", "1", models={"echo": "in x f32 2,3\n", "m": "in x f32 2,3\ngate g\n"})
        self.assertEqual(self.ask(server), 200)  # and what asks is loaded
        body = json.dumps(REQUEST).encode()
        connection = server.socket()
        self.addCleanup(connection.close)
        connection.sendall(head(len(body)) + body)
        until(lambda: server.busy() == 1)
        self.assertEqual(self.ask(server, "m"), 429)

    def test_tensors_as_bytes(self):
        server = self.serve(models={"echo": "in x f32 2,3\n"})
        self.assertEqual(self.ask(server, body={**REQUEST, "parameters": {"binary_data_output": True}}), 200)
