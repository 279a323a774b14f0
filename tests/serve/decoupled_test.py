"""Streams of gRPC whose model answers a request by many responses, as Triton's decoupled models do."""

import queue

import grpc
import inference_pb2
import inference_pb2_grpc

from command import WAIT
from language import LanguageTest
from server import element, until

PROMPT = "GNU"


def ask(id, options='{"n-predict": 6, "temp": 0}', prompt=PROMPT, final=False, outputs=(), model="tiny"):
    request = inference_pb2.ModelInferRequest(model_name=model, id=id)
    for name, text in (("prompt", prompt), ("options", options)):
        request.inputs.add(name=name, datatype="BYTES", shape=[1])
        request.raw_input_contents.append(element(text.encode()))
    for name in outputs:
        request.outputs.add(name=name)
    if final:
        request.parameters["triton_enable_empty_final_response"].bool_param = True
    return request


def text_of(response):
    return b"".join(raw[4:] for raw in response.raw_output_contents).decode()


def is_final(response):
    return response.parameters["triton_final_response"].bool_param


class Decoupled(LanguageTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve_tiny(endless=True)
        channel = grpc.insecure_channel(f"127.0.0.1:{self.server.grpc_port}")
        self.addCleanup(channel.close)
        self.stub = inference_pb2_grpc.GRPCInferenceServiceStub(channel)

    def responses_to(self, *requests):
        reported = list(self.stub.ModelStreamInfer(iter(requests), timeout=WAIT))
        self.assertEqual([one.error_message for one in reported], len(reported) * [""])
        return [one.infer_response for one in reported]

    def test_a_text_comes_in_pieces(self):
        whole = text_of(self.stub.ModelInfer(ask("0", outputs=["completion"]), timeout=WAIT))
        self.assertTrue(self.stub.ModelConfig(inference_pb2.ModelConfigRequest(name="tiny"), timeout=WAIT).config.model_transaction_policy.decoupled)
        parts = self.responses_to(ask("1"))
        self.assertGreater(len(parts), 1)
        self.assertEqual("".join(map(text_of, parts)), whole)
        self.assertEqual({(one.id, one.model_name, one.model_version, one.outputs[0].name, is_final(one)) for one in parts},
                         {("1", "tiny", "1", "completion", False)})
        labels = 'model="tiny",version="1"'
        self.server.await_metrics(f"wasinn_serve_completion_tokens_total{{{labels}}} 6", f"wasinn_serve_first_token_duration_seconds_count{{{labels}}} 1")

    def test_its_end_is_reported_on_request(self):
        *parts, last = self.responses_to(ask("1", final=True))
        self.assertEqual(([is_final(one) for one in parts], is_final(last), len(last.outputs), last.id), (len(parts) * [False], True, 0, "1"))
        reported = self.responses_to(*(ask(str(i), final=True) for i in range(3)))
        self.assertEqual([one.id for one in reported if is_final(one)], ["0", "1", "2"])
        self.assertEqual(
            [one.id for one in reported], sorted(one.id for one in reported), "one request after the other"
        )

    def test_what_only_a_whole_answer_has(self):
        for request in (ask("1", '{"embedding": true}', model="embedder"), ask("1", '{"embedding": true}', outputs=["embeddings"], model="embedder")):
            [answer] = self.responses_to(request)
            self.assertIn("embeddings", [one.name for one in answer.outputs])
        [answer] = self.responses_to(ask("1", outputs=["completion", "metadata"]))
        self.assertEqual(([one.name for one in answer.outputs], is_final(answer)), (["completion", "metadata"], True))

    def test_an_error_ends_its_request_alone(self):
        reported = list(self.stub.ModelStreamInfer(iter([ask("1", options="{"), ask("2", final=True)]), timeout=WAIT))
        self.assertEqual([bool(one.error_message) for one in reported], [True] + (len(reported) - 1) * [False])
        self.assertTrue(is_final(reported[-1].infer_response))

    def test_a_client_that_leaves_ends_its_text(self):
        endless = '{"n-predict": -1, "temp": 0, "grammar": "root ::= [a-z ]+"}'
        requests = queue.Queue()
        requests.put(ask("1", options=endless))
        stream = self.stub.ModelStreamInfer(iter(requests.get, None))
        self.assertTrue(text_of(next(stream).infer_response))
        running = 'wasinn_serve_requests_running{of="texts",model="tiny",version="1"}'
        self.server.await_metrics(f"{running} 1")
        stream.cancel()
        requests.put(None)
        self.server.await_metrics(f"{running} 0", "wasinn_serve_grpc_calls 0")
        until(lambda: self.server.held() == 0)

    def test_an_end_while_a_text_comes(self):
        endless = '{"n-predict": -1, "temp": 0, "grammar": "root ::= [a-z ]+"}'
        stream = self.stub.ModelStreamInfer(iter([ask("1", options=endless)]))
        next(stream)
        stream.cancel()
        self.assertEqual(self.server.stop()[0], 0)
