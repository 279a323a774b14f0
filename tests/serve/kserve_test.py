"""kserve's own clients, over HTTP and gRPC."""

import logging
import unittest

import grpc
import httpx
import numpy as np
from kserve.inference_client import InferenceGRPCClient, InferenceRESTClient, RESTConfig
from kserve.protocol.infer_type import InferInput, InferRequest, RequestedOutput

from server import ServeTest
from types_of_numpy import ARRAYS, MODELS

logging.getLogger("asyncio").setLevel(logging.ERROR)  # below, it tells what takes a tenth of a second


def request(model, datatype, array, binary=True, **more):
    tensor = InferInput("x", list(array.shape), datatype)
    tensor.set_data_from_numpy(array, binary_data=binary)
    return InferRequest(model, [tensor], **more)


class KserveTest(ServeTest, unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        super().setUp()
        self.server = self.serve(models={**MODELS, "text": "in x u8 -1 opaque\n"})

    def check_output(self, answer, datatype, array):
        [output] = answer.outputs
        self.assertEqual((output.name, output.datatype, list(output.shape)), ("x", datatype, list(array.shape)))
        np.testing.assert_array_equal(output.as_numpy(), array)


class Rest(KserveTest):
    async def asyncSetUp(self):
        self.url = f"http://127.0.0.1:{self.server.port}"
        self.client = await self.enterAsyncContext(InferenceRESTClient(RESTConfig(protocol="v2")))

    async def test_health_of_the_server(self):
        self.assertTrue(await self.client.is_server_live(self.url))
        self.assertTrue(await self.client.is_server_ready(self.url))

    async def test_health_of_models(self):
        self.assertTrue(await self.client.is_model_ready(self.url, "f32"))
        self.assertFalse(await self.client.is_model_ready(self.url, "no"))
        self.check_answer(self.server.request("POST", "/v2/repository/models/f32/unload"), 200)
        self.assertFalse(await self.client.is_model_ready(self.url, "f32"))

    async def test_every_type(self):
        for datatype, (model, array) in ARRAYS.items():
            for binary in (False, True):
                if datatype == "FP16" and not binary:
                    continue  # this client, too, does not send it as JSON
                with self.subTest(datatype, binary=binary):
                    sent = request(model, datatype, array, binary, parameters={"binary_data_output": binary})
                    answer = await self.client.infer(self.url, sent, model_name=model)
                    self.check_output(answer, datatype, array)
                    self.assertEqual(answer.model_name, model)

    async def test_one_output_as_bytes(self):
        _, array = ARRAYS["FP32"]
        outputs = [RequestedOutput("x", {"binary_data": True})]
        headers = {}
        sent = request("f32", "FP32", array, False, request_id="7", request_outputs=outputs)
        answer = await self.client.infer(self.url, sent, model_name="f32", response_headers=headers)
        self.assertEqual((answer.id, headers["content-type"]), ("7", "application/octet-stream"))
        self.check_output(answer, "FP32", array)

    async def test_text(self):
        text = np.array(["grüße".encode()], np.object_)
        for binary in (False, True):
            sent = request("text", "BYTES", text, binary, parameters={"binary_data_output": binary})
            answer = await self.client.infer(self.url, sent, model_name="text")
            self.assertIn(answer.outputs[0].as_numpy()[0], (text[0], text[0].decode()))

    async def test_errors(self):
        _, array = ARRAYS["FP32"]
        for model, status, text in (("no", 404, "there is no model 'no'"), ("f64", 400, "is of FP64, not FP32")):
            with self.assertRaisesRegex(httpx.HTTPStatusError, text) as raised:
                await self.client.infer(self.url, request(model, "FP32", array), model_name=model)
            self.assertEqual(raised.exception.response.status_code, status)


class Grpc(KserveTest):
    async def asyncSetUp(self):
        # Without its three tries, of which a test would see the last one alone.
        client = InferenceGRPCClient(f"127.0.0.1:{self.server.grpc_port}", retries=0)
        self.client = await self.enterAsyncContext(client)

    async def test_health(self):
        self.assertTrue(await self.client.is_server_live())
        self.assertTrue(await self.client.is_server_ready())
        self.assertTrue(await self.client.is_model_ready("f32"))
        self.check_answer(self.server.request("POST", "/v2/repository/models/f32/unload"), 200)
        self.assertFalse(await self.client.is_model_ready("f32"))

    async def test_every_type(self):
        for datatype, (model, array) in ARRAYS.items():
            for raw in (False, True):
                if datatype == "FP16" and not raw:
                    continue  # the protocol's messages have no field for it
                with self.subTest(datatype, raw=raw):
                    answer = await self.client.infer(request(model, datatype, array, raw))
                    self.check_output(answer, datatype, array)

    async def test_text(self):
        text = np.array(["grüße".encode()], np.object_)
        for raw in (False, True):
            answer = await self.client.infer(request("text", "BYTES", text, raw))
            self.check_output(answer, "BYTES", text)

    async def test_errors(self):
        _, array = ARRAYS["FP32"]
        for model, code, text in (
            ("no", grpc.StatusCode.NOT_FOUND, "there is no model 'no'"),
            ("f64", grpc.StatusCode.INVALID_ARGUMENT, "is of FP64, not FP32"),
        ):
            with self.assertLogs("kserve.trace"), self.assertRaisesRegex(grpc.RpcError, text) as raised:
                await self.client.infer(request(model, "FP32", array))
            self.assertEqual(raised.exception.code(), code)


if __name__ == "__main__":
    unittest.main()
