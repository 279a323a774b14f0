"""What mlserver has for its clients: its types and codecs over HTTP, its converters and stubs over gRPC."""

import unittest
import warnings

import grpc
import httpx
import numpy as np
from mlserver import types
from mlserver.codecs import NumpyCodec, StringCodec
from mlserver.grpc import dataplane_pb2 as pb
from mlserver.grpc.converters import (
    ModelInferRequestConverter,
    ModelInferResponseConverter,
    ModelMetadataResponseConverter,
    ServerMetadataResponseConverter,
)
from mlserver.grpc.dataplane_pb2_grpc import GRPCInferenceServiceStub

from server import ServeTest
from types_of_numpy import ARRAYS, MODELS

TEXT = "in x u8 -1 opaque\n"


def request(*inputs, **more):
    return types.InferenceRequest(inputs=list(inputs), **more)


class MlserverTest(ServeTest):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore", DeprecationWarning)  # of what mlserver calls
        self.server = self.serve(models={**MODELS, "text": TEXT, "pair": "in x f32 -1,1\nin y i64 -1,2\n"})

    def pair(self):
        arrays = {"x": np.array([[0.5], [1]], np.float32), "y": np.array([[1, 2], [3, 4]])}
        return arrays, request(*(NumpyCodec.encode_input(*one) for one in arrays.items()), id="7")

    def check_pair(self, answer):
        arrays, _ = self.pair()
        self.assertEqual((answer.id, answer.model_name, answer.model_version), ("7", "pair", "1"))
        self.assertEqual([one.name for one in answer.outputs], list(arrays))
        for output in answer.outputs:
            np.testing.assert_array_equal(NumpyCodec.decode_output(output), arrays[output.name])


class Rest(MlserverTest):
    def setUp(self):
        super().setUp()
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.server.port}/v2")
        self.addCleanup(self.client.close)

    def infer(self, model, sent):
        answer = self.client.post(f"models/{model}/infer", content=sent.model_dump_json())
        self.assertEqual(answer.status_code, 200, answer.text)
        return types.InferenceResponse.model_validate_json(answer.content)

    def test_metadata(self):
        told = types.MetadataServerResponse.model_validate_json(self.client.get("").content)
        self.assertEqual(told.name, "wasinn")
        told = types.MetadataModelResponse.model_validate_json(self.client.get("models/pair").content)
        self.assertEqual((told.name, told.versions), ("pair", ["1"]))
        self.assertEqual([(one.name, one.datatype, one.shape) for one in told.inputs],
                         [("x", "FP32", [-1, 1]), ("y", "INT64", [-1, 2])])

    def test_the_repository(self):
        def states():
            asked = types.RepositoryIndexRequest().model_dump_json()
            told = types.RepositoryIndexResponse.model_validate_json(self.client.post("repository/index", content=asked).content)
            return {one.name: one.state for one in told.root}

        self.assertEqual(states()["pair"], types.State.READY.value)
        self.client.post("repository/models/pair/unload").raise_for_status()
        self.assertEqual(states()["pair"], types.State.UNAVAILABLE.value)
        self.client.post("repository/models/pair/load").raise_for_status()
        self.assertEqual(states()["pair"], types.State.READY.value)

    def test_every_type(self):
        for datatype, (model, array) in ARRAYS.items():
            if datatype == "FP16":  # which this client has as JSON only
                continue
            with self.subTest(datatype):
                [output] = self.infer(model, request(NumpyCodec.encode_input("x", array))).outputs
                self.assertEqual(output.datatype, datatype)
                np.testing.assert_array_equal(NumpyCodec.decode_output(output), array)

    def test_inputs_and_outputs(self):
        _, sent = self.pair()
        self.check_pair(self.infer("pair", sent))
        sent.outputs = [types.RequestOutput(name="y")]
        self.assertEqual([one.name for one in self.infer("pair", sent).outputs], ["y"])

    def test_text(self):
        sent = StringCodec.encode_input("x", ["grüße"], use_bytes=False)
        [output] = self.infer("text", request(sent)).outputs
        self.assertEqual(StringCodec.decode_output(output), ["grüße"])

    def test_errors(self):
        sent = request(NumpyCodec.encode_input("x", np.zeros((3, 1), np.float32))).model_dump_json()
        for model, status, text in (("no", 404, "there is no model 'no'"), ("f64", 400, "is of FP64, not FP32")):
            answer = self.client.post(f"models/{model}/infer", content=sent)
            error = types.InferenceErrorResponse.model_validate_json(answer.content)
            self.assertEqual(answer.status_code, status)
            self.assertIn(text, error.error)


