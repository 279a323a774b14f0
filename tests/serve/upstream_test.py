"""A server whose language models other servers have: a gateway."""

import json
import os
import re
import unittest

from command import refused_port
from configured import tenant
from language import COUNT, COUNTED, HELLO, MODELS, LanguageTest
from language_test import events

PROMPT = "GNU General Public"


class UpstreamTest(LanguageTest):
    def gateway(self, **paths):
        """Whose models are at these addresses."""
        text = "".join(f"[models.{name}]\npath = '{path}'\n" for name, path in paths.items())
        return self.serve("--config", self.file("gateway.toml", text))

    def names(self, server):
        return [one["id"] for one in server.request("GET", "/v1/models").json()["data"]]


class Served(UpstreamTest):
    def setUp(self):
        super().setUp()
        self.behind = self.serve("--model", f"tiny={MODELS}/tiny.gguf")
        self.server = self.gateway(lm=f"http://127.0.0.1:{self.behind.port}/v1/tiny", tensors=f"http://127.0.0.1:{self.behind.port}/v2/models/tiny")

    def complete(self, **fields):
        answer = self.ask(self.server, "completion", prompt=PROMPT, temperature=0, n_predict=4, **fields)
        self.assertEqual(answer.status, 200, answer)
        return answer

    def test_it_is_listed_before_it_is_loaded_and_after(self):
        self.assertEqual(self.names(self.server), ["lm"])
        answer = self.ask(self.server, "chat/completions", messages=COUNT, temperature=0)  # for the only one
        self.assertEqual(answer.json()["choices"][0]["message"]["content"], COUNTED)
        self.assertEqual(self.names(self.server), ["lm"])
        self.assertEqual(self.server.request("GET", "/v1/models/lm").json()["id"], "lm")

    def test_what_takes_tensors_is_none(self):
        self.expect_error(self.ask(self.server, "completions", model="tensors", prompt=PROMPT), 400, "no language model", "model")
        self.assertEqual(self.names(self.server), ["lm"])

    def test_what_is_not_known_is_not_told(self):
        here = self.complete(model="lm").json()
        there = self.ask(self.behind, "completion", prompt=PROMPT, temperature=0, n_predict=4).json()
        self.assertEqual(set(there) - set(here), {"generation_settings", "prompt", "tokens_cached"})
        for key in ("content", "tokens_predicted", "tokens_evaluated", "stop_type"):
            self.assertEqual(here[key], there[key], key)

    def test_texts_are_the_other_servers(self):
        for path, fields in (("chat/completions", {"messages": COUNT}), ("completions", {"prompt": PROMPT}), ("responses", {"input": "Say hello."}),
                             ("chat/completions", {"messages": COUNT, "stream": True, "stream_options": {"include_usage": True}})):
            answers = [self.ask(server, path, model=model, temperature=0, max_tokens=8, **fields).body.decode() for server, model in ((self.server, "lm"), (self.behind, "tiny"))]
            here, there = (re.sub(r'"(?:id|item_id)":"[^"]*"|"created(?:_at)?":\d+|"[a-z_]*(?:ms|per_second|cached_tokens|_n)":[\d.]+', "", one) for one in answers)
            self.assertEqual(here, there)

    def test_a_stream_of_llama_cpps_form_has_one_event_with_text(self):
        first, last = events(self.complete(model="lm", stream=True))
        self.assertEqual((first["content"], last["content"]), (self.complete(model="lm").json()["content"], ""))
        self.assertEqual((last["stop"], "generation_settings" in last), (True, False))

    def test_the_example_chat_tells_no_rate_of_a_text_that_comes_whole(self):
        result = self.wasinn("run", "--model", f"lm=http://127.0.0.1:{self.behind.port}/v1/tiny", os.environ["WASINN_CHAT"], "--n-predict", "4", "GNU")
        self.assertRegex(result.err, r"3 tokens in, the first out after \S+ ms; 4 out\n$")

    def test_what_is_not_answered(self):
        for path, fields in (("tokenize", {"content": "a"}), ("detokenize", {"tokens": [5]}), ("apply-template", {"messages": HELLO})):
            self.expect_error(self.ask(self.server, path, model="lm", **fields), 400, "do not support it")


class Missing(UpstreamTest):
    """Models that cannot be loaded."""

    def told(self, server, status, text, param="model"):
        for _ in range(3):
            answer = self.ask(server, "completions", model="lm", prompt=PROMPT)
            self.expect_error(answer, status, text, param)
        return self.log_of(server)

    def check_log(self, log, reason):
        self.assertRegex(log, rf"^wasinn: warning: model 'lm:1' cannot be loaded: [^\n]*{reason}[^\n]*\n$")

    def test_a_server_that_wants_a_key_is_not_for_the_client_to_mend(self):
        behind = self.serve_tiny(config=tenant("a"))
        server = self.gateway(lm=f"http://127.0.0.1:{behind.port}/v1/tiny")
        self.assertRegex(self.told(server, 502, "does not let this one in", None), "^[^\n]* answers with status 401: is its key right\\?[^\n]*\n$")

    def test_an_address_that_is_none(self):
        self.check_log(self.told(self.gateway(lm="http://127.0.0.1:1/odd"), 503, "its path does not begin with"), "its path does not begin with")

    def test_nobody_is_there(self):
        log = self.told(self.gateway(lm=f"http://127.0.0.1:{refused_port(self)}/v1/tiny"), 503, "cannot be reached", None)
        self.assertRegex(log, r"^wasinn: warning: model 'lm': server [^\n]*Connection refused\n$")

    def test_a_model_that_the_other_server_does_not_have(self):
        behind = self.serve_tiny()
        server = self.gateway(lm=f"http://127.0.0.1:{behind.port}/v1/none")
        self.assertEqual(self.told(server, 404, "there is no model 'none'"), "")

    def test_a_file_that_is_no_model_for_all_that_ask(self):
        server = self.serve("--model", f"lm={self.file('lm.gguf', 'GGUF and no more')}")
        self.assertEqual(server.request("GET", "/v2/models/lm").status, 503)
        self.assertEqual(server.request("POST", "/v2/models/lm/infer", json.dumps({"inputs": []})).status, 503)
        self.check_log(self.told(server, 503, "model 'lm:1'"), "")


if __name__ == "__main__":
    unittest.main()
