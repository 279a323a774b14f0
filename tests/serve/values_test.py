"""Values go in and come out as they are, or there is an error: over REST as JSON and as bytes, and over gRPC."""

import json
import os
import struct
import unittest

import grpc
import inference_pb2
import inference_pb2_grpc

from command import WAIT
from server import ServeTest, element


class ValuesTest(ServeTest):
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
            ("FP16", {"fp32_contents": [1]}, "FP16 travels as raw_input_contents alone"),
            ("BF16", {"fp32_contents": [1]}, "BF16 travels as raw_input_contents alone"),
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


if __name__ == "__main__":
    unittest.main()
