"""Values go in and come out as they are, or there is an error: over REST as JSON and as bytes, and over gRPC."""

import os
import struct
import unittest

import grpc
import inference_pb2
import inference_pb2_grpc

import onnx_models
from command import WAIT
from server import ServeTest, element


class ValuesTest(ServeTest):
    def serve_files(self, more="", **models):
        flags = []
        for name, model in models.items():
            (self.dir / f"{name}.onnx").write_bytes(model)
            flags += ["--model", f"{name}={name}.onnx{more}"]
        return self.serve(*flags)

    def outputs(self, server, model, *inputs, binary=b"", **more):
        answer = server.infer(model, {"inputs": list(inputs), **more}, binary)
        self.assertEqual(answer.status, 200, answer)
        return {one["name"]: one for one in answer.json()["outputs"]}

    def grpc(self, server, model, inputs=(), raw=(), outputs=()):
        request = inference_pb2.ModelInferRequest(model_name=model, inputs=inputs, raw_input_contents=raw, outputs=outputs)
        with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
            return inference_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer(request, timeout=WAIT)

    def check_refused(self, text, *args, **more):
        with self.assertRaises(grpc.RpcError) as raised:
            self.grpc(*args, **more)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT, raised.exception)
        self.assertIn(text, raised.exception.details())


class OverGrpc(ValuesTest):
    def input(self, datatype="FP32", shape=(1,), **contents):
        return inference_pb2.ModelInferRequest.InferInputTensor(
            name="x", datatype=datatype, shape=shape, contents=inference_pb2.InferTensorContents(**contents))

    def test_contents_are_taken_whole_or_refused(self):
        types = {"FP32": "f32", "UINT8": "u8", "INT8": "i8", "UINT16": "u16", "INT32": "i32", "BOOL": "bool", "FP16": "f16", "BF16": "bf16"}
        server = self.serve(models={name: f"in x {name} 1\n" for name in types.values()})
        for datatype, contents, text in (
            ("FP32", {"fp64_contents": [1]}, "input 'x' has contents of another type than FP32"),
            ("FP32", {"fp32_contents": [1], "int_contents": [1]}, "input 'x' has contents of another type than FP32"),
            ("FP32", {"fp32_contents": [1, 2]}, "input 'x' has more than 1 elements"),
            ("UINT8", {"uint_contents": [300]}, "input 'x': 300 is not a valid UINT8"),
            ("UINT8", {"int_contents": [1]}, "input 'x' has contents of another type than UINT8"),
            ("INT8", {"int_contents": [-129]}, "input 'x': -129 is not a valid INT8"),
            ("UINT16", {"uint_contents": [65536]}, "input 'x': 65536 is not a valid UINT16"),
            ("INT32", {"int64_contents": [1]}, "input 'x' has contents of another type than INT32"),
            ("BOOL", {"int_contents": [1]}, "input 'x' has contents of another type than BOOL"),
            ("FP16", {"fp32_contents": [1]}, "FP16 only travels as raw_input_contents"),
            ("BF16", {"fp32_contents": [1]}, "BF16 only travels as raw_input_contents"),
        ):
            with self.subTest(datatype, **contents):
                self.check_refused(text, server, types[datatype], [self.input(datatype, **contents)])
        both = self.input(fp32_contents=[1])
        self.check_refused("input 'x' has both contents and raw_input_contents", server, "f32", [both], [struct.pack("<f", 2)])
        for shape in ([-1], [2**62, 4], [2**62], [2**33]):
            self.check_refused("input 'x'", server, "f32", [self.input(shape=shape, fp32_contents=[1])])

    def test_shared_memory_is_refused(self):
        server = self.serve(models={"m": "in x f32 1\n"})
        output = inference_pb2.ModelInferRequest.InferRequestedOutputTensor(name="x")
        output.parameters["shared_memory_region"].string_param = "r"
        self.check_refused("output 'x': there is no shared memory here", server, "m", [self.input(fp32_contents=[1])], outputs=[output])

    def test_numbers_that_json_has_not_come_as_they_are(self):
        server = self.serve(models={"m": "in x f32 3\n"})
        data = struct.pack("<3f", float("nan"), float("-inf"), -0.0)
        self.assertEqual(list(self.grpc(server, "m", [self.input(shape=[3])], [data]).raw_output_contents), [data])


