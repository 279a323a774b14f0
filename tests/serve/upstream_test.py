"""A server whose language models other servers have: a gateway."""

import json
import os
import re

from command import refused_port
from configured import tenant
from language import COUNT, COUNTED, HELLO, MODELS, LanguageTest
from language_test import events

PROMPT = "GNU General Public"


class UpstreamTest(LanguageTest):
    def gateway(self, **paths):
        """A gateway whose models are at these addresses."""
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

    def test_a_tensor_model_is_not_a_language_model(self):
        self.expect_error(self.ask(self.server, "completions", model="tensors", prompt=PROMPT), 400, "no language model", "model")
        self.assertEqual(self.names(self.server), ["lm"])

    def test_unknown_metadata_is_left_out(self):
        here = self.complete(model="lm").json()
        there = self.ask(self.behind, "completion", prompt=PROMPT, temperature=0, n_predict=4).json()
        self.assertEqual(set(there) - set(here), {"generation_settings", "prompt", "tokens_cached"})
        for key in ("content", "tokens_predicted", "tokens_evaluated", "stop_type"):
            self.assertEqual(here[key], there[key], key)

    def test_texts_come_from_the_other_server(self):
        for path, fields in (("chat/completions", {"messages": COUNT}), ("completions", {"prompt": PROMPT}), ("responses", {"input": "Say hello."}),
                             ("chat/completions", {"messages": COUNT, "stream": True, "stream_options": {"include_usage": True}})):
            answers = [self.ask(server, path, model=model, temperature=0, max_tokens=8, **fields).body.decode() for server, model in ((self.server, "lm"), (self.behind, "tiny"))]
            here, there = (re.sub(r'"(?:id|item_id)":"[^"]*"|"created(?:_at)?":\d+|"[a-z_]*(?:ms|per_second|cached_tokens|_n)":[\d.]+', "", one) for one in answers)
            self.assertEqual(here, there)

    def test_a_stream_of_llama_cpps_form_has_one_event_with_text(self):
        first, last = events(self.complete(model="lm", stream=True))
        self.assertEqual((first["content"], last["content"]), (self.complete(model="lm").json()["content"], ""))
        self.assertEqual((last["stop"], "generation_settings" in last), (True, False))

    def test_the_example_chat_shows_no_rate_for_a_whole_text(self):
        result = self.wasinn("run", "--model", f"lm=http://127.0.0.1:{self.behind.port}/v1/tiny", os.environ["WASINN_CHAT"], "--n-predict", "4", "GNU")
        self.assertRegex(result.err, r"3 tokens in, the first out after \S+ ms; 4 out\n$")

    def test_unsupported_requests_are_refused(self):
        for path, fields in (("tokenize", {"content": "a"}), ("detokenize", {"tokens": [5]}), ("apply-template", {"messages": HELLO})):
            self.expect_error(self.ask(self.server, path, model="lm", **fields), 400, "do not support it")


class Missing(UpstreamTest):
    """Models that cannot be loaded."""

    def log_after(self, server, status, text, param="model"):
        for _ in range(3):
            answer = self.ask(server, "completions", model="lm", prompt=PROMPT)
            self.expect_error(answer, status, text, param)
        return self.log_of(server)

    def check_log(self, log, reason):
        self.assertRegex(log, rf"^wasinn: warning: model 'lm:1' cannot be loaded: [^\n]*{reason}[^\n]*\n$")

    def test_a_server_that_refuses_the_key_is_a_502(self):
        behind = self.serve_tiny(config=tenant("a"))
        server = self.gateway(lm=f"http://127.0.0.1:{behind.port}/v1/tiny")
        self.assertRegex(
            self.log_after(server, 502, "refuses this server's key", None),
            "^[^\n]* answers with status 401: is its key right\\?[^\n]*\n$",
        )

    def test_an_invalid_address_is_refused(self):
        self.check_log(
            self.log_after(self.gateway(lm="http://127.0.0.1:1/odd"), 503, "its path does not begin with"),
            "its path does not begin with",
        )

    def test_an_unreachable_server_is_an_error(self):
        log = self.log_after(
            self.gateway(lm=f"http://127.0.0.1:{refused_port(self)}/v1/tiny"), 503, "cannot be reached", None
        )
        self.assertRegex(log, r"^wasinn: warning: model 'lm': server [^\n]*Connection refused\n$")

    def test_a_model_that_the_other_server_lacks_is_an_error(self):
        behind = self.serve_tiny()
        server = self.gateway(lm=f"http://127.0.0.1:{behind.port}/v1/none")
        self.assertEqual(self.log_after(server, 404, "there is no model 'none'"), "")

    def test_an_invalid_model_file_is_an_error_for_every_request(self):
        server = self.serve("--model", f"lm={self.file('lm.gguf', 'GGUF and no more')}")
        self.assertEqual(server.request("GET", "/v2/models/lm").status, 503)
        self.assertEqual(server.request("POST", "/v2/models/lm/infer", json.dumps({"inputs": []})).status, 503)
        self.check_log(self.log_after(server, 503, "model 'lm:1'"), "")
