"""mlserver's parts for clients: its types and codecs over HTTP, its converters and stubs over gRPC. In a process of its own: kserve's clients have
messages of the same names."""

import grpc
import httpx
import numpy as np
from mlserver import types
from mlserver.codecs import NumpyCodec, StringCodec
from mlserver.grpc import converters, dataplane_pb2
from mlserver.grpc.dataplane_pb2_grpc import GRPCInferenceServiceStub

from open_inference_clients import ARRAY, ClientTest


class Mlserver(ClientTest):
    def requests(self, use_bytes):
        """A request to each model, with its answer's decoder, and the decoded answer."""
        for model, sent, codec, back in (("m", NumpyCodec.encode_input("x", ARRAY), NumpyCodec, ARRAY.tolist()),
                                         ("text", StringCodec.encode_input("x", ["grüße"], use_bytes=use_bytes), StringCodec, ["grüße"])):
            yield model, types.InferenceRequest(inputs=[sent], id="7"), codec, back

    def expect(self, answer, codec, back):
        self.assertEqual((answer.id, np.asarray(codec.decode_output(answer.outputs[0])).tolist()), ("7", back))

    def test_over_http(self):
        with httpx.Client(base_url=f"{self.url}/v2") as client:
            reported = types.MetadataModelResponse.model_validate_json(client.get("models/m").content)
            self.assertEqual([(one.name, one.datatype, one.shape) for one in reported.inputs], [("x", "FP32", [-1, 1])])
            for model, sent, codec, back in self.requests(use_bytes=False):
                answer = client.post(f"models/{model}/infer", content=sent.model_dump_json())
                self.expect(types.InferenceResponse.model_validate_json(answer.content), codec, back)
            answer = client.post("models/no/infer", content=sent.model_dump_json())
            self.assertIn("there is no model 'no'", types.InferenceErrorResponse.model_validate_json(answer.content).error)

    def test_over_grpc(self):
        with grpc.insecure_channel(self.address) as channel:
            stub = GRPCInferenceServiceStub(channel)
            reported = converters.ModelMetadataResponseConverter.to_types(
                stub.ModelMetadata(dataplane_pb2.ModelMetadataRequest(name="m"))
            )
            self.assertEqual([(one.name, one.datatype, one.shape) for one in reported.inputs], [("x", "FP32", [-1, 1])])
            for raw in (False, True):
                for model, sent, codec, back in self.requests(use_bytes=True):
                    asked = converters.ModelInferRequestConverter.from_types(sent, model_name=model, use_raw=raw)
                    self.expect(converters.ModelInferResponseConverter.to_types(stub.ModelInfer(asked)), codec, back)
