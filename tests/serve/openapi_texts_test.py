"""As openapi_test, of language models."""

from examined import Examined
from language import MODELS, TEST_MODELS


class Texts(Examined):
    def start(self):
        self.env["WASINN_CONFIG"] = ""
        encoders = (f"{name}={TEST_MODELS}/encoder/{name}.gguf" for name in ("embedder", "ranker"))
        return self.serve("--strict", "--model", f"tiny={MODELS}/tiny.gguf", *(word for one in encoders for word in ("--model", one)))

    def test_texts_and_embeddings(self):
        paths = {path: of for path, of in self.paths.items() if path.startswith("/v1/") or path.endswith(("/generate", "/generate_stream"))}
        # A text of chance may be one for a model of the other kind, or longer than its context, which is a 400.
        answers = self.examine(paths)
        self.assertEqual(set(answers), {f"{method.upper()} {path}" for path, of in paths.items() for method in of if method != "parameters"})
        for operation, statuses in answers.items():
            with self.subTest(operation):
                self.assertGreater(statuses[200], 0)
                self.assertGreater(statuses[405], 0)
                if operation.startswith("POST"):
                    self.assertGreater(statuses[400], 10)
