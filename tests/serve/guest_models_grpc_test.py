"""Guests that are models, over gRPC."""

import os
import struct

import grpc
import inference_pb2 as service_pb2
import inference_pb2_grpc as service_pb2_grpc

from command import WAIT
from configured import ConfiguredTest
from guest_model_probe import await_loop
from server import element

PROBE = os.environ["WASINN_MODEL_PROBE"]


def request(what="double", x=(1, 2), **more):
    raw = [element(what.encode()), struct.pack(f"<{len(x)}f", *x)]
    message = service_pb2.ModelInferRequest(model_name="g", raw_input_contents=raw, **more)
    message.inputs.add(name="what", datatype="BYTES", shape=[1])
    message.inputs.add(name="x", datatype="FP32", shape=[len(x) // 2, 2])
    return message


class OverGrpc(ConfiguredTest):
    def serve_guest(self, *flags, **more):
        return self.serve("--guest-model", f"g={PROBE}", *flags, **more)

    def stub(self, *flags, **more):
        self.server = self.serve_guest(*flags, **more)
        return self.stub_of(self.server)

    def stub_of(self, server):
        channel = grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}", options=[("grpc.max_receive_message_length", -1)])
        self.addCleanup(channel.close)
        return service_pb2_grpc.GRPCInferenceServiceStub(channel)

    def expect_error(self, code, text, call, message, **more):
        with self.assertRaises(grpc.RpcError) as raised:
            call(message, timeout=WAIT, **more)
        self.assertEqual(raised.exception.code(), code, raised.exception)
        self.assertIn(text, raised.exception.details())

    def expect_double(self, stub, x=(1, 2)):
        answer = stub.ModelInfer(request(x=x, id="7"), timeout=WAIT)
        self.assertEqual((answer.model_name, answer.model_version, answer.id), ("g", "1", "7"))
        self.assertEqual([(one.name, one.datatype, list(one.shape)) for one in answer.outputs],
                         [("y", "FP32", [len(x) // 2, 2]), ("label", "BYTES", [len(x) // 2])])
        doubled = struct.pack(f"<{len(x)}f", *(2 * one for one in x))
        labels = b"".join(element(f"row {row}".encode()) for row in range(len(x) // 2))
        self.assertEqual(list(answer.raw_output_contents), [doubled, labels])

    def test_it_is_described(self):
        stub = self.stub(models={"m": "in x f32 1\n"})
        ask = service_pb2
        self.assertTrue(stub.ModelReady(ask.ModelReadyRequest(name="g"), timeout=WAIT).ready)
        metadata = stub.ModelMetadata(ask.ModelMetadataRequest(name="g", version="1"), timeout=WAIT)
        self.assertEqual([(one.name, one.datatype, list(one.shape)) for one in metadata.inputs], [("what", "BYTES", [1]), ("x", "FP32", [-1, 2])])
        config = stub.ModelConfig(ask.ModelConfigRequest(name="g"), timeout=WAIT).config
        self.assertEqual([list(one.dims) for one in config.output], [[-1, 2], [-1]])
        index = stub.RepositoryIndex(ask.RepositoryIndexRequest(), timeout=WAIT)
        self.assertEqual([one.name for one in index.models], ["m", "g"])
        self.expect_double(stub)
        [stats] = stub.ModelStatistics(ask.ModelStatisticsRequest(name="g"), timeout=WAIT).model_stats
        self.assertEqual((stats.name, stats.inference_count), ("g", 1))
        stub.RepositoryModelUnload(ask.RepositoryModelUnloadRequest(model_name="g"), timeout=WAIT)
        self.assertFalse(stub.ModelReady(ask.ModelReadyRequest(name="g"), timeout=WAIT).ready)
        self.expect_error(grpc.StatusCode.UNAVAILABLE, "unloaded", stub.ModelInfer, request())
        stub.RepositoryModelLoad(ask.RepositoryModelLoadRequest(model_name="g"), timeout=WAIT)
        self.expect_double(stub)

    def test_large_requests(self):
        """They are too large for gRPC's threads."""
        self.expect_double(self.stub(), x=range(50_000))

    def test_errors(self):
        stub = self.stub()
        code = grpc.StatusCode
        for what, status, text in (("invalid", code.INVALID_ARGUMENT, "such rows are none"), ("failed", code.INTERNAL, "the moon is full"),
                                   ("trap", code.INTERNAL, "trap"), ("wrong_size", code.INTERNAL, "has 9 bytes")):
            with self.subTest(what):
                self.expect_error(status, text, stub.ModelInfer, request(what))
        large = request("double", x=range(50_000))
        large.inputs[1].shape[0] = 3
        self.expect_error(code.INVALID_ARGUMENT, "not those of 6 elements", stub.ModelInfer, large)
        wrong = request()
        wrong.inputs[1].name = "z"
        self.expect_error(code.INVALID_ARGUMENT, "no input 'z'", stub.ModelInfer, wrong)
        # Guests never see a name that is not UTF-8.
        wrong.inputs[1].name = "\u00e9"
        raw = wrong.SerializeToString().replace("\u00e9".encode(), b"\xff\xfe")
        channel = grpc.insecure_channel(f"127.0.0.1:{self.server.grpc_port}")
        self.addCleanup(channel.close)
        self.expect_error(code.INVALID_ARGUMENT, "not UTF-8", channel.unary_unary("/inference.GRPCInferenceService/ModelInfer"), raw)
        self.expect_double(stub)
        self.assertEqual(self.server.stop()[0], 0)

    def test_deadlines(self):
        server = self.for_two(self.serve_guest)
        stub = self.stub_of(server)
        for what in (request("loop"), request("sleep"), request("loop", x=range(50_000))):
            self.expect_error(grpc.StatusCode.DEADLINE_EXCEEDED, "200 ms", stub.ModelInfer, what, metadata=(("authorization", "Bearer key of hurried"),))
        self.assertIn("run_timeout_ms", self.log_of(server))

    def test_a_stream(self):
        stub = self.stub()
        answers = list(stub.ModelStreamInfer(iter([request(), request("failed"), request(x=(3, 4))]), timeout=WAIT))
        self.assertEqual([answer.infer_response.raw_output_contents[0] for answer in (answers[0], answers[2])],
                         [struct.pack("<ff", 2, 4), struct.pack("<ff", 6, 8)])
        self.assertIn("the moon is full", answers[1].error_message)

    def test_a_call_that_is_cancelled(self):
        stub = self.stub("--timeout", "600s")
        calls = [stub.ModelInfer.future(request(what, x=range(n)), timeout=600) for what in ("loop", "sleep") for n in (2, 50_000)]
        await_loop(self.server)
        for call in calls:
            call.cancel()
        self.expect_double(stub)
        code, err = self.server.stop()  # which waits for them, if they have begun
        self.assertEqual(code, 0)
        self.assertIn("guest 'g': the guest was stopped", err)
