"""The Open Inference Protocol over HTTP, as a client sees it that knows nothing of wasinn."""

import gzip
import json
import re
import struct
import zlib

from command import ECHO as ECHO_FOLDER, until
from server import BODY, MODEL, ServeTest, element

ECHO = "in x f32 2,3\n"
# Its name, the echo backend's word, what struct calls it, and numbers of it.
TYPES = (
    ("BOOL", "bool", "?", [True, False, True]),
    ("UINT8", "u8", "B", [0, 7, 255]),
    ("UINT16", "u16", "H", [0, 7, 65535]),
    ("UINT32", "u32", "I", [0, 7, 2**32 - 1]),
    ("UINT64", "u64", "Q", [0, 7, 2**64 - 1]),
    ("INT8", "i8", "b", [-128, 7, 127]),
    ("INT16", "i16", "h", [-32768, 7, 32767]),
    ("INT32", "i32", "i", [-(2**31), 7, 2**31 - 1]),
    ("INT64", "i64", "q", [-(2**63), 7, 2**63 - 1]),
    ("FP32", "f32", "f", [-1.5, 0.1, 3.0e38]),
    ("FP64", "f64", "d", [-1.5, 0.1, 1.0e308]),
)


def tensor(datatype="FP32", shape=(2, 3), data=(1, 2, 3, 4, 5, 6), **more):
    return {"name": "x", "shape": list(shape), "datatype": datatype, "data": data, **more}


def request(*inputs, **more):
    return {"inputs": list(inputs), **more}


def server_json(value):
    return json.dumps(value).encode()


