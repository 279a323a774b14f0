"""A server with small language models, and what a request to it looks like."""

import json
import os

from server import ServeTest

MODELS = os.environ["WASINN_MODELS"]
TEST_MODELS = os.environ["WASINN_TEST_MODELS"]

HELLO = [{"role": "user", "content": "Say hello."}]
HELLO_BACK = "Grüß Gott! Здравствуйте! 你好！ 👋"
COUNT = [{"role": "user", "content": "Count to five."}]
COUNTED = "one two three four five"
ENDLESS = {"model": "tiny", "prompt": "GNU", "grammar": "root ::= [a-z ]+", "temperature": 0}
LONG = {**ENDLESS, "max_tokens": 400}


def events(answer):
    """The data of a stream's events."""
    *found, rest = answer.body.decode().split("\n\n")
    assert rest == "", rest
    return [json.loads(one.removeprefix("data: ")) if one != "data: [DONE]" else None for one in found]


class LanguageTest(ServeTest):
    def setUp(self):
        super().setUp()
        self.env["WASINN_CONFIG"] = ""

    def serve_tiny(self, *flags, config="", endless=False):
        """`tiny`, which generates, `caller`, which calls tools, `embedder` and `ranker`. `config`: more of the configuration file. `endless`: a text
        that is asked for with ENDLESS goes on until its client leaves."""
        text = f"""
[models.tiny]
path = "{MODELS}/tiny.gguf"
[models.tiny.config]
parallel = 4
threads = 1
context-shift = {str(endless).lower()}
[models.caller]
path = "{TEST_MODELS}/caller/caller.gguf"
[models.embedder]
path = "{TEST_MODELS}/encoder/embedder.gguf"
[models.ranker]
path = "{TEST_MODELS}/encoder/ranker.gguf"
{config}"""
        return self.serve("--config", self.file("language.toml", text), *flags)

    def ask(self, server, path, headers=None, **fields):
        return server.request("POST", f"/v1/{path}", json.dumps(fields), {"Content-Type": "application/json", **(headers or {})})

    def expect_error(self, answer, status, text, param=None, code=None):
        self.assertEqual(answer.status, status, answer)
        error = answer.json()["error"]
        self.assertEqual(set(error), {"message", "type", "param", "code"})
        self.assertIn(text, error["message"])
        self.assertEqual(error["param"], param, error)
        if code is not None:
            self.assertEqual(error["code"], code)
        return error
