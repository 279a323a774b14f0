"""The client that the protocol's authors generated from their description of it: HTTP, by version or without one."""

import asyncio
import unittest
import warnings

import httpx
from open_inference.openapi import InferenceRequest, NotFoundError, RequestInput, RequestOutput, ServiceUnavailableError
from open_inference.openapi.client import AsyncOpenInferenceClient, OpenInferenceClient
from open_inference.openapi.errors import BadRequestError

from server import ServeTest


def request(data, datatype="FP32", **more):
    return InferenceRequest(inputs=[RequestInput(name="x", shape=[len(data)], datatype=datatype, data=data)], **more)


class OpenInference(ServeTest):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore", DeprecationWarning)  # of what it calls
        models = {"f32": "in x f32 -1\n", "i64": "in x i64 -1\n", "bool": "in x bool -1\n", "text": "in x u8 -1 opaque\n"}
        self.server = self.serve(models=models)
        self.url = f"http://127.0.0.1:{self.server.port}"
        connections = httpx.Client()
        self.addCleanup(connections.close)
        self.client = OpenInferenceClient(base_url=self.url, httpx_client=connections)

    def expect_back(self, model, datatype, data):
        answer = self.client.model_infer(model, request=request(data, datatype, id="7"))
        self.assertEqual((answer.model_name, answer.id), (model, "7"))
        [output] = answer.outputs
        self.assertEqual((output.datatype, output.data.__root__), (datatype, data))

    def test_health(self):
        self.client.check_server_liveness()
        self.client.check_server_readiness()
        self.client.check_model_readiness("f32")
        self.client.check_model_version_readiness("f32", "1")
        with self.assertRaises(NotFoundError):
            self.client.check_model_readiness("no")
        with self.assertRaises(NotFoundError):
            self.client.check_model_version_readiness("f32", "2")
        self.check_answer(self.server.request("POST", "/v2/repository/models/f32/unload"), 200)
        with self.assertRaises(ServiceUnavailableError):
            self.client.check_model_readiness("f32")

    def test_metadata(self):
        self.assertEqual(self.client.read_server_metadata().name, "wasinn")
        for told in (self.client.read_model_metadata("i64"), self.client.read_model_version_metadata("i64", "1")):
            [tensor] = told.inputs
            self.assertEqual((told.name, tensor.name, tensor.datatype, tensor.shape), ("i64", "x", "INT64", [-1]))

    def test_inferences(self):
        for model, datatype, data in (("f32", "FP32", [0.5, -1.5]), ("text", "BYTES", ["grüße"])):
            with self.subTest(datatype):
                self.expect_back(model, datatype, data)
        answer = self.client.model_version_infer("f32", "1", request=request([1.5], outputs=[RequestOutput(name="x")]))
        self.assertEqual((answer.model_version, answer.outputs[0].data.__root__), ("1", [1.5]))

    def test_numbers_that_are_whole(self):
        self.expect_back("i64", "INT64", [-7, 2**40])
        self.expect_back("bool", "BOOL", [True, False])

    def test_an_asynchronous_one(self):
        async def ask():
            async with httpx.AsyncClient() as connections:
                client = AsyncOpenInferenceClient(base_url=self.url, httpx_client=connections)
                return await asyncio.gather(*(client.model_infer("f32", request=request([i + 0.5])) for i in range(8)))

        self.assertEqual([one.outputs[0].data.__root__ for one in asyncio.run(ask())], [[i + 0.5] for i in range(8)])

    def test_errors(self):
        with self.assertRaises(BadRequestError) as raised:
            self.client.model_infer("f32", request=request([1], "FP64"))
        self.assertIn("is of FP32, not FP64", raised.exception.body["error"])


if __name__ == "__main__":
    unittest.main()