class Models(ServeTest):
    def test_health(self):
        server = self.serve(models={"m": ECHO})
        for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/m/ready", "/v2/models/m/versions/1/ready"):
            answer = server.request("GET", path)
            self.check_answer(answer, 200)
            self.assertIs(answer.json()[path.rsplit("/", 1)[1]], True)
        self.check_answer(server.request("GET", "/v2/models/no/ready"), 404, "there is no model 'no'")
        self.check_answer(server.request("GET", "/v2/models/m/versions/2/ready"), 404, "no model 'm' version 2")

    def test_metadata(self):
        server = self.serve(models={"m": "in x f32 2,-1\nin o i16 any optional\n"})
        reported = server.request("GET", "/v2").json()
        self.assertEqual(reported["name"], "wasinn")
        self.assertIn("binary_tensor_data", reported["extensions"])
        inputs = [
            {"name": "x", "datatype": "FP32", "shape": [2, -1]},
            {"name": "o", "datatype": "INT16", "shape": [-1]},
        ]
        reported = server.request("GET", "/v2/models/m").json()
        self.assertEqual((reported["name"], reported["versions"], reported["inputs"]), ("m", ["1"], inputs))
        config = server.request("GET", "/v2/models/m/config").json()
        self.assertEqual(config["input"][1], {"name": "o", "data_type": "TYPE_INT16", "dims": [-1], "optional": True})
        self.assertEqual((config["max_batch_size"], config["model_transaction_policy"]), (0, {"decoupled": False}))

    def test_the_configuration_of_a_model_with_batches(self):
        self.file("m.gguf", "GGUF\nin x f32 -1,3\n")
        server = self.serve("--config", self.file("batches.toml", f"backend_dirs = ['{ECHO_FOLDER}']\n[models.m]\npath = 'm.gguf'\n"
                                                                   "[models.m.batching]\nmax_batch_size = 8\n"))
        config = server.request("GET", "/v2/models/m/config").json()
        self.assertEqual((config["max_batch_size"], config["input"][0]["dims"]), (8, [3]))
        self.assertEqual(server.request("GET", "/v2/models/m").json()["inputs"][0]["shape"], [-1, 3])

    def test_versions(self):
        for version, shape in ((2, 1), (10, 2)):
            self.file(f"models/m/{version}/model.gguf", f"GGUF\nin x f32 {shape}\n")
        server = self.serve("--models", "models")
        self.assertEqual(server.request("GET", "/v2/models/m").json()["versions"], ["2", "10"])
        [never_computed] = server.request("GET", "/v2/models/m/stats").json()["model_stats"]
        self.assertEqual(never_computed["version"], "10")
        one = request(tensor(shape=[1], data=[5]))
        answer = server.request("POST", "/v2/models/m/versions/2/infer", server_json(one))
        self.assertEqual(answer.json()["model_version"], "2", answer)
        self.check_answer(server.infer("m", one), 400, "x")  # it has two elements in version 10
        answer = server.infer("m", request(tensor(shape=[2], data=[5, 6])))
        self.assertEqual((answer.json()["model_version"], answer.json()["outputs"][0]["data"]), ("10", [5, 6]))

    def test_repository(self):
        server = self.serve(models={"m": "in x f32 1\n"})
        ready = [{"name": "m", "version": "1", "state": "READY", "reason": ""}]
        self.assertEqual(server.request("POST", "/v2/repository/index", "{}").json(), ready)
        one = request(tensor(shape=[1], data=[5]))
        self.check_answer(server.infer("m", one), 200)
        self.check_answer(server.request("POST", "/v2/repository/models/m/unload"), 200)
        self.assertEqual(server.request("POST", "/v2/repository/index").json()[0]["state"], "UNAVAILABLE")
        self.assertEqual(server.request("POST", "/v2/repository/index", '{"ready": true}').json(), [])
        self.check_answer(server.request("POST", "/v2/repository/index", '{"ready": 1}'), 400)
        self.check_answer(server.infer("m", one), 503, "model 'm' is unloaded")
        self.check_answer(server.request("GET", "/v2/models/m/ready"), 503)
        self.file("m.gguf", "GGUF\nin x f32 2\n")
        self.check_answer(server.request("POST", "/v2/repository/models/m/load"), 200)
        self.check_answer(server.infer("m", one), 400)
        answer = server.infer("m", request(tensor(shape=[2], data=[5, 6])))
        self.assertEqual(answer.json()["outputs"][0]["data"], [5, 6])
        self.check_answer(server.request("POST", "/v2/repository/models/no/load"), 404)

    def test_a_file_that_is_no_model_is_an_error_and_can_be_mended(self):
        server = self.serve(models={"m": "in x f32 1\n"})
        self.file("m.gguf", "GGUF\nfail_load 1\n")
        self.check_answer(server.request("POST", "/v2/repository/models/m/load"), 400)
        for _ in range(2):  # a client gets that it is unavailable, and an operator who loads it gets the reason
            self.check_answer(server.infer("m", request(tensor(shape=[1], data=[5]))), 503, "load fails as the model says")
        self.check_answer(server.request("POST", "/v2/repository/models/m/load"), 400)
        self.file("m.gguf", "GGUF\nin x f32 1\n")
        self.check_answer(server.request("POST", "/v2/repository/models/m/load"), 200)
        self.check_answer(server.infer("m", request(tensor(shape=[1], data=[5]))), 200)
        self.assertEqual(self.log_of(server), "wasinn: warning: model 'm:1' cannot be loaded: load fails as the model says\n")

    def test_a_load_that_fails_leaves_no_version_loaded(self):
        for version, lines in ((1, "in x f32 1\n"), (2, "fail_load 1\n")):
            self.file(f"models/m/{version}/model.gguf", "GGUF\n" + lines)
        server = self.serve("--models", "models")
        self.check_answer(server.request("POST", "/v2/repository/models/m/unload"), 200)
        self.check_answer(server.request("POST", "/v2/repository/models/m/load"), 400, "load fails as the model says")
        self.assertIn('wasinn_model_graphs{model="m",version="1",backend="echo"} 0', server.metrics())
        self.check_answer(server.request("GET", "/v2/models/m/versions/1/ready"), 503, "model 'm' is unloaded")
        self.assertEqual(self.log_of(server), "wasinn: warning: model 'm:2' cannot be loaded: load fails as the model says\n")

    def test_statistics(self):
        server = self.serve(models={"m": "in x f32 1\n", "n": "in x f32 1\n"})
        for _ in range(3):
            self.check_answer(server.infer("m", request(tensor(shape=[1], data=[5]))), 200)
        reported = server.request("GET", "/v2/models/m/stats").json()["model_stats"]
        self.assertEqual([(one["name"], one["version"], one["inference_count"]) for one in reported], [("m", "1", 3)])
        self.assertEqual(reported[0]["inference_stats"]["success"]["count"], 3)
        self.assertGreater(reported[0]["inference_stats"]["compute_infer"]["ns"], 0)
        none = server.request("GET", "/v2/models/n/stats").json()["model_stats"]
        self.assertEqual([(one["name"], one["inference_count"]) for one in none], [("n", 0)])
        everything = server.request("GET", "/v2/models/stats").json()["model_stats"]
        self.assertEqual([one["name"] for one in everything], ["m"])

    def test_metrics(self):
        server = self.serve(models={"m": "in x f32 1\n"})
        self.check_answer(server.infer("m", request(tensor(shape=[1], data=[5]))), 200)
        text = server.request("GET", "/metrics?x=1", port=server.metrics_port).body.decode()
        self.assertIn('wasinn_inferences_total{model="m",version="1",backend="echo",code="ok"} 1\n', text)

    def test_paths_that_are_none(self):
        server = self.serve(models={"m": ECHO})
        for path in ("/v1", "/v2/nothing", "/v2/models", "/v2/models/m/nothing", "/v2/models/m/versions"):
            self.check_answer(server.request("GET", path), 404)
        self.check_answer(server.request("GET", "/v2/models/%"), 400)
        for method, path in (("GET", "/v2/models/m/infer"), ("POST", "/v2/models/m"), ("GET", "/v2/repository/index")):
            self.assertIn(server.request(method, path).headers["Allow"], ("GET", "POST"))
            self.check_answer(server.request(method, path), 405)

    def test_extensions_of_tritons_that_are_not_served_are_named(self):
        server = self.serve(models={"m": MODEL})
        for path, what in (("trace/setting", "trace settings"), ("models/m/trace/setting", "trace settings"), ("logging", "log settings"),
                           ("systemsharedmemory/status", "shared memory"), ("systemsharedmemory/region/x/register", "shared memory"),
                           ("cudasharedmemory/status", "shared memory")):
            for method in ("GET", "POST"):
                self.check_answer(server.request(method, f"/v2/{path}"), 404, f"Triton's extension for {what} is not served")


