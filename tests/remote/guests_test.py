"""Guests whose model another server has see an ordinary one."""

import json
import signal
import threading

import grpc

from command import WAIT, longer_and_longer, refused_port, until
from fake import PROBE as TENSORS
from fake import answer, echo, metadata
from remote import MODEL, OverHttp, OverJson, RemoteTest
from types_of_numpy import ARRAYS, MODELS


class Guests(RemoteTest):
    def test_bytes_come_back_unchanged(self):
        server = self.serve(models={"m": MODEL})
        self.expect_sums(self.infer_in_guest(self.address(server), n=3), 3)
        self.expect_sums(self.infer_in_guest(self.address(server, model="m:1")))

    def test_the_model_of_a_flag(self):
        server = self.serve(models={"m": MODEL})
        result = self.run_probe("infer", "m", flags=("--model", f"m={self.address(server)}"))
        self.expect_sums(result)

    def test_inspect_shows_the_servers_metadata(self):
        server = self.serve(models={"m": "in first f32 -1,3\nin second i64 2\n"})
        shown = self.wasinn("inspect", "--json", self.address(server))
        self.check(shown, err="")
        described = json.loads(shown.out)
        self.assertEqual(described["encoding"], "remote")
        self.assertEqual([(one["name"], one["type"], one["shape"]) for one in described["inputs"]],
                         [("first", "FP32", [-1, 3]), ("second", "INT64", [2])])
        self.assertEqual(described["inputs"], described["outputs"])

    def test_a_check_of_models_names_the_protocol(self):
        address = self.address(self.serve(models={"m": MODEL}))
        self.check(self.wasinn("models", "--model", f"m={address}", "--verify"), out=f"loads over {self.scheme}\n", err="")

    def test_every_type_comes_back_unchanged(self):
        server = self.serve(models=MODELS)
        lines = "".join(f"[models.{word}]\npath = '{self.address(server, model=word)}'\n" for word in MODELS)
        front = self.serve("--config", self.file("types.toml", lines))
        for datatype, (word, array) in ARRAYS.items():
            with self.subTest(datatype):
                head = {"inputs": [{"name": "x", "shape": list(array.shape), "datatype": datatype,
                                    "parameters": {"binary_data_size": array.nbytes}}],
                        "outputs": [{"name": "x", "parameters": {"binary_data": True}}]}
                described = front.infer(word, head, array.tobytes())
                self.assertEqual(described.status, 200, described)
                length = int(described.headers["Inference-Header-Content-Length"])
                self.assertEqual(json.loads(described.body[:length])["outputs"][0]["datatype"], datatype)
                self.assertEqual(described.body[length:], array.tobytes())

    def test_a_text_travels_as_its_bytes(self):
        server = self.serve(models={"text": "in x u8 -1 opaque\n"})
        front = self.front(self.address(server, model="text"))
        described = front.infer("m", {"inputs": [{"name": "x", "shape": [1], "datatype": "BYTES", "data": ["grüße"]}]})
        self.assertEqual(described.status, 200, described)
        self.assertEqual(bytes(described.json()["outputs"][0]["data"]).decode(), "grüße")

    def test_headers_and_deadlines_reach_the_server(self):
        seen = []

        def infer(request, context):
            seen.append(context.time_remaining() if self.scheme == "grpc" else 50)
            return echo(request)

        fake = self.fake(infer)
        result = self.infer_in_guest(self.address(fake), "headers = {authorization = 'Bearer secret', x-team = 'red'}",
                                     more="[limits]\ncompute_timeout_ms = 50000\n")
        self.expect_sums(result)
        self.assertEqual((fake.headers["authorization"], fake.headers["x-team"]), ("Bearer secret", "red"))
        self.assertTrue(0 < seen[0] < 60, seen)

    def test_only_wanted_outputs_are_requested(self):
        asked = []

        def infer(request, context):
            asked.append([one.name for one in request.outputs])
            return echo(request)

        fake = self.fake(infer, metadata(outputs=(*TENSORS, ("other", "FP32", (2, 3)))))
        front = self.front(self.address(fake))
        sent = {"inputs": [{"name": "x", "shape": [2, 3], "datatype": "FP32", "data": [0] * 6}], "outputs": [{"name": "x"}]}
        self.assertEqual(front.infer("m", sent).status, 200)
        self.assertEqual(asked, [["x"]])

    def test_a_guests_stop_reaches_the_server(self):
        ended, over = [], threading.Event()
        self.addCleanup(over.set)

        def infer(request, context):
            context.add_callback(lambda: ended.append(context.is_active()))
            over.wait()
            return echo(request)

        fake = self.fake(infer)
        for timeout in longer_and_longer():
            result = self.infer_in_guest(self.address(fake), more=f"[limits]\ncompute_timeout_ms = {timeout}\n")
            self.expect_failure(result, 5, "compute: timeout: remote: ")  # the host's deadline, or that of the call
            if fake.inferred > 0:
                break
        until(lambda: ended and set(ended) == {False})


