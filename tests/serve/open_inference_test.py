"""Clients that others wrote for the Open Inference Protocol: each asks for a model, has it compute, and gets an error for a mistake. Whatever
they share with Triton's, and each type, is tested with that and by hand."""

import logging
import unittest

import grpc
import httpx
import numpy as np
from kserve.inference_client import InferenceGRPCClient, InferenceRESTClient, RESTConfig
from kserve.protocol.infer_type import InferInput, InferRequest
from open_inference.openapi import InferenceRequest, NotFoundError, RequestInput
from open_inference.openapi.client import OpenInferenceClient
from open_inference.openapi.errors import BadRequestError

from open_inference_clients import ARRAY, ClientTest

logging.getLogger("asyncio").setLevel(logging.ERROR)  # below, it logs each call that takes a tenth of a second
WRONG = "is of FP32, not FP64"


class Kserve(ClientTest, unittest.IsolatedAsyncioTestCase):
    def request(self, datatype="FP32", binary=True):
        tensor = InferInput("x", list(ARRAY.shape), datatype)
        tensor.set_data_from_numpy(ARRAY.astype(np.float64) if datatype == "FP64" else ARRAY, binary_data=binary)
        return InferRequest("m", [tensor], parameters={"binary_data_output": binary})

    async def test_over_http(self):
        client = await self.enterAsyncContext(InferenceRESTClient(RESTConfig(protocol="v2")))
        self.assertEqual([await client.is_model_ready(self.url, name) for name in ("m", "no")], [True, False])
        for binary in (False, True):
            answer = await client.infer(self.url, self.request(binary=binary), model_name="m")
            np.testing.assert_array_equal(answer.outputs[0].as_numpy(), ARRAY)
        with self.assertRaisesRegex(httpx.HTTPStatusError, WRONG):
            await client.infer(self.url, self.request("FP64"), model_name="m")

    async def test_over_grpc(self):
        # Without its three tries, of which a test would see the last one alone.
        client = await self.enterAsyncContext(InferenceGRPCClient(self.address, retries=0))
        self.assertTrue(await client.is_model_ready("m"))
        for raw in (False, True):
            answer = await client.infer(self.request(binary=raw))
            np.testing.assert_array_equal(answer.outputs[0].as_numpy(), ARRAY)
        with self.assertLogs("kserve.trace"), self.assertRaisesRegex(grpc.RpcError, WRONG):
            await client.infer(self.request("FP64"))


class Generated(ClientTest):
    """The client that the protocol's authors generated from their description of it."""

    def test_over_http(self):
        with httpx.Client() as connections:
            client = OpenInferenceClient(base_url=self.url, httpx_client=connections)
            self.assertEqual(client.read_model_version_metadata("m", "1").inputs[0].shape, [-1, 1])
            with self.assertRaises(NotFoundError):
                client.check_model_readiness("no")
            right, wrong = (InferenceRequest(inputs=[RequestInput(name="x", shape=[2, 1], datatype=datatype, data=[0.5, 1])], id="7")
                            for datatype in ("FP32", "FP64"))
            answer = client.model_infer("m", request=right)
            self.assertEqual((answer.id, answer.outputs[0].data.__root__), ("7", [0.5, 1]))
            with self.assertRaises(BadRequestError) as raised:
                client.model_infer("m", request=wrong)
            self.assertIn(WRONG, raised.exception.body["error"])