class Tensors(ServeTest):
    def test_every_type_both_ways(self):
        server = self.serve(models={word: f"in x {word} -1\n" for _, word, _, _ in TYPES})
        for name, word, letter, numbers in TYPES:
            with self.subTest(name):
                data = struct.pack(f"<{len(numbers)}{letter}", *numbers)
                answer = server.infer(word, request(tensor(name, [3], numbers)))
                self.check_answer(answer, 200)
                [output] = answer.json()["outputs"]
                self.assertEqual((output["datatype"], output["shape"]), (name, [3]))
                back = struct.pack(f"<3{letter}", *output["data"])
                self.assertEqual(back, data)
                sent = {"name": "x", "shape": [3], "datatype": name, "parameters": {"binary_data_size": len(data)}}
                answer = server.infer(word, request(sent, parameters={"binary_data_output": True}), data)
                self.check_answer(answer, 200)
                size = int(answer.headers["Inference-Header-Content-Length"])
                self.assertEqual(answer.body[size:], data)

    def test_halves_have_no_json(self):
        server = self.serve(models={word: f"in x {word} 2\n" for word in ("f16", "bf16")})
        for name, word in (("FP16", "f16"), ("BF16", "bf16")):
            answer = server.infer(word, request(tensor(name, [2], [1, 2])))
            self.check_answer(answer, 400, f"JSON has no {name}")
            sent = {"name": "x", "shape": [2], "datatype": name, "parameters": {"binary_data_size": 4}}
            answer = server.infer(word, request(sent), b"abcd")  # and goes back as it came, asked for or not
            self.check_answer(answer, 200)
            self.assertEqual(answer.body[-4:], b"abcd")

    def test_text(self):
        server = self.serve(models={"m": "in x u8 -1 opaque\n"})
        for sent in (request(tensor("BYTES", [1], ["hello"])),):
            self.check_answer(server.infer("m", sent), 200)
        size = {"binary_data_size": 9}
        sent = {"name": "x", "shape": [1], "datatype": "BYTES", "parameters": size}
        self.check_answer(server.infer("m", request(sent), element(b"hello")), 200)
        self.check_answer(server.infer("m", request(sent), element(b"hellohello")[:9]), 400, "expected one element")
        self.check_answer(server.infer("m", request(tensor("BYTES", [2], ["a", "b"]))), 400, "expected one element")
        self.check_answer(server.infer("m", request(tensor("UINT8", [1], [1]))), 400, "is of BYTES, not UINT8")

    def test_a_value_that_json_has_not_is_an_error_that_names_the_way_out(self):
        server = self.serve(models={"f32": "in x f32 3\n", "f64": "in x f64 3\n"})
        for model, datatype, letter, bad in (("f32", "FP32", "f", "nan"), ("f64", "FP64", "d", "inf"), ("f64", "FP64", "d", "-inf")):
            data = struct.pack(f"<3{letter}", 1, float(bad), -0.0)
            sent = {"name": "x", "shape": [3], "datatype": datatype, "parameters": {"binary_data_size": len(data)}}
            self.check_answer(server.infer(model, request(sent), data), 400, f"output 'x' has {bad}, which JSON has not: ask for binary data")
            for way in ({"outputs": [{"name": "x", "parameters": {"binary_data": True}}]}, {"parameters": {"binary_data_output": True}}):
                answer = server.infer(model, request(sent, **way), data)
                self.check_answer(answer, 200)
                self.assertEqual(answer.body[-len(data):], data)
        self.assertIn(b'"data":[1,-0.0,1]', server.infer("f32", request(tensor(shape=[3], data=[1, -0.0, 1]))).body)

    def test_a_number_that_its_type_has_not_is_an_error(self):
        words = [word for _, word, _, _ in TYPES]
        server = self.serve(models={word: f"in x {word} 1\n" for word in words})
        names = {word: name for name, word, _, _ in TYPES}
        for word, numbers in (
            ("u8", (300, -1, 1.5, 256.0, True, "1", None, [1, 2], 1e300, 2**53 + 2.0)),
            ("i8", (128, -129, 0.1)),
            ("u16", (65536, -1)),
            ("i16", (32768, -32769)),
            ("u32", (2**32, -1)),
            ("i32", (2**31, 1.5, 2**63, 1e10)),
            ("u64", (-1, 2**64, -1.0, 9007199254740993.0, 1e19)),
            ("i64", (2**63, -(2**63) - 1, 9007199254740993.0, -9007199254740993.0, 1e18)),
            ("f32", (1e40, -1e40, 3.5e38, 2**129, None, True, "1", b"1e400", b"NaN", b"Infinity", b"-Infinity")),
            ("f64", (b"1e400", b"-1e400", None, False, "1.0", b"NaN")),
            ("bool", (2, -1, 0.5, "true", None)),
        ):
            for number in numbers:
                with self.subTest(word, number=number):
                    sent = server_json(request(tensor(names[word], [1], ["#"])))
                    sent = sent.replace(b'"#"', number if isinstance(number, bytes) else server_json(number))
                    self.check_answer(server.request("POST", f"/v2/models/{word}/infer", sent), 400)
        for word, number in (("i64", 9007199254740993), ("u64", 2**64 - 1), ("f32", 16777216), ("f64", 1e308), ("i64", 9007199254740991.0)):
            answer = server.infer(word, request(tensor(names[word], [1], [number])))
            self.assertEqual(answer.json()["outputs"][0]["data"], [number], answer)
        for shape in ([-1], [2**63], [1.0], ["1"], [None], [2**62, 4], [2**33], [0, 2**63], 1):
            self.check_answer(server.infer("f32", request(tensor(shape=[], data=[1], **{}) | {"shape": shape})), 400)

    def test_clients_that_have_floats_alone(self):
        server = self.serve(models={"i64": "in x i64 -1\n", "u8": "in x u8 -1\n", "bool": "in x bool -1\n"})
        for model, datatype, data, back in (
            ("i64", "INT64", [7.0, -(2.0**52), -0.0], [7, -(2**52), 0]),
            ("u8", "UINT8", [255.0], [255]),
            ("bool", "BOOL", [1.0, 0, 1], [True, False, True]),
        ):
            answer = server.infer(model, request(tensor(datatype, [len(data)], data)))
            self.assertEqual(answer.json()["outputs"][0]["data"], back, answer)
        for model, datatype, number in (
            ("i64", "INT64", 0.5),
            ("i64", "INT64", 2.0**63),
            ("i64", "INT64", None),
            ("u8", "UINT8", 256.0),
            ("u8", "UINT8", -1.0),
            ("bool", "BOOL", 2),
            ("bool", "BOOL", "true"),
        ):
            self.check_answer(server.infer(model, request(tensor(datatype, [1], [number]))), 400, "input 'x'")

    def test_unknown_fields_are_ignored_and_logged_once(self):
        server = self.serve(models={"m": MODEL})
        asked = json.loads(BODY)
        asked.update({"timeout": 7, "no\nline": [{}], "none": None, "parameters": {"priority": 1, "binary_data_output": False, "sequence": {"a": [1]}}})
        asked["inputs"][0].update({"content_type": "np", "parameters": {"content_type": "np", "headers": {}}})
        asked["outputs"] = [{"name": "x", "datatype": "FP32", "shape": [1], "parameters": {"binary_data": False, "content_type": "np"}}]
        for _ in range(3):
            self.check_answer(server.infer("m", asked), 200)
        reported = sorted(re.findall(r"/v2: the field (\S+) of requests is ignored", self.log_of(server)))
        self.assertEqual(reported, sorted([
            "timeout", r"no\x0aline", "parameters.priority", "parameters.sequence", "inputs.content_type", "inputs.parameters.content_type",
            "inputs.parameters.headers", "outputs.datatype", "outputs.shape", "outputs.parameters.content_type"]))

    def test_no_client_fills_the_log_with_fields(self):
        server = self.serve(models={"m": MODEL})
        asked = json.loads(BODY) | {"a" * 5000 + str(i): i for i in range(10)} | {f"field{i}": i for i in range(1000)}
        self.check_answer(server.infer("m", asked), 200)
        log = self.log_of(server)
        self.assertEqual(len(log.splitlines()), 257)
        self.assertLess(max(map(len, log.splitlines())), 300)

    def test_null_is_what_is_left_out(self):
        server = self.serve(models={"m": "in x f32 1\n"})
        one = tensor(shape=[1], data=[5], parameters=None)
        self.check_answer(server.infer("m", request(one, id=None, outputs=None, parameters=None)), 200)
        self.check_answer(server.infer("m", {"inputs": None}), 400, "there is no 'inputs'")

    def test_nested_data(self):
        server = self.serve(models={"m": ECHO})
        for data in ([[1, 2, 3], [4, 5, 6]], [1, 2, 3, 4, 5, 6]):
            answer = server.infer("m", request(tensor(data=data)))
            self.assertEqual(answer.json()["outputs"][0]["data"], [1, 2, 3, 4, 5, 6], answer)

    def test_data_that_is_nested_otherwise_than_its_shape(self):
        server = self.serve(models={"m": ECHO, "open": "in x f32 -1,3\n"})
        for data in ([[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4, 5, 6]], [[1, 2, 3], 4, 5, 6], [1, 2, 3, [4, 5, 6]], [[[1, 2, 3], [4, 5, 6]]],
                     [[[1], [2], [3]], [[4], [5], [6]]], [[1, 2, 3, 4, 5, 6]], [[1, 2, 3], [4, 5, 6], []]):
            with self.subTest(data):
                self.check_answer(server.infer("m", request(tensor(data=data))), 400, "do not nest as its shape, [2, 3]")
        for data in ([[1, 2], [3, 4], [5, 6]], [[1, 2, 3], [4, 5]]):
            with self.subTest(generate=data):
                self.check_answer(server.request("POST", "/v2/models/open/generate", json.dumps({"x": data})), 400, "do not nest as its shape")

    def test_outputs(self):
        server = self.serve(models={"m": "in x f32 1\nin y f32 1\n"})
        both = (tensor(shape=[1], data=[5]), {**tensor(shape=[1], data=[6]), "name": "y"})
        answer = server.infer("m", request(*both, id="7", outputs=[{"name": "y"}]))
        self.assertEqual([one["name"] for one in answer.json()["outputs"]], ["y"])
        self.assertEqual(answer.json()["id"], "7")
        answer = server.infer("m", request(*both))  # in the same context: all are there again
        self.assertEqual([one["name"] for one in answer.json()["outputs"]], ["x", "y"])
        wanted = [{"name": "x", "parameters": {"binary_data": True}}, {"name": "y"}]
        answer = server.infer("m", request(*both, outputs=wanted))
        self.assertEqual(answer.body[-4:], struct.pack("<f", 5))
        self.check_answer(server.infer("m", request(*both, outputs=[{"name": "z"}])), 400, "no output 'z'")
        classes = [{"name": "x", "parameters": {"classification": 2}}]
        self.check_answer(server.infer("m", request(*both, outputs=classes)), 400, "no classification")
        shared = [{"name": "x", "parameters": {"shared_memory_region": "r", "shared_memory_byte_size": 4}}]
        self.check_answer(server.infer("m", request(*both, outputs=shared)), 400, "output 'x': there is no shared memory here")

    def test_what_an_input_lacks_is_not_left_from_another_request(self):
        server = self.serve(models={"m": "in x f32 1\nin y f32 1\n"})
        x, y = tensor(shape=[1], data=[5]), {**tensor(shape=[1], data=[6]), "name": "y"}
        self.check_answer(server.infer("m", request(x, y)), 200)
        self.check_answer(server.infer("m", request(x)), 400, "'y'")

    def test_compressed_requests(self):
        server = self.serve("--max-json", "100000", "--max-body", "200000", models={"m": "in x f32 -1\n"})
        raw = zlib.compressobj(wbits=-15)
        plain = json.dumps(request(tensor(shape=[3], data=[1, 2, 3]))).encode()
        forms = {"gzip": gzip.compress(plain), "deflate": zlib.compress(plain), "GZIP": gzip.compress(plain[:20]) + gzip.compress(plain[20:]),
                 "Deflate": raw.compress(plain) + raw.flush(), "identity": plain}
        for form, body in forms.items():
            answer = server.request("POST", "/v2/models/m/infer", body, {"Content-Encoding": form})
            self.assertEqual(answer.json()["outputs"][0]["data"], [1, 2, 3], answer)
            if form != "identity":
                self.check_answer(server.request("POST", "/v2/models/m/infer", body[:-9], {"Content-Encoding": form}), 400, "Content-Encoding")
        head = json.dumps(request({"name": "x", "shape": [20000], "datatype": "FP32", "parameters": {"binary_data_size": 80000}},
                                  parameters={"binary_data_output": True})).encode()
        headers = {"Content-Encoding": "gzip", "Inference-Header-Content-Length": str(len(head))}
        answer = server.request("POST", "/v2/models/m/infer", gzip.compress(head + b"abcd" * 20000), headers)
        self.assertTrue(answer.body.endswith(b"abcd" * 20000))
        for more, most in (({}, 100000), ({"Inference-Header-Content-Length": "2"}, 200000)):
            bomb = gzip.compress(b"{}" + b" " * 50_000_000)
            answer = server.request("POST", "/v2/models/m/infer", bomb, {"Content-Encoding": "gzip", **more})
            self.check_answer(answer, 413, f"larger than {most} bytes")
        for form in ("br", "zstd", "gzip, gzip", "deflate64"):
            answer = server.request("POST", "/v2/models/m/infer", b"{}", {"Content-Encoding": form})
            self.check_answer(answer, 415, "gzip or deflate")
            self.assertEqual(answer.headers["Accept-Encoding"], "gzip, deflate")
        until(lambda: server.held() == 0)

    def test_compressed_answers(self):
        server = self.serve(models={"m": "in x f32 -1\n"})
        ask = request(tensor(shape=[2000], data=[1.5] * 2000), parameters={"binary_data_output": True})
        plain = server.infer("m", ask)
        length = plain.headers["Inference-Header-Content-Length"]
        for accepted, coding, inflate in (("gzip", "gzip", gzip.decompress), ("deflate", "deflate", zlib.decompress),
                                          ("br, gzip;q=0.5", "gzip", gzip.decompress), ("gzip;q=0, deflate", "deflate", zlib.decompress),
                                          ("GZIP", "gzip", gzip.decompress), ("gzip;q=0.000", None, bytes), ("br", None, bytes), ("identity", None, bytes)):
            answer = server.infer("m", ask, headers={"Accept-Encoding": accepted})
            self.assertEqual((answer.status, answer.headers["Content-Encoding"], answer.headers["Inference-Header-Content-Length"]), (200, coding, length))
            self.assertEqual(inflate(answer.body), plain.body)
            self.assertEqual(len(answer.body) < 1000, coding is not None)
        small = server.infer("m", request(tensor(shape=[1], data=[1])), headers={"Accept-Encoding": "gzip"})
        self.assertIsNone(small.headers["Content-Encoding"])
        large = request(tensor(shape=[200_000], data=[1.5] * 200_000))
        answer = server.infer("m", large, headers={"Accept-Encoding": "gzip"})
        self.assertEqual(json.loads(gzip.decompress(answer.body))["outputs"][0]["shape"], [200_000])
        until(lambda: server.held() == 0)

    def test_generate(self):
        """Triton's extension: fields that have the inputs' names."""
        server = self.serve(models={"m": "in x f32 -1,2,2\n", "one": MODEL})
        answer = server.request("POST", "/v2/models/m/generate", json.dumps({"id": "7", "x": list(range(8)), "parameters": {"a": 1}, "other": None}))
        self.assertEqual(answer.json(), {"model_name": "m", "model_version": "1", "id": "7", "x": list(range(8))})
        nested = server.request("POST", "/v2/models/m/generate", json.dumps({"x": [[[1, 2], [3, 4]]]}))
        self.assertEqual(nested.json()["x"], [1, 2, 3, 4])
        for data in (5, [5]):
            answer = server.request("POST", "/v2/models/one/versions/1/generate", json.dumps({"x": data}))
            self.assertEqual(answer.json()["x"], 5, answer)
        stream = server.request("POST", "/v2/models/one/generate_stream", '{"x": 5}', {"Accept": "text/event-stream"})
        self.assertEqual((stream.headers["Content-Type"], stream.body), ("text/event-stream", b'data: {"model_name":"one","model_version":"1","x":5}\n\n'))
        for path, body, status, text in (("m/generate", '{"x": [1, 2, 3]}', 400, "input 'x' has 3 elements, not 4"), ("m/generate", "{}", 400, "'x'"),
                                         ("m/generate", '{"x": "a"}', 400, "FP32"), ("m/generate", "[", 400, "not an inference request"),
                                         ("m/generate", '{"x": 1, "x": 2}', 400, "twice"), ("no/generate", '{"x": 1}', 404, "no model 'no'")):
            self.check_answer(server.request("POST", f"/v2/models/{path}", body), status, text)
        self.assertEqual(server.request("GET", "/v2/models/m/generate").headers["Allow"], "POST")
        self.assertIn("generate", server.request("GET", "/v2").json()["extensions"])

    def test_metrics_of_requests(self):
        server = self.serve("--http-metrics", models={"m": MODEL})
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 200)
        self.check_answer(server.request("POST", "/v2/models/m/versions/1/infer", BODY), 200)
        self.check_answer(server.request("POST", "/v2/models/m/infer", b"{}"), 400)
        self.check_answer(server.request("POST", "/v2/models/stranger/infer", BODY), 404)
        self.check_answer(server.request("GET", "/stranger"), 404)

        def count(path, status, model='model="m",'):
            return f'wasinn_serve_requests_total{{protocol="http",path="{path}",status="{status}"{"," + model[:-1] if model else ""}}}'

        infer = "/v2/models/{model}/infer"
        server.await_metrics(f"{count(infer, 200)} 2", f"{count(infer, 400)} 1", f"{count(infer, 404, '')} 1", f"{count('other', 404, '')} 1",
                             "wasinn_serve_bytes_in_flight 0", "wasinn_serve_connections 0", f"wasinn_serve_max_bytes_in_flight {2**30}")
        text = server.request("GET", "/metrics").body.decode()
        self.assertIn(f"{count(infer, 200)} 2\n", text)
        self.assertNotIn("stranger", text)
        self.assertEqual(self.serve(models={"n": MODEL}).request("GET", "/metrics").status, 404)

    def test_mistakes(self):
        server = self.serve(models={"m": ECHO})
        size = {"name": "x", "shape": [2, 3], "datatype": "FP32", "parameters": {"binary_data_size": 24}}
        for sent, binary, text in (
            (request(tensor(data=[1, 2, 3])), b"", "has 3 elements, not 6"),
            (request(tensor(data=[0] * 7)), b"", "has more than 6 elements"),
            (request(tensor(shape=[2, -3])), b"", "-3 is not a dimension"),
            (request(tensor(shape=[2**62, 2**62])), b"", "no tensor can have its shape"),
            (request(tensor(shape=[1] * 33)), b"", "more than 32 dimensions"),
            (request(tensor(datatype="FP33")), b"", "'FP33' is not a datatype"),
            (request(tensor(datatype="INT32")), b"", "is of FP32, not INT32"),
            (request(tensor(data=["NaN"] * 6)), b"", "input 'x': a text is not a valid FP32; send NaN and infinities as bytes"),
            (request(tensor(data=1)), b"", "has 1 elements, not 6"),
            (request({**tensor(), "name": "z"}), b"", "has no input 'z'"),
            (request(tensor(), tensor()), b"", "input 'x' is given twice"),
            (request(), b"", "'x'"),
            ({}, b"", "not an inference request"),
            (b"[", b"", "not an inference request"),
            (b"", b"", "not an inference request"),
            (b'{"inputs": ' + b"[" * 100_000, b"", "not an inference request"),
            (request(tensor(data=eval("[" * 40 + "1" + "]" * 40))), b"", "do not nest as its shape"),
            (request(size), b"a" * 23, "has 24 bytes, of which only 23 came"),
            (request(size), b"a" * 25, "1 bytes after the JSON belong to no input"),
        ):
            with self.subTest(text):
                self.check_answer(server.infer("m", sent, binary), 400, text)
        for length in ("-1", "x", "10000", ""):
            headers = {"Inference-Header-Content-Length": length}
            self.check_answer(server.request("POST", "/v2/models/m/infer", b"{}", headers), 400)
        self.check_answer(server.infer("m", request(tensor())), 200)
