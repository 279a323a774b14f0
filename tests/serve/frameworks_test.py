"""Each framework behind the server, which is linked with libraries that frameworks have inside, too: the same numbers as in `wasinn run`."""

import json

import grpc
import inference_pb2
import inference_pb2_grpc

from command import WAIT
from digits import DIGITS, MODELS, PIXELS, PROMPT, SHAPE, TEXTS, expected, output_of, settings
from language import LanguageTest

TENSORFLOW = ("digits.pb", "digits_saved_model")


class Frameworks(LanguageTest):
    def serve_models(self, *files):
        return self.serve("--config", self.file("models.toml", settings(*files)))

    def expect_scores(self, given, file, of):
        # With both of TensorFlow's models in one process, each has one or the other's last bits, without wasinn too.
        either = TENSORFLOW if file in TENSORFLOW and of > 1 else (file,)
        self.assertIn(given, [expected(one) for one in either])

    def expect_digits(self, server, file, of):
        head = {"inputs": [{"name": "image", "datatype": "FP32", "shape": SHAPE, "parameters": {"binary_data_size": len(PIXELS)}}],
                "outputs": [{"name": output_of(file), "parameters": {"binary_data": True}}]}
        answer = server.infer(file, head, PIXELS)
        self.assertEqual(answer.status, 200, answer)
        length = int(answer.headers["Inference-Header-Content-Length"])
        [output] = json.loads(answer.body[:length])["outputs"]
        self.assertEqual((output["datatype"], output["shape"]), ("FP32", [1, 10]))
        self.expect_scores(answer.body[length:], file, of)
        request = inference_pb2.ModelInferRequest(model_name=file, raw_input_contents=[PIXELS])
        request.inputs.add(name="image", datatype="FP32", shape=SHAPE)
        with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
            answer = inference_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer(request, timeout=WAIT)
        self.assertEqual([(one.datatype, list(one.shape)) for one in answer.outputs], [("FP32", [1, 10])])
        [given] = answer.raw_output_contents
        self.expect_scores(given, file, of)

    def expect_text(self, server, file, _):
        answer = self.ask(server, "completions", model=file, prompt=PROMPT.decode(), max_tokens=8, temperature=0)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.json()["choices"][0]["text"], expected(file).decode())

    def expect_all(self, *files):
        server = self.serve_models(*files)
        for file in files:
            with self.subTest(file, of=len(files)):
                (self.expect_text if file in TEXTS else self.expect_digits)(server, file, len(files))

    def test_a_server_with_one_of_them(self):
        for file in DIGITS + TEXTS:
            self.expect_all(file)

    def test_a_server_with_all_of_them(self):
        self.expect_all(*DIGITS, *TEXTS)
        self.expect_all(*TEXTS, *DIGITS[::-1])

    def test_a_saved_model_is_refused_at_the_start_if_it_shall_have_a_worker(self):
        for more in (("--model", f"m={MODELS}/digits_saved_model,isolate=true"),
                     ("--config", self.file("isolate.toml", f"isolate_models = true\n[models.m]\npath = '{MODELS}/digits_saved_model'\n"))):
            started = self.wasinn("serve", "--http-port", "0", *more)
            self.check_error(started, "model 'm': a SavedModel is a folder, and a worker gets the model's first file only")