class Grpc(MlserverTest):
    def setUp(self):
        super().setUp()
        channel = grpc.insecure_channel(f"127.0.0.1:{self.server.grpc_port}")
        self.addCleanup(channel.close)
        self.stub = GRPCInferenceServiceStub(channel)

    def infer(self, model, sent, raw):
        asked = ModelInferRequestConverter.from_types(sent, model_name=model, use_raw=raw)
        return ModelInferResponseConverter.to_types(self.stub.ModelInfer(asked))

    def test_health(self):
        self.assertTrue(self.stub.ServerLive(pb.ServerLiveRequest()).live)
        self.assertTrue(self.stub.ServerReady(pb.ServerReadyRequest()).ready)
        self.assertTrue(self.stub.ModelReady(pb.ModelReadyRequest(name="f32")).ready)

    def test_metadata(self):
        told = ServerMetadataResponseConverter.to_types(self.stub.ServerMetadata(pb.ServerMetadataRequest()))
        self.assertEqual(told.name, "wasinn")
        asked = pb.ModelMetadataRequest(name="pair")
        told = ModelMetadataResponseConverter.to_types(self.stub.ModelMetadata(asked))
        self.assertEqual([(one.name, one.datatype, one.shape) for one in told.inputs],
                         [("x", "FP32", [-1, 1]), ("y", "INT64", [-1, 2])])

    def test_the_repository(self):
        def states():
            told = self.stub.RepositoryIndex(pb.RepositoryIndexRequest())
            return {one.name: one.state for one in told.models}

        self.assertEqual(states()["pair"], types.State.READY.value)
        self.stub.RepositoryModelUnload(pb.RepositoryModelUnloadRequest(model_name="pair"))
        self.assertEqual(states()["pair"], types.State.UNAVAILABLE.value)
        self.stub.RepositoryModelLoad(pb.RepositoryModelLoadRequest(model_name="pair"))
        self.assertEqual(states()["pair"], types.State.READY.value)

    def test_every_type(self):
        for datatype, (model, array) in ARRAYS.items():
            for raw in (False, True):
                if datatype == "FP16" and not raw:
                    continue  # the protocol's messages have no field for it
                with self.subTest(datatype, raw=raw):
                    sent = request(NumpyCodec.encode_input("x", array))
                    [output] = self.infer(model, sent, raw).outputs
                    self.assertEqual(output.datatype, datatype)
                    np.testing.assert_array_equal(NumpyCodec.decode_output(output), array)

    def test_inputs(self):
        for raw in (False, True):
            _, sent = self.pair()
            self.check_pair(self.infer("pair", sent, raw))

    def test_text(self):
        for raw in (False, True):
            sent = request(StringCodec.encode_input("x", ["grüße"]))
            [output] = self.infer("text", sent, raw).outputs
            self.assertEqual(StringCodec.decode_output(output), ["grüße"])

    def test_errors(self):
        for model, code, text in (
            ("no", grpc.StatusCode.NOT_FOUND, "there is no model 'no'"),
            ("f64", grpc.StatusCode.INVALID_ARGUMENT, "is of FP64, not FP32"),
        ):
            sent = request(NumpyCodec.encode_input("x", np.zeros((3, 1), np.float32)))
            with self.assertRaisesRegex(grpc.RpcError, text) as raised:
                self.infer(model, sent, True)
            self.assertEqual(raised.exception.code(), code)


if __name__ == "__main__":
    unittest.main()