def strings(*values, shape=None):
    return {"name": "x", "datatype": "BYTES", "shape": shape or [len(values)], "data": list(values)}


@unittest.skipUnless("onnx" in os.environ["WASINN_FRAMEWORKS"].split(), "without ONNX Runtime")
class OfModels(ValuesTest):
    def setUp(self):
        super().setUp()
        self.env["WASINN_CONFIG"] = ""  # which lets no test use a framework by mistake

    def test_strings_go_in_and_come_out(self):
        server = self.serve_files(same=onnx_models.identity(onnx_models.STRING, -1, 2), encode=onnx_models.encoder(["", "b", "grün"]))
        reported = server.request("GET", "/v2/models/same").json()
        self.assertEqual(
            [(one["datatype"], one["shape"]) for one in reported["inputs"] + reported["outputs"]],
            [("BYTES", [-1, 2])] * 2,
        )
        config = server.request("GET", "/v2/models/same/config").json()
        self.assertEqual((config["input"][0]["data_type"], config["input"][0]["dims"]), ("TYPE_STRING", [-1, 2]))
        self.assertEqual(self.outputs(server, "encode", strings("b", "grün", "", "?", "b"))["y"]["data"], [1, 2, 0, -1, 1])
        texts = ["", "a", "grün", "x" * 100_000, "a\0b", "\0"]
        output = self.outputs(server, "same", strings(*texts, shape=[3, 2]))["y"]
        self.assertEqual((output["datatype"], output["shape"], output["data"]), ("BYTES", [3, 2], texts))
        self.assertEqual(self.outputs(server, "same", {**strings(), "shape": [0, 2]})["y"]["data"], [])
        many = [str(i) for i in range(20_000)]
        self.assertEqual(self.outputs(server, "same", strings(*many, shape=[10_000, 2]))["y"]["data"], many)
        self.check_answer(server.infer("same", {"inputs": [strings("a", "b", "c", shape=[3])]}), 400, "input 'x'")
        self.check_answer(server.infer("same", {"inputs": [strings("a", shape=[1, 2])]}), 400, "has 1 elements, not 2")
        self.check_answer(server.infer("same", {"inputs": [strings(1, 2, shape=[1, 2])]}), 400, "an element of BYTES is a string")
        self.check_answer(server.infer("same", {"inputs": [{**strings("a"), "datatype": "UINT8", "data": [1]}]}), 400, "is of BYTES, not UINT8")

    def test_strings_are_any_bytes(self):
        server = self.serve_files(same=onnx_models.identity(onnx_models.STRING, -1))
        for texts in ([b"\xff\xfe", b"\0\0", b""], [b"\xc3"], [bytes(range(256)) * 10]):
            raw = b"".join(map(element, texts))
            sent = {"name": "x", "datatype": "BYTES", "shape": [len(texts)], "parameters": {"binary_data_size": len(raw)}}
            self.check_answer(server.infer("same", {"inputs": [sent]}, raw), 400, "output 'y' has bytes that are not UTF-8, which JSON has not")
            answer = server.infer("same", {"inputs": [sent], "parameters": {"binary_data_output": True}}, raw)
            self.assertTrue(answer.body.endswith(raw), answer)
            given = inference_pb2.ModelInferRequest.InferInputTensor(name="x", datatype="BYTES", shape=[len(texts)])
            self.assertEqual(list(self.grpc(server, "same", [given], [raw]).raw_output_contents), [raw])
            given.contents.bytes_contents.extend(texts)
            self.assertEqual(list(self.grpc(server, "same", [given]).raw_output_contents), [raw])
            self.check_refused("bytes that are not BYTES", server, "same", [inference_pb2.ModelInferRequest.InferInputTensor(
                name="x", datatype="BYTES", shape=[1])], [b"\xff" * 7])

    def test_a_zip_map_gives_scores_in_the_order_of_its_classes(self):
        for classes in ([7, -2, 30], ["pear", "apple", "fig"]):
            with self.subTest(classes=classes):
                server = self.serve_files(fruit=onnx_models.classifier(classes))
                reported = server.request("GET", "/v2/models/fruit").json()["outputs"]
                self.assertEqual((reported[1]["datatype"], reported[1]["shape"]), ("FP32", [-1, 3]))
                for rows in ([], [[1.0, 0.5]], [[1.0, 0.5], [-1.0, 0.25]]):
                    flat = [one for row in rows for one in row]
                    outputs = self.outputs(server, "fruit", {"name": "x", "datatype": "FP32", "shape": [len(rows), 2], "data": flat})
                    self.assertEqual(outputs["maps"]["shape"], [len(rows), 3])
                    self.assertEqual(outputs["maps"]["data"], [a * i + b for a, b in rows for i in (1, 2, 3)])
                    self.assertEqual(outputs["label"]["data"], [classes[2 if a > 0 else 0] for a, _ in rows])

    def test_strings_and_maps_come_out_of_workers(self):
        server = self.serve_files(",isolate=true", same=onnx_models.identity(onnx_models.STRING, -1), fruit=onnx_models.classifier(["pear", "apple"]))
        self.assertEqual(self.outputs(server, "same", strings("", "grün", "a\0b"))["y"]["data"], ["", "grün", "a\0b"])
        outputs = self.outputs(server, "fruit", {"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1, 0.5]})
        self.assertEqual((outputs["maps"]["data"], outputs["label"]["data"]), ([1.5, 2.5], ["apple"]))

    def test_a_model_newer_than_the_library_is_an_error_that_says_so(self):
        for number, more in ((999, {"ir": 999}), (998, {"opset": 998})):
            new = onnx_models.model([onnx_models.node("Identity", ["x"], ["y"])], [onnx_models.value("x", onnx_models.tensor(1, 1))],
                                    [onnx_models.value("y", onnx_models.tensor(1, 1))], **more)
            (self.dir / "new.onnx").write_bytes(new)
            for isolate in ([], ["--isolate"]):
                ran = self.wasinn("inspect", *isolate, "new.onnx")
                self.assertNotEqual(ran.code, 0)
                self.assertRegex(ran.err, rf"(?s){number}.*newer than ONNX Runtime .*: use a newer one, or export the model again")

    def test_an_output_that_cannot_be_passed_is_named(self):
        server = self.serve_files(parts=onnx_models.sequence())
        reported = server.request("GET", "/v2/models/parts").json()["outputs"]
        self.assertEqual([(one["name"], one["datatype"]) for one in reported],
                         [("parts.0", "FP32"), ("rest", "seq(tensor(float))"), ("y", "FP32"), ("parts.1", "FP32")])
        one = {"name": "x", "datatype": "FP32", "shape": [1], "data": [5]}
        self.check_answer(server.infer("parts", {"inputs": [one]}), 400, "output 'rest' is of type seq(tensor(float))")
        self.check_answer(server.infer("parts", {"inputs": [one], "outputs": [{"name": "rest"}]}), 400, "output 'rest' is of type")
        given = self.outputs(server, "parts", one, outputs=[{"name": "y"}, {"name": "parts.1"}])
        self.assertEqual({name: output["data"] for name, output in given.items()}, {"y": [5], "parts.1": [5]})


@unittest.skipUnless("tensorflow" in os.environ["WASINN_FRAMEWORKS"].split(), "without TensorFlow")
class OfTensorFlow(ValuesTest):
    def test_strings_go_in_and_come_out(self):
        self.env["WASINN_CONFIG"] = ""
        server = self.serve("--model", f"same={os.environ['WASINN_TEST_MODELS']}/tensorflow/identity_string.pb")
        reported = server.request("GET", "/v2/models/same").json()
        self.assertEqual(
            [(one["datatype"], one["shape"]) for one in reported["inputs"] + reported["outputs"]],
            [("BYTES", [2, 3])] * 2,
        )
        texts = ["", "a", "grün", "x" * 100_000, "a\0b", "\0"]
        output = self.outputs(server, "same", strings(*texts, shape=[2, 3]))["y"]
        self.assertEqual((output["datatype"], output["shape"], output["data"]), ("BYTES", [2, 3], texts))
        raw = b"".join(map(element, [b"\xff\xfe", b"\0\0", b"", b"\xc3", bytes(range(256)), b"a"]))
        given = inference_pb2.ModelInferRequest.InferInputTensor(name="x", datatype="BYTES", shape=[2, 3])
        self.assertEqual(list(self.grpc(server, "same", [given], [raw]).raw_output_contents), [raw])


@unittest.skipUnless("openvino" in os.environ["WASINN_FRAMEWORKS"].split(), "without OpenVINO")
class OfOpenVino(ValuesTest):
    def test_an_error_names_the_type_that_is_not_served(self):
        self.env["WASINN_CONFIG"] = ""
        server = self.serve("--model", f"m={os.environ['WASINN_TEST_MODELS']}/openvino/strings.xml")
        given = {"inputs": [{**strings("a", "b"), "name": "text"}]}
        self.check_answer(server.infer("m", given), 400, "input 'text' is of string, not BYTES")


@unittest.skipUnless("tflite" in os.environ["WASINN_FRAMEWORKS"].split(), "without TensorFlow Lite")
class OfTensorFlowLite(ValuesTest):
    def test_strings_go_in_and_come_out(self):
        self.env["WASINN_CONFIG"] = ""  # the tests' own has a wrong library for this framework
        model = f"{os.environ['WASINN_TEST_MODELS']}/tflite/strings.tflite"
        server = self.serve("--model", f"pick={model}", "--model", f"apart={model},isolate=true")
        reported = server.request("GET", "/v2/models/pick").json()
        self.assertEqual(
            [(one["name"], one["datatype"]) for one in reported["inputs"] + reported["outputs"]],
            [("x", "BYTES"), ("i", "INT32"), ("y", "BYTES")],
        )
        texts = ["", "a", "grün", "x" * 100_000, "a\0b", "\0"]
        indices = {"name": "i", "datatype": "INT32", "shape": [8], "data": [5, 4, 3, 2, 1, 0, 2, 2]}
        for name in ("pick", "apart"):
            output = self.outputs(server, name, strings(*texts), indices)["y"]
            self.assertEqual((output["datatype"], output["shape"], output["data"]), ("BYTES", [8], [texts[i] for i in indices["data"]]))
        parts = [b"\xff\xfe", b"", bytes(range(256))]
        given = [inference_pb2.ModelInferRequest.InferInputTensor(name="x", datatype="BYTES", shape=[3]),
                 inference_pb2.ModelInferRequest.InferInputTensor(name="i", datatype="INT32", shape=[2])]
        answer = self.grpc(server, "pick", given, [b"".join(map(element, parts)), struct.pack("<2i", 2, 0)])
        self.assertEqual(list(answer.raw_output_contents), [element(parts[2]) + element(parts[0])])
        self.check_refused("bytes that are not BYTES", server, "pick", given, [b"\xff" * 7, struct.pack("<2i", 0, 0)])

    def test_the_log_lists_the_signatures_if_none_is_chosen(self):
        self.env["WASINN_CONFIG"] = ""
        model = f"{os.environ['WASINN_TEST_MODELS']}/tflite/signatures.tflite"
        listed = "wasinn: warning: tflite: the model has the signatures 'mul', 'add': the first graph is computed (key signature)\n"
        for config, log in (("", listed), ("[models.m.config]\nsignature = 'add'\n", "")):
            server = self.serve("--config", self.file("models.toml", f"[models.m]\npath = '{model}'\n{config}"))
            self.assertEqual(server.request("GET", "/v2/models/m").status, 200)
            self.assertEqual(self.log_of(server), log)
