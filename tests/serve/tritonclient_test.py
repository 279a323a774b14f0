"""Clients that others wrote: Triton's Python client and its perf_analyzer, on a model of ONNX."""

import contextlib
import json
import os
import queue
import subprocess

import grpc as rpc
import numpy as np
from google.protobuf import descriptor_pool
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from tritonclient import grpc, http
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.utils import triton_to_np_dtype

from server import WAIT, ServeTest

MODELS = os.environ["WASINN_MODELS"]
TRITON = os.environ["WASINN_TRITON"]  # the folder of bin/perf_analyzer


@contextlib.contextmanager
def channel(server):
    with rpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as opened:
        yield service_pb2_grpc.GRPCInferenceServiceStub(opened)


class OnDigits(ServeTest):
    def setUp(self):
        super().setUp()
        self.env["WASINN_CONFIG"] = ""

    def digits(self):
        return self.serve("--model", f"digits={MODELS}/digits.onnx")


class TritonClient(OnDigits):
    """Over both protocols."""

    def clients(self):
        server = self.digits()
        for triton, port, more in ((http, server.port, {}), (grpc, server.grpc_port, {"as_json": True})):
            with self.subTest(triton.__name__), triton.InferenceServerClient(f"127.0.0.1:{port}") as client:
                yield triton, client, more

    def test_inferences(self):
        images = np.random.default_rng(1).random((3, 1, 8, 8), dtype=np.float32)
        results = []
        for triton, client, as_json in self.clients():
            for binary in (True, False):
                options = {} if as_json else {"binary_data": binary}
                image = triton.InferInput("image", images.shape, "FP32")
                image.set_data_from_numpy(images, **options)
                output = triton.InferRequestedOutput("probabilities", **options)
                result = client.infer("digits", [image], outputs=[output], request_id="7")
                results.append(result.as_numpy("probabilities"))
            statistics = client.get_inference_statistics("digits", **as_json)["model_stats"]
            self.assertGreaterEqual(int(statistics[0]["inference_stats"]["success"]["count"]), 2)
        self.assertEqual(results[0].shape, (3, 10))
        np.testing.assert_allclose(results[0].sum(axis=1), 1, rtol=1e-5)
        for result in results[1:]:
            np.testing.assert_array_equal(result, results[0])

    def test_compression(self):
        images = np.zeros((500, 1, 8, 8), np.float32)
        for triton, client, as_json in self.clients():
            for algorithm in ("gzip", "deflate"):
                image = triton.InferInput("image", images.shape, "FP32")
                image.set_data_from_numpy(images)
                options = {"compression_algorithm": algorithm} if as_json else {f"{what}_compression_algorithm": algorithm for what in ("request", "response")}
                result = client.infer("digits", [image], **options)
                self.assertEqual(result.as_numpy("probabilities").shape, (500, 10))

    def test_keepalive(self):
        server = self.digits()
        options = grpc.KeepAliveOptions(keepalive_time_ms=10_000, keepalive_timeout_ms=20_000, keepalive_permit_without_calls=True,
                                        http2_max_pings_without_data=0)
        with grpc.InferenceServerClient(f"127.0.0.1:{server.grpc_port}", keepalive_options=options) as client:
            self.assertTrue(client.is_model_ready("digits"))

    def test_a_decoupled_stream(self):
        server = self.serve("--model", f"tiny={MODELS}/tiny.gguf")
        answers = queue.Queue()
        prompt = grpc.InferInput("prompt", [1], "BYTES")
        prompt.set_data_from_numpy(np.array([b"GNU"], np.object_))
        options = grpc.InferInput("options", [1], "BYTES")
        options.set_data_from_numpy(np.array([b'{"n-predict": 5, "temp": 0}'], np.object_))
        with grpc.InferenceServerClient(f"127.0.0.1:{server.grpc_port}") as client:
            self.assertTrue(client.get_model_config("tiny").config.model_transaction_policy.decoupled)
            client.start_stream(callback=lambda result, error: answers.put((result, error)), compression_algorithm="gzip")
            client.async_stream_infer("tiny", [prompt, options], request_id="1", enable_empty_final_response=True)
            texts = []
            for result, error in iter(lambda: answers.get(timeout=WAIT), None):
                self.assertIsNone(error)
                if result.get_response().parameters["triton_final_response"].bool_param:
                    break
                texts.append(result.as_numpy("completion")[0])
            client.stop_stream()
        body = {"text_input": "GNU", "max_tokens": 5, "parameters": {"temperature": 0}}
        whole = server.request("POST", "/v2/models/tiny/generate", json.dumps(body)).json()["text_output"]
        self.assertGreater(len(texts), 1)
        self.assertEqual(b"".join(texts).decode(), whole)

    def test_reflection(self):
        with rpc.insecure_channel(f"127.0.0.1:{self.digits().grpc_port}") as opened:
            database = ProtoReflectionDescriptorDatabase(opened)
            self.assertIn("inference.GRPCInferenceService", database.get_services())
            pool = descriptor_pool.DescriptorPool(database)
            service = pool.FindServiceByName("inference.GRPCInferenceService")
            self.assertTrue(service.FindMethodByName("ModelStreamInfer").client_streaming)

    def test_a_stream(self):
        server = self.digits()
        answers = queue.Queue()
        good, bad = (grpc.InferInput("image", [1, 1, 8, n], "FP32") for n in (8, 9))
        for image in (good, bad):
            image.set_data_from_numpy(np.zeros(image.shape(), np.float32))
        with grpc.InferenceServerClient(f"127.0.0.1:{server.grpc_port}") as client:
            client.start_stream(callback=lambda result, error: answers.put((result, error)))
            for i, image in enumerate((good, bad, good)):
                client.async_stream_infer("digits", [image], request_id=str(i))
            reported = [answers.get(timeout=WAIT) for _ in range(3)]
            client.stop_stream()
        self.assertEqual([error is None for _, error in reported], [True, False, True])
        self.assertIn("input 'image' takes", reported[1][1].message())
        self.assertEqual(reported[2][0].get_response().id, "2")

    def test_numbers_in_fields(self):
        """Forms of other clients, where this one sends raw bytes."""
        types = {"INT8": ("i8", "int_contents", -128), "INT16": ("i16", "int_contents", -(2**15)),
                 "INT32": ("i32", "int_contents", -(2**31)), "INT64": ("i64", "int64_contents", -(2**63)),
                 "UINT8": ("u8", "uint_contents", 255), "UINT16": ("u16", "uint_contents", 65535),
                 "UINT32": ("u32", "uint_contents", 2**32 - 1), "UINT64": ("u64", "uint64_contents", 2**64 - 1),
                 "FP32": ("f32", "fp32_contents", 0.5), "FP64": ("f64", "fp64_contents", 0.1),
                 "BOOL": ("bool", "bool_contents", True)}
        self.env["WASINN_CONFIG"] = "echo.toml"
        server = self.serve(models={word: f"in x {word} 2\n" for word, _, _ in types.values()})
        with channel(server) as stub:
            for name, (word, field, number) in types.items():
                with self.subTest(name):
                    request = service_pb2.ModelInferRequest(model_name=word)
                    tensor = request.inputs.add(name="x", datatype=name, shape=[2])
                    getattr(tensor.contents, field).extend([number, number])
                    answer = stub.ModelInfer(request)
                    back = np.frombuffer(answer.raw_output_contents[0], triton_to_np_dtype(name))
                    self.assertEqual((answer.outputs[0].datatype, back.tolist()), (name, [number, number]))
            for word, name, field, number in (("i8", "INT8", "int_contents", 128), ("u16", "UINT16", "uint_contents", 65536)):
                request = service_pb2.ModelInferRequest(model_name=word)
                getattr(request.inputs.add(name="x", datatype=name, shape=[2]).contents, field).extend([number, 0])
                with self.assertRaisesRegex(rpc.RpcError, f"{number} is not a valid {name}"):
                    stub.ModelInfer(request)

    def test_raw_contents_that_do_not_fit(self):
        server = self.digits()
        with channel(server) as stub:
            for raw, text in (([b"a", b"b"], "1 inputs have 2 raw_input_contents"), ([b"a"], "takes|bytes")):
                request = service_pb2.ModelInferRequest(model_name="digits", raw_input_contents=raw)
                request.inputs.add(name="image", datatype="FP32", shape=[1, 1, 8, 8])
                with self.assertRaisesRegex(rpc.RpcError, text):
                    stub.ModelInfer(request)
            request = service_pb2.ModelInferRequest(model_name="digits")
            request.inputs.add(name="image", datatype="FP32", shape=[1] * 33)
            with self.assertRaisesRegex(rpc.RpcError, "more than 32 dimensions"):
                stub.ModelInfer(request)


class PerfAnalyzer(OnDigits):
    def expect_inferences(self, *flags):
        command = [f"{TRITON}/bin/perf_analyzer", "-m", "digits", "--shape", "image:1,1,8,8", "--concurrency-range", "4",
                   "--measurement-mode", "count_windows", "--measurement-request-count", "200", "--stability-percentage", "999",
                   "--max-trials", "3", *flags]
        env = {**self.env, "LD_LIBRARY_PATH": f"{TRITON}/lib"}
        done = subprocess.run(command, env=env, cwd=self.dir, capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("Successful request count:", done.stdout)
        self.assertNotIn("Failed", done.stdout)

    def test_http(self):
        self.expect_inferences("-u", f"127.0.0.1:{self.digits().port}")

    def test_a_stream(self):
        self.expect_inferences("-i", "grpc", "--streaming", "-u", f"127.0.0.1:{self.digits().grpc_port}")
