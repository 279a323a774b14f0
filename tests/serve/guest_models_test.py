"""Guests that are models: what clients see of them, and what they may not do to the server."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import struct
import unittest

from command import SANITIZED
from configured import HURRIED
from guest_model_probe import HOST, PROBE, GuestModelTest, await_loop, data, request
from server import MODEL, ServeTest, element

IOS = {"inputs": [{"name": "what", "datatype": "BYTES", "shape": [1]}, {"name": "x", "datatype": "FP32", "shape": [-1, 2]}],
       "outputs": [{"name": "y", "datatype": "FP32", "shape": [-1, 2]}, {"name": "label", "datatype": "BYTES", "shape": [-1]}]}
SIZES = {"BOOL": 1, "UINT8": 1, "UINT16": 2, "UINT32": 4, "UINT64": 8, "INT8": 1, "INT16": 2, "INT32": 4, "INT64": 8, "FP16": 2, "BF16": 2,
         "FP32": 4, "FP64": 8}


class AsAnyModel(GuestModelTest):
    def test_it_is_described(self):
        server = self.serve_guest(models={"m": HOST})
        metadata = server.request("GET", "/v2/models/g").json()
        self.assertEqual(metadata, {"name": "g", "versions": ["1"], "platform": "wasm_component", **IOS})
        config = server.request("GET", "/v2/models/g/versions/1/config").json()
        self.assertEqual(config["input"][0], {"name": "what", "data_type": "TYPE_STRING", "dims": [1]})
        self.assertEqual(config["output"][0], {"name": "y", "data_type": "TYPE_FP32", "dims": [-1, 2]})
        self.assertEqual(server.request("GET", "/v2/models/g/ready").json(), {"name": "g", "ready": True})
        index = server.request("POST", "/v2/repository/index").json()
        self.assertEqual([(one["name"], one["version"], one["state"]) for one in index], [("m", "1", "READY"), ("g", "1", "READY")])
        [_, model] = server.request("GET", "/wasinn/state").json()["models"]  # the page's
        self.assertEqual((model["name"], model["state"], model["inputs"]), ("g", "loaded", IOS["inputs"]))

    def test_it_infers(self):
        server = self.serve_guest()
        answer = server.infer("g", request(x=[1, 2, 3, 4], id="7"))
        self.check_answer(answer, 200)
        self.assertEqual(answer.json(), {"model_name": "g", "model_version": "1", "id": "7", "outputs": [
            {"name": "y", "datatype": "FP32", "shape": [2, 2], "data": [2, 4, 6, 8]},
            {"name": "label", "datatype": "BYTES", "shape": [2], "data": ["row 0", "row 1"]}]})
        self.assertEqual(data(server.infer("g", request(x=[]))), {"y": [], "label": []})

    def test_outputs_that_are_wanted(self):
        server = self.serve_guest()
        for what in ("double", "wanted"):
            self.assertEqual(data(server.infer("g", request(what, outputs=[{"name": "label"}]))), {"label": ["row 0"]})
        self.check_answer(server.infer("g", request(outputs=[{"name": "z"}])), 400, "no output 'z'")
        self.check_answer(server.infer("g", request(outputs=[{"name": "y"}, {"name": "y"}])), 400, "asked for twice")

    def test_binary_both_ways(self):
        server = self.serve_guest()
        head = {"inputs": [{"name": "what", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 10}},
                           {"name": "x", "datatype": "FP32", "shape": [1, 2], "parameters": {"binary_data_size": 8}}],
                "outputs": [{"name": name, "parameters": {"binary_data": True}} for name in ("y", "label")]}
        answer = server.infer("g", head, element(b"double") + struct.pack("<ff", 1, 2))
        self.check_answer(answer, 200)
        self.assertEqual(answer.body[int(answer.headers["Inference-Header-Content-Length"]):], struct.pack("<ff", 2, 4) + element(b"row 0"))

    def test_every_type(self):
        server = self.serve_guest(name="types")
        inputs, raw = [], b""
        for reported in server.request("GET", "/v2/models/types").json()["inputs"]:
            size = SIZES.get(reported["datatype"])
            values = element(b"\xff\x00") + element(b"") if size is None else bytes(range(2, 2 + 2 * size)) if size > 1 else b"\x00\x01"
            inputs.append(
                {
                    "name": reported["name"],
                    "datatype": reported["datatype"],
                    "shape": [2],
                    "parameters": {"binary_data_size": len(values)},
                }
            )
            raw += values
        self.assertEqual(len(inputs), len(SIZES) + 1)
        answer = server.infer("types", {"inputs": inputs, "parameters": {"binary_data_output": True}}, raw)
        self.check_answer(answer, 200)
        size = int(answer.headers["Inference-Header-Content-Length"])
        self.assertEqual(json.loads(answer.body[:size])["outputs"], inputs)
        self.assertEqual(answer.body[size:], raw)

    def test_models_of_the_host(self):
        server = self.serve_guest(models={"host": HOST})
        answer = server.infer("g", request("host", x=[5, 7]))
        self.check_answer(answer, 200)
        self.assertEqual(data(answer)["y"], [5, 7])
        server = self.serve_guest()
        self.check_answer(server.infer("g", request("host")), 500, "the guest 'g': ")

    def test_statistics(self):
        server = self.serve_guest()
        [before] = server.request("GET", "/v2/models/g/stats").json()["model_stats"]
        self.assertEqual(before["inference_count"], 0)
        self.expect_double(server)
        server.infer("g", request("failed"))
        [stats] = server.request("GET", "/v2/models/g/stats").json()["model_stats"]
        self.assertEqual((stats["inference_count"], stats["inference_stats"]["fail"]["count"], stats["version"]), (1, 1, "1"))
        self.assertGreater(stats["inference_stats"]["success"]["ns"], 0)
        self.assertEqual(server.request("GET", "/v2/models/stats").json()["model_stats"], [stats])

    def test_unload_and_load(self):
        server = self.serve_guest()
        load, unload = (f"/v2/repository/models/g/{what}" for what in ("load", "unload"))
        self.assertEqual(server.request("POST", unload).status, 200)
        self.check_answer(server.infer("g", request()), 503, "unloaded")
        self.check_answer(server.request("GET", "/v2/models/g/ready"), 503, "unloaded")
        self.assertEqual(server.request("POST", "/v2/repository/index").json()[0]["state"], "UNAVAILABLE")
        self.assertEqual(server.request("POST", "/v2/repository/index", b'{"ready": true}').json(), [])
        self.assertEqual(server.request("POST", load).status, 200)
        self.expect_double(server)

    def test_load_reads_the_file(self):
        shutil.copy(PROBE, self.dir / "g.wasm")
        server = self.serve("--guest-model", "g=g.wasm")
        self.file("g.wasm", "no component")
        self.check_answer(server.request("POST", "/v2/repository/models/g/load"), 400, "the guest model 'g'")
        self.expect_double(server)  # as it was

    def test_names_that_there_are_not(self):
        server = self.serve_guest()
        self.check_answer(server.request("GET", "/v2/models/h"), 404)
        self.check_answer(server.request("GET", "/v2/models/g/versions/2"), 404, "version 2")
        self.check_answer(server.infer("g/versions/2", request()), 404, "version 2")
        self.expect_double(server, "g/versions/1")


class Inputs(GuestModelTest):
    def test_a_guest_does_not_see_a_wrong_request(self):
        server = self.serve_guest()
        what, x = request()["inputs"]
        self.check_answer(server.infer("g", {"inputs": [what]}), 400, "input 'x' is missing")
        del x["data"]
        x |= {"shape": [2, 2], "parameters": {"binary_data_size": 8}}
        self.check_answer(server.infer("g", {"inputs": [what, x]}, b"12345678"), 400, "has 8 bytes, not those of 4 elements")
        self.expect_double(server)


class Answers(GuestModelTest):
    """Wrong ones are errors for their client, and do not affect others."""

    def test_errors_of_its_own(self):
        server = self.serve_guest()
        self.check_answer(server.infer("g", request("invalid")), 400, "such rows are none")
        self.check_answer(server.infer("g", request("failed")), 500, "the guest 'g': the moon is full")
        answer = server.infer("g", request("long_message"))
        self.check_answer(answer, 500)
        self.assertLess(len(answer.json()["error"]), 1100)
        self.expect_double(server)

    def test_what_it_did_not_describe(self):
        server = self.serve_guest()
        for what, text in (
            ("wrong_size", "its output 'y' has 9 bytes, not those of 2 elements"),
            ("long_shape", "more tensors, or dimensions, than a model can have"),
            ("unknown_long", "a longer name or message than a model can have"),
            ("many", "more tensors, or dimensions, than a model can have"),
            ("exit", "it exited without an answer"),
        ):
            with self.subTest(what):
                answer = server.infer("g", request(what))
                self.check_answer(answer, 500, text)
                self.assertLess(len(answer.body), 1000)
        self.expect_double(server)

    def test_too_large_ones(self):
        server = self.serve_guest("--max-body", "2M")
        self.check_answer(server.infer("g", request("large")), 500, "it answered with more than 2097152 bytes")
        self.expect_double(server)
        server = self.serve_guest("--max-memory-in-flight", "2M")
        answer = server.infer("g", request("large"))
        self.check_answer(answer, 429)
        self.expect_double(server)
        server = self.serve_guest()
        answer = server.infer("g", request("large"))
        self.check_answer(answer, 200)
        self.assertEqual(data(answer)["label"], ["z" * (3 << 20)])

    def test_one_megabyte_that_is_very_many(self):
        server = self.serve_guest()
        self.check_answer(server.infer("g", request("one_for_all")), 500, "it answered with more than 268435456 bytes")
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{server.process.pid}/status").read_text())[1])
        self.assertLess(peak, 1 << 20 if not SANITIZED else 4 << 20)
        self.expect_double(server)


class Runs(GuestModelTest):
    def test_traps(self):
        server = self.serve_guest()
        self.check_answer(server.infer("g", request("trap")), 500, "the guest 'g' ended in a trap")
        self.expect_double(server)
        self.expect_log(server, "as was wanted")

    def test_no_end(self):
        server = self.for_two(self.serve_guest)
        for what in ("loop", "sleep"):
            self.check_answer(server.infer("g", request(what), headers=HURRIED), 504, "was not done within 200 ms")
        self.expect_double(server)
        self.expect_log(server, "run_timeout_ms")

    def test_memory(self):
        server = self.serve_guest("--max-memory", "16M")
        self.check_answer(server.infer("g", request("grow")), 500, "ended in a trap")
        self.expect_double(server)
        self.expect_log(server, "guest 'g'")

    def test_fuel(self):
        server = self.serve_guest("--fuel", "100000000")
        self.expect_double(server)
        self.check_answer(server.infer("g", request("loop")), 500, "ended in a trap")
        self.expect_log(server, "fuel")

    def test_what_it_says(self):
        server = self.serve_guest()
        self.check_answer(server.infer("g", request("print")), 200)
        self.check_answer(server.infer("g", request("flood")), 200)
        err = self.log_of(server)
        for line in ("guest 'g': to stdout", "guest 'g': to stderr", "guest 'g': line 0"):
            self.assertIn(line, err)
        self.assertNotIn("line 99", err)

    def test_a_client_that_is_gone(self):
        server = self.serve_guest("--timeout", "600s")
        connections = [server.connect() for _ in range(3)]
        for connection, what in zip(connections, ("loop", "sleep", "loop")):
            connection.request("POST", "/v2/models/g/infer", json.dumps(request(what)))
        await_loop(server)
        for connection in connections:
            connection.close()
        err = self.log_of(server)  # which waits for them, if they have begun
        self.assertIn("guest 'g': the guest was stopped", err)

    def test_many_at_once_get_their_own_answers(self):
        server = self.serve_guest("--timeout", "600s", models={"host": HOST + "turns 8\ngate g\n"})
        with concurrent.futures.ThreadPoolExecutor(6) as threads:
            answers = threads.map(lambda i: server.infer("g", request("host", x=(i, -i))), range(6))
            server.await_metrics("wasinn_guests 7")  # one is the models'
            for what, status in (("trap", 500), ("invalid", 400), ("double", 200)):
                self.check_answer(server.infer("g", request(what)), status)
            (self.dir / "g").touch()
            for i, answer in enumerate(answers):
                self.check_answer(answer, 200)
                self.assertEqual(data(answer)["y"], [i, -i])
        self.log_of(server)

    def test_a_guest_that_sleeps_holds_up_no_model_of_the_host(self):
        server = self.serve_guest("--timeout", "600s", "--max-waiting", "1", models={"m": MODEL})
        connection = server.connect()
        connection.request("POST", "/v2/models/g/infer", json.dumps(request("sleep")))
        server.await_metrics("wasinn_guests 2")  # one is the models'
        self.check_answer(server.infer("g", request()), 429)
        self.expect_service(server)
        connection.close()
        self.log_of(server)


@unittest.skipUnless("WASINN_MODELS" in os.environ, "needs the backend of ONNX")
class Example(ServeTest):
    def test_images_are_read(self):
        self.env["WASINN_CONFIG"] = ""
        models = pathlib.Path(os.environ["WASINN_MODELS"])
        example = pathlib.Path(PROBE).parent / "classify-model.component.wasm"
        server = self.serve("--model", f"digits={models}/digits.onnx", "--guest-model", f"read={example}")
        images = sorted((models.parent / "examples/classify/images").glob("*_label-*.png"))
        self.assertGreater(len(images), 3)

        def ask(*files):
            raw = b"".join(element(file) for file in files)
            head = {"inputs": [{"name": "image", "datatype": "BYTES", "shape": [len(files)], "parameters": {"binary_data_size": len(raw)}}]}
            return server.infer("read", head, raw)

        answer = ask(*(image.read_bytes() for image in images))
        self.check_answer(answer, 200)
        self.assertEqual(data(answer)["label"], [image.stem.rsplit("-", 1)[1] for image in images])
        scores = data(answer)["scores"]
        self.assertEqual(len(scores) % len(images), 0)
        self.assertAlmostEqual(sum(scores), len(images), places=3)
        self.check_answer(ask(images[0].read_bytes(), b"no image"), 400, "image 1 is not a PNG")
        self.check_answer(ask(images[0].read_bytes()[:60]), 400, "image 0 is")
        self.assertEqual(server.request("GET", "/v2/models/digits/stats").json()["model_stats"][0]["inference_count"], 1)