class Failures(RemoteTest):
    def test_an_unreachable_server_is_an_error(self):
        """A guest does not learn the address."""
        result = self.infer_in_guest(self.address(refused_port(self)))
        self.expect_failure(result, 5, "the model's server: failed to connect")
        self.assertNotIn("127.0.0.1", result.err)

    def test_a_missing_model_is_an_error(self):
        server = self.serve(models={"m": MODEL})
        self.expect_failure(self.infer_in_guest(self.address(server, model="none")), 8, "there is no model 'none'")

    def test_an_error_of_the_model_keeps_its_message(self):
        fake = self.fake(lambda request, context: context.abort(grpc.StatusCode.INTERNAL, "division by\nzero"))
        self.expect_failure(self.infer_in_guest(self.address(fake)), 5, "division by zero")
        self.assertEqual(fake.inferred, 1)

    def test_an_answer_must_match_the_metadata(self):
        fake = self.fake(lambda request, context: answer("FP64", raw=bytes(48)))
        self.expect_failure(self.infer_in_guest(self.address(fake)), 5, "expected FP32, and the server answers with FP64")

    def test_a_huge_answer_is_refused(self):
        fake = self.fake(lambda request, context: answer(raw=bytes(200_000)))
        self.expect_failure(self.infer_in_guest(self.address(fake), "max_message_bytes = 100000"), 7, "larger than max")

    def test_a_description_of_too_many_tensors_is_refused(self):
        many = [(f"x{i}", "FP32", (1,)) for i in range(20_000)]
        for kind, described in (("inputs", metadata(many)), ("outputs", metadata(outputs=many))):
            front = self.front(self.address(self.fake(described=described)))
            for answer in (front.request("GET", "/v2/models/m"), front.infer("m", {"inputs": []})):
                self.expect_unavailable(answer, f"the server describes more than 1024 {kind}")

    def test_a_huge_request_is_refused(self):
        fake = self.fake(described=metadata((("x", "FP32", (-1,)),), (("x", "FP32", (-1,)),)))
        front = self.front(self.address(fake), "max_message_bytes = 10000")
        sent = {"inputs": [{"name": "x", "shape": [10000], "datatype": "FP32", "data": [0] * 10000}]}
        self.check_answer(front.infer("m", sent), 413, "max_message_bytes allows 10000")
        self.assertEqual(fake.inferred, 0)

    def test_invalid_settings_are_named(self):
        for text, address, *lines in (
            ("does not begin with /v2/models/", "http://host:1/m"),
            ("'content-length' cannot be a header", "http://host:1/v2/models/m", "headers = {content-length = '1'}"),
            ("key 'ca': cannot read '/none'", "grpcs://host:1/m", "ca = '/none'"),
            ("'X-Team' cannot be a header", "grpc://host:1/m", "headers = {X-Team = 'red'}"),
            ("cannot be a header", "grpc://host:1/m", 'headers = {x-team = "a\\u000ab"}'),
            ("max_connections", "http://host:1/v2/models/m", "max_connections = 0"),
            ("max_message_bytes", "grpc://host:1/m", "max_message_bytes = 1"),
        ):
            with self.subTest(text):
                self.assertIn(text, self.infer_in_guest(address, *lines).err)

    def test_no_message_for_a_client_has_an_address(self):
        for address in ("http://10.0.0.5:81/m", "grpc://10.0.0.5/m", "http://10.0.0.5:x/v2/models/m", "grpc://10.0.0.5,b:1/m"):
            front = self.front(address)
            for answer in (front.request("GET", "/v2/models/m"), front.request("POST", "/v2/repository/models/m/load"),
                           front.request("POST", "/v1/completions", '{"model": "m", "prompt": "a"}')):
                self.assertGreaterEqual(answer.status, 400)
                self.assertIn("expected grpc://", answer.body.decode())
                self.assertNotIn("10.0.0.5", answer.body.decode())
            front.process.send_signal(signal.SIGTERM)
            self.assertIn("10.0.0.5", front.process.communicate(timeout=WAIT)[1].decode())

    def test_no_message_has_a_password(self):
        result = self.wasinn("inspect", f"{self.scheme}://user:secret@host:1/{self.path_of('m')}")
        self.check_error(result, "put user and password into `headers`")
        self.assertNotIn("secret", result.err)

    def test_the_signature_is_checked_before_a_call(self):
        fake = self.fake(described=metadata((("x", "FP32", (3, 3)),)))
        self.expect_failure(self.infer_in_guest(self.address(fake)), 1, r"\[3,3\]|\[3, 3\]|3x3")
        self.assertEqual(fake.inferred, 0)


class HttpGuests(OverHttp, Guests):
    pass


class JsonGuests(OverJson, Guests):
    pass


class HttpFailures(OverHttp, Failures):
    pass
