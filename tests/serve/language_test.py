"""/v1 by hand: what is a request, and what is none."""

import base64
import gzip
import json
import struct

from language import COUNT, COUNTED, ENDLESS, HELLO, MODELS, LanguageTest, events
from server import read_all, until


class Requests(LanguageTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve_tiny()

    def wrong(self, path, status, text, param=None, **fields):
        return self.expect_error(self.ask(self.server, path, **fields), status, text, param)

    def test_a_stream_as_it_goes_over_the_wire(self):
        answer = self.ask(self.server, "chat/completions", model="tiny", messages=COUNT, temperature=0, stream=True)
        self.assertEqual((answer.status, answer.headers["Content-Type"], answer.headers["Transfer-Encoding"]),
                         (200, "text/event-stream", "chunked"))
        *reported, done = events(answer)
        self.assertIsNone(done)
        self.assertEqual("".join(one["choices"][0]["delta"].get("content") or "" for one in reported), COUNTED)

    def test_a_stream_of_an_old_client(self):
        body = json.dumps({"model": "tiny", "messages": COUNT, "temperature": 0, "stream": True}).encode()
        with self.server.socket() as connection:
            connection.sendall(b"POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            head, text = read_all(connection).split(b"\r\n\r\n", 1)
        self.assertNotIn(b"chunked", head)
        self.assertTrue(text.endswith(b"data: [DONE]\n\n"), text)

    def test_the_only_model_need_not_be_named(self):
        self.wrong("completions", 400, "4 to choose from: caller, embedder, ranker, tiny", "model", prompt="GNU")
        server = self.serve("--model", f"tiny={MODELS}/tiny.gguf")
        self.assertEqual(self.ask(server, "completions", prompt="GNU", max_tokens=1).json()["model"], "tiny")

    def test_models(self):
        self.wrong("completions", 404, "no model 'no'", "model", model="no", prompt="GNU")
        self.wrong("completions", 404, "the language models here are caller, embedder, ranker, tiny", "model", model="tinny", prompt="GNU")
        self.wrong("completions", 404, "no model 'tiny' version 2", "model", model="tiny:2", prompt="GNU")
        self.assertEqual(self.ask(self.server, "completions", model="tiny:1", prompt="GNU", max_tokens=1).status, 200)
        self.wrong("completions", 400, "embedding", model="embedder", prompt="GNU")
        self.expect_error(self.server.request("GET", "/v1/models/no"), 404, "no model 'no'", "model", "model_not_found")

    def test_unsupported_fields_that_change_the_answer_are_refused(self):
        self.wrong("completions", 400, "suffix", "suffix", model="tiny", prompt="GNU", suffix="x")
        self.wrong("completions", 400, "echo", "echo", model="tiny", prompt="GNU", echo=True)
        self.wrong("chat/completions", 400, "functions", "functions", model="tiny", messages=HELLO, functions=[{"name": "f"}])
        for field, value in (("guided_regex", "a+"), ("regex", "a+"), ("structured_outputs", {"regex": "a+"}), ("bad_words", ["a"]), ("allowed_token_ids", [5])):
            answer = self.ask(self.server, "completions", model="tiny", prompt="GNU", **{field: value})
            self.expect_error(answer, 400, f"{field}", answer.json()["error"]["param"], "unsupported_parameter")
        form = {"type": "structural_tag", "structures": []}
        self.wrong("completions", 400, "response_format.type", "response_format.type", model="tiny", prompt="GNU", response_format=form)
        self.wrong("completions", 400, "are set", "grammar", model="tiny", prompt="GNU", grammar='root ::= "a"', guided_choice=["a"])

    def test_fields_without_effect_are_accepted(self):
        answer = self.ask(self.server, "chat/completions", model="tiny", messages=HELLO, max_tokens=1, user="me", metadata={"a": "b"}, store=True,
                          service_tier="auto", n=1, functions=None, echo=None, audio=None, modalities=["text"], seed=None, tools=[])
        self.assertEqual(answer.status, 200, answer)

    def test_fields_of_other_servers(self):
        def text(path="completions", **fields):
            fields = {"prompt": "GNU"} | fields if path == "completions" else {"messages": HELLO} | fields
            answer = self.ask(self.server, path, model="tiny", max_tokens=4, seed=1, **fields)
            self.assertEqual(answer.status, 200, (fields, answer))
            return answer.json()["choices"][0]
        same = text()["text"]
        for fields in ({"top_k": -1, "temperature": 0}, {"repetition_penalty": 1.0}, {"stop_token_ids": []}, {"skip_special_tokens": True}, {"min_tokens": 0},
                       {"keep_alive": "5m"}, {"options": {}}, {"provider": {"order": ["a"]}}, {"transforms": []}, {"priority": 3},
                       {"length_penalty": 1.0}, {"use_beam_search": False}, {"num_ctx": None}, {"timeout": 600}, {"do_sample": True}):
            text(**fields)
        for fields in ({"keep_alive": 5, "cache_salt": "a"}, {"max_new_tokens": 4}):
            self.assertEqual(text(**fields)["text"], same)
        self.assertEqual(text(repetition_penalty=5.0)["text"], text(repeat_penalty=5.0)["text"])
        all_tokens = list(range(512))
        self.assertEqual(text(stop_token_ids=all_tokens[:256], ignore_eos=True, logit_bias={"70": 100})["text"], "")
        for field, value in (("min_tokens", 3), ("skip_special_tokens", False), ("options", {"num_ctx": 9}), ("length_penalty", 2), ("use_beam_search", True),
                             ("tempreature", 1), ("stream_options", {"include_usage": True, "other": 1}), ("samplers", ["top_k"]), ("min_keep", 3),
                             ("best_of", 1), ("logit_bias", None), ("web_search_options", {}), ("messages_of_another", [{"a": [{}]}]), ("min_tokens", 4)):
            self.assertEqual(text(**{field: value})["text"], same, field)
        self.wrong("completions", 400, "repetition_penalty", "repetition_penalty", model="tiny", prompt="GNU", repetition_penalty=1.1, repeat_penalty=1.2)
        log = self.log_of(self.server)
        for field in ("keep_alive", "min_tokens", "provider", "tempreature", "stream_options.other", "num_ctx"):
            self.assertEqual(log.count(f"/v1: the field {field} of requests"), 1, log)

    def test_formats_are_accepted_in_several_servers_fields(self):
        """The required form of a text is kept, by any server's field."""
        schema = {"type": "boolean"}
        for fields in ({"guided_json": schema}, {"guided_json": json.dumps(schema)}, {"structured_outputs": {"json": schema}}, {"format": schema},
                       {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": schema, "strict": None}, "other": 1}},
                       {"response_format": {"type": "json_schema", "schema": schema}}, {"guided_choice": ["true", "false"]},
                       {"structured_outputs": {"choice": ["true", "false"], "regex": None}}, {"guided_grammar": 'root ::= "true" | "false"'},
                       {"ebnf": 'root ::= "true" | "false"'}, {"structured_outputs": {"grammar": 'root ::= "true" | "false"'}}):
            answer = self.ask(self.server, "completions", model="tiny", prompt="GNU", seed=1, max_tokens=8, **fields)
            self.assertEqual(answer.status, 200, (fields, answer))
            self.assertIn(answer.json()["choices"][0]["text"], ("true", "false"), fields)
        odd = ['say "a"\\', "é\n"]
        answer = self.ask(self.server, "completions", model="tiny", prompt="GNU", seed=1, max_tokens=30, guided_choice=odd)
        self.assertIn(answer.json()["choices"][0]["text"], odd)
        for fields in ({"format": "json"}, {"structured_outputs": {"json_object": True}}, {"response_format": {"type": "json_object"}}):
            answer = self.ask(self.server, "completions", model="tiny", prompt="GNU", seed=1, max_tokens=40, **fields)
            self.assertTrue(answer.json()["choices"][0]["text"].lstrip().startswith("{"), answer)
        for name, wrong in (("guided_json", "{"), ("guided_choice", [5]), ("guided_choice", "a"), ("format", "xml"), ("guided_grammar", "root ::= (")):
            self.assertEqual(self.ask(self.server, "completions", model="tiny", prompt="GNU", **{name: wrong}).status, 400, (name, wrong))

    def test_reasoning_is_set_by_several_servers_fields(self):
        for fields in ({"reasoning_effort": "low"}, {"reasoning": {"effort": "high", "exclude": True}}, {"think": "low"}, {"think": False},
                       {"reasoning": {"enabled": False}}, {"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": True}}):
            answer = self.ask(self.server, "chat/completions", model="tiny", messages=HELLO, max_tokens=1, **fields)
            self.assertEqual(answer.status, 200, (fields, answer))
        self.wrong("chat/completions", 400, "think", "think", model="tiny", messages=HELLO, think=5)

    def test_strict(self):
        config = self.file("strict.toml", f'[serve]\nstrict = true\n[models.tiny]\npath = "{MODELS}/tiny.gguf"\n')
        for flags in (("--strict", "--model", f"tiny={MODELS}/tiny.gguf"), ("--config", config)):
            self.server = self.serve(*flags)
            self.wrong("completions", 400, "there is no field tempreature; did you mean 'temperature'?", "tempreature", model="tiny", prompt="a", tempreature=1)
            self.wrong("completions", 400, "stream_options.other", "stream_options.other", model="tiny", prompt="a", stream=True, stream_options={"other": 1})
            answer = self.ask(self.server, "completions", model="tiny", prompt="a", max_tokens=1, user="me", metadata={}, keep_alive=None)
            self.assertEqual(answer.status, 200, answer)

    def test_unknown_fields_do_not_fill_the_log(self):
        for i in range(3):
            fields = {f"field {j}" + "x" * 100: 1 for j in range(i * 200 + 1, (i + 1) * 200)}
            self.assertEqual(self.ask(self.server, "completions", model="tiny", prompt="GNU", max_tokens=1, **fields, **{"a\0b": 1}).status, 200)
        log = self.log_of(self.server)
        self.assertEqual(log.count("is ignored"), 256)
        self.assertIn("further ignored fields of requests are not logged", log)
        self.assertEqual(log.count("the field a?b of requests"), 1)
        self.assertLess(max(map(len, log.splitlines())), 200)

    def test_a_null_field_counts_as_missing(self):
        tool = {"type": "function", "function": {"name": "f", "description": None, "strict": None, "parameters": None}, "cache_control": None}
        message = {"role": "user", "content": [{"type": "text", "text": "hello", "image_url": None}], "name": None, "tool_calls": None}
        asked = {"model": "caller", "max_tokens": 4, "seed": 1}
        with_null = self.ask(self.server, "chat/completions", messages=[message], tools=[tool], tool_choice=None, **asked)
        self.assertEqual(with_null.status, 200, with_null)
        without = self.ask(self.server, "chat/completions", messages=[{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
                           tools=[{"type": "function", "function": {"name": "f"}}], **asked)
        self.assertEqual(with_null.json()["usage"], without.json()["usage"])
        self.assertEqual(with_null.json()["choices"][0]["message"]["content"], without.json()["choices"][0]["message"]["content"])
        # In a schema it is a value.
        answer = self.ask(self.server, "completions", model="tiny", prompt="a", json_schema={"enum": [None], "default": None})
        self.assertEqual(answer.json()["choices"][0]["text"], "null")

    def test_an_unsupported_schema_is_refused(self):
        bad = {"type": "integer", "multipleOf": 5}
        inner = {"type": "object", "properties": {"a": bad}}
        forms = (("completions", {"prompt": "a", "json_schema": bad}), ("completion", {"prompt": "a", "json_schema": inner}),
                 ("chat/completions", {"messages": HELLO, "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": inner}}}),
                 ("chat/completions", {"messages": HELLO, "response_format": {"type": "json_object", "schema": bad}}),
                 ("responses", {"input": "a", "text": {"format": {"type": "json_schema", "name": "a", "schema": inner}}}),
                 ("chat/completions", {"model": "caller", "messages": HELLO, "tools": [{"type": "function", "function": {"name": "f", "parameters": inner}}]}))
        for path, fields in forms:
            answer = self.ask(self.server, path, **({"model": "tiny"} | fields))
            self.assertEqual(answer.status, 400, (path, fields, answer))
            self.assertIn('"multipleOf" cannot be enforced', answer.json()["error"]["message"])

    def test_a_required_call_that_cannot_be_held_is_refused(self):
        function = {"name": "f", "parameters": {"type": "object", "properties": {}}}
        named, schema = {"type": "function", "function": {"name": "f"}}, {"type": "json_schema", "name": "a", "schema": {"enum": ["b"]}}
        forms = (("chat/completions", {"messages": HELLO, "tools": [{"type": "function", "function": function}]}, ("required", named),
                  {"response_format": {"type": "json_schema", "json_schema": schema}}),
                 ("responses", {"input": "a", "tools": [{"type": "function", **function}]}, ("required", {"type": "function", "name": "f"}),
                  {"text": {"format": schema}}))
        for path, asked, choices, by_schema in forms:
            for choice in choices:
                # The template of `tiny` has no tools, that of `caller` has.
                for one in ({"model": "tiny"}, {"model": "tiny", "stream": True}, {"model": "caller", **by_schema}):
                    answer = self.ask(self.server, path, **asked, **one, tool_choice=choice)
                    self.assertEqual(answer.status, 400, (path, choice, answer))
                    self.assertIn("no call can be required", answer.json()["error"]["message"])
                answer = self.ask(self.server, path, model="caller", **asked, tool_choice=choice, parallel_tool_calls=False)
                self.assertEqual(answer.status, 200, answer)
            self.assertEqual(self.ask(self.server, path, model="tiny", **asked).status, 200)
            self.assertEqual(self.ask(self.server, path, model="caller", **asked, **by_schema).status, 200)

    def test_answers_follow_the_schema(self):
        for schema, pattern in (({"type": "string", "pattern": "b"}, '"[^"]*b[^"]*"'), ({"type": "string", "pattern": r'^\d{2}[^x-z"]$'}, r'"[0-9]{2}[^x-z"]"'),
                                ({"type": "string", "format": "ipv4"}, r'"(\d{1,3}\.){3}\d{1,3}"'), ({"type": "integer", "exclusiveMinimum": 3, "maximum": 9}, "[4-9]"),
                                ({"type": "array", "items": {"type": "null"}, "minItems": 2, "maxItems": 2}, r"\[\s*null\s*,\s*null\s*\]")):
            answer = self.ask(self.server, "completions", model="tiny", prompt="a", json_schema=schema, seed=3, max_tokens=200)
            self.assertEqual(answer.status, 200, (schema, answer))
            choice = answer.json()["choices"][0]
            if choice["finish_reason"] == "stop":
                self.assertRegex(choice["text"], f"^{pattern}$")

    def test_a_grammar_beyond_the_limits_is_refused(self):
        slow = {"type": "string", "pattern": "^" + "(a|b)*" * 5000 + "$"}
        forms = (("completions", {"prompt": "a", "json_schema": slow}), ("completion", {"prompt": "a", "grammar": 'root ::= "a" root "b" | "a" root "c" | "a" root "d"'}),
                 ("chat/completions", {"messages": HELLO, "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": slow}}}),
                 ("responses", {"input": "a", "text": {"format": {"type": "json_schema", "name": "a", "schema": slow}}}))
        for path, fields in forms:
            answer = self.ask(self.server, path, model="tiny", **fields)
            self.assertEqual(answer.status, 413, (path, answer))
            self.assertIn("it takes more than", answer.json()["error"]["message"])
        self.assertEqual(self.ask(self.server, "completions", model="tiny", prompt="GNU", max_tokens=1).status, 200)

    def test_values_of_wrong_types_are_refused(self):
        for field, value in (("temperature", "hot"), ("temperature", -1), ("top_p", 1.5), ("max_tokens", 1.5), ("max_tokens", 1e300), ("stream", 1),
                             ("stop", 5), ("stop", [5]), ("stop", ["x"] * 17), ("seed", "x"), ("presence_penalty", 3), ("model", 5), ("prompt", None),
                             ("prompt", ["a", 1.5]), ("prompt", [1.5]), ("prompt", {}), ("prompt", {"prompt_string": {}}), ("prompt", []), ("prompt", [[]]), ("n", 0), ("n", 129), ("stream_options", 5), ("response_format", "json"),
                             ("best_of", 2), ("top_k", -2), ("stop_token_ids", "x")):
            answer = self.ask(self.server, "completions", **{"model": "tiny", "prompt": "GNU", field: value})
            self.expect_error(answer, 400, field, answer.json()["error"]["param"])
        self.wrong("chat/completions", 400, "messages must be a list with at least one message", "messages", model="tiny", messages=[])
        self.wrong("chat/completions", 400, "messages", "messages", model="tiny", messages="hello")
        self.wrong("chat/completions", 400, "max_tokens", "max_tokens", model="tiny", messages=HELLO, max_tokens=1, max_completion_tokens=2)
        self.wrong("chat/completions", 400, "tool_choice", "tool_choice", model="tiny", messages=HELLO, tool_choice="required")

    def test_invalid_bodies_are_refused(self):
        for body in (b"", b"{", b"[]", b"5", b'{"model": "tiny", "model": "tiny"}', b'{"messages": ' + b"[" * 5000 + b"]" * 5000 + b"}",
                     b'{"max_tokens": ' + b"9" * 5000 + b"}", b'{"prompt": "\xff"}', b"{" + b",".join(b'"%d": 1' % i for i in range(1000)) + b"}"):
            for path in ("chat/completions", "completions", "embeddings"):
                answer = self.server.request("POST", f"/v1/{path}", body)
                self.expect_error(answer, 400, "", answer.json()["error"]["param"])

    def test_deep_messages_and_tools(self):
        deep = 0
        for _ in range(900):
            deep = [deep]
        for fields in ({"messages": deep}, {"messages": [{"role": "user", "content": deep}]}, {"messages": HELLO, "tools": deep},
                       {"messages": HELLO, "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"enum": deep}}}},
                       {"messages": HELLO, "logit_bias": deep}, {"messages": HELLO, "chat_template_kwargs": deep}):
            answer = self.ask(self.server, "chat/completions", model="tiny", max_tokens=1, **fields)
            self.assertIn(answer.status, (400, 413), answer)
        self.assertEqual(self.ask(self.server, "completions", model="tiny", prompt="GNU", max_tokens=1).status, 200)

    def test_documents_are_ranked(self):
        documents = ["the cat", {"text": "of a dog"}, "and to in"]
        whole = self.ask(self.server, "rerank", model="ranker", query="a cat", documents=documents, return_documents=True).json()
        scores = [result["relevance_score"] for result in whole["results"]]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertEqual(sorted(result["index"] for result in whole["results"]), [0, 1, 2])
        self.assertEqual({result["index"]: result["document"]["text"] for result in whole["results"]}, {0: "the cat", 1: "of a dog", 2: "and to in"})
        self.assertGreater(whole["usage"]["prompt_tokens"], 10)
        best = self.ask(self.server, "rerank", model="ranker", query="a cat", documents=documents, top_n=1).json()["results"]
        self.assertEqual([(one["index"], "document" in one) for one in best], [(whole["results"][0]["index"], False)])

    def test_invalid_documents_are_refused(self):
        for field, value in (("documents", []), ("documents", "a"), ("documents", [5]), ("documents", [{"text": 5}]), ("query", None), ("query", 5),
                             ("top_n", 0)):
            answer = self.ask(self.server, "rerank", **{"model": "ranker", "query": "a", "documents": ["b"], field: value})
            self.expect_error(answer, 400, field, answer.json()["error"]["param"])
        self.assertEqual(self.ask(self.server, "rerank", model="tiny", query="a", documents=["b"]).status, 400)

    def test_documents_in_the_form_of_text_embeddings_inference(self):
        texts = ["the cat", "of a dog", "and to in"]
        ours = self.ask(self.server, "rerank", model="ranker", query="a cat", documents=texts).json()["results"]
        theirs = self.ask(self.server, "rerank", model="ranker", query="a cat", texts=texts, return_text=True).json()
        self.assertEqual(theirs, [{"index": one["index"], "score": one["relevance_score"], "text": texts[one["index"]]} for one in ours])
        self.wrong("rerank", 400, "texts", "texts", model="ranker", query="a", texts=[])

    def test_prompts_of_tokens(self):
        def complete(prompt):
            return self.ask(self.server, "completions", model="tiny", prompt=prompt, temperature=0, max_tokens=3)

        def tokens(prompt):
            return self.ask(self.server, "tokenize", model="tiny", content=prompt, add_special=True).json()["tokens"]

        text = complete("GNU General").json()
        by_tokens = complete(tokens("GNU General")).json()
        self.assertEqual((by_tokens["choices"], by_tokens["usage"]["prompt_tokens"]), (text["choices"], text["usage"]["prompt_tokens"]))
        many = complete([tokens("GNU General"), tokens("GNU")]).json()["choices"]
        self.assertEqual([many[0], many[1]["text"]], [text["choices"][0], complete("GNU").json()["choices"][0]["text"]])
        for wrong in ([10**6], [-1], [2**63]):
            self.expect_error(complete(wrong), 400, "token")
        error = complete([1] * 100_000).json()["error"]
        self.assertEqual((error["code"], error["n_prompt_tokens"]), ("context_length_exceeded", 100_000))
        self.assertGreater(error["n_ctx"], 0)
        long = [{"role": "user", "content": 100_000 * "x"}]  # so long that it is not cut into tokens
        error = self.ask(self.server, "chat/completions", model="tiny", messages=long).json()["error"]
        self.assertEqual((error["type"], error["code"]), ("exceed_context_size_error", "context_length_exceeded"))
        self.assertGreater(error["n_prompt_tokens"], error["n_ctx"])
        one = self.ask(self.server, "embeddings", model="embedder", input=[5, 6, 7]).json()
        self.assertEqual((len(one["data"]), one["usage"]["prompt_tokens"]), (1, 3))
        self.assertEqual(len(self.ask(self.server, "embeddings", model="embedder", input=[[5, 6], [7]]).json()["data"]), 2)
        self.assertEqual(self.ask(self.server, "embeddings", model="embedder", input=[[10**6]]).status, 400)

    def test_vectors_are_cut_to_the_requested_dimensions(self):
        def ask(**more):
            return self.ask(self.server, "embeddings", model="embedder", input=["the cat", "GNU"], **more)

        whole = [one["embedding"] for one in ask().json()["data"]]
        width = len(whole[0])
        self.assertEqual([one["embedding"] for one in ask(dimensions=width).json()["data"]], whole)
        for dimensions in (1, 2, width - 1):
            for vector, one in zip(whole, ask(dimensions=dimensions).json()["data"], strict=True):
                scale = sum(x * x for x in vector[:dimensions]) ** 0.5
                self.assertEqual(len(one["embedding"]), dimensions)
                for x, y in zip(vector, one["embedding"]):
                    self.assertAlmostEqual(x / scale, y, places=5)
        numbers = ask(dimensions=4).json()["data"][0]["embedding"]
        encoded = ask(dimensions=4, encoding_format="base64").json()["data"][0]["embedding"]
        self.assertEqual(list(struct.unpack("<4f", base64.b64decode(encoded))), [struct.unpack("<f", struct.pack("<f", x))[0] for x in numbers])
        self.expect_error(ask(dimensions=width + 1), 400, f"dimensions is {width + 1}, but the model's vectors have {width}", "dimensions")
        for wrong in (0, -1, 2**31, 1.5, "4", True):
            self.assertEqual(ask(dimensions=wrong).status, 400, wrong)

    def test_templates_and_tokens_of_a_prompt(self):
        tokens = self.ask(self.server, "tokenize", model="tiny", content="GNU General").json()["tokens"]
        self.assertEqual(self.ask(self.server, "detokenize", model="tiny", tokens=tokens).json()["content"].strip(), "GNU General")
        prompt = self.ask(self.server, "apply-template", model="tiny", messages=HELLO).json()["prompt"]
        self.assertIn("Say hello.", prompt)
        count = self.ask(self.server, "chat/completions/input_tokens", model="tiny", messages=HELLO).json()["input_tokens"]
        self.assertEqual(len(self.ask(self.server, "tokenize", model="tiny", content=prompt, add_special=True).json()["tokens"]), count)
        self.assertEqual(self.server.request("GET", "/v1/tokenize").headers["Allow"], "POST")
        self.wrong("tokenize", 400, "content", "content", model="tiny", content=5)
        self.wrong("detokenize", 400, "tokens", "tokens", model="tiny", tokens="x")
        self.wrong("detokenize", 400, "not a token of this model, whose tokens are from 0 to 511", "tokens", model="tiny", tokens=[5, 10**6])
        self.wrong("apply-template", 400, "messages", "messages", model="tiny", messages=[])

    def test_an_empty_text_has_no_tokens(self):
        self.assertEqual(self.ask(self.server, "tokenize", model="tiny", content="").json(), {"tokens": []})
        self.assertEqual(self.ask(self.server, "detokenize", model="tiny", tokens=[]).json(), {"content": ""})
        self.assertEqual(self.ask(self.server, "detokenize", model="no", tokens=[]).status, 404)
        self.wrong("tokenize", 400, "empty", "content", model="tiny", content="", add_special=True)

    def test_a_last_message_is_continued(self):
        begun = [*COUNT, {"role": "assistant", "content": "one two"}]

        def prompt(**fields):
            return self.ask(self.server, "apply-template", model="tiny", messages=begun, **fields).json()["prompt"]

        self.assertTrue(prompt().endswith("one two"), prompt())
        self.assertEqual(prompt(continue_final_message=True, add_generation_prompt=False), prompt())
        self.assertEqual(prompt(continue_final_message="content", add_generation_prompt=False), prompt())
        answer = self.ask(self.server, "chat/completions", model="tiny", messages=begun, temperature=0).json()
        self.assertEqual(answer["choices"][0]["message"]["content"], COUNTED)
        for fields, text in (({"continue_final_message": True}, "add_generation_prompt"), ({"messages": [*begun, begun[-1]]}, "the last two")):
            self.wrong("chat/completions", 400, text, **{"model": "tiny", "messages": begun, **fields})
        for value in (1, "all", [True], {}):
            self.wrong("chat/completions", 400, "continue_final_message", "continue_final_message", model="tiny", messages=begun,
                       continue_final_message=value)

    def test_too_many_texts_are_refused(self):
        self.wrong("completions", 400, "128", "prompt", model="tiny", prompt=["a"] * 129)
        self.wrong("completions", 400, "128", "n", model="tiny", prompt=["a"] * 65, n=2)

    def test_a_shared_beginning_is_not_evaluated_again(self):
        def cached(prompt, **more):
            return self.ask(self.server, "completions", model="tiny", prompt=prompt, max_tokens=1, **more).json()["usage"]["prompt_tokens_details"]["cached_tokens"]

        long = "GNU General Public License " * 4
        self.assertEqual(cached(long), 0)
        self.assertGreater(cached(long + "is"), 20)
        self.assertEqual(cached(long + "is", cache_prompt=False), 0)
        self.assertLess(cached("Count to five."), 3)
        self.assertGreater(cached(long), 20, "of two that rest the one that fits")
        self.assertEqual(self.ask(self.server, "completions", model="tiny", prompt="word " * 5000).status, 400)
        error = self.wrong("tokenize", 400, "content has 1048577 bytes: no more than 1048576", "content", model="tiny", content="x" * (1 << 20) + "x")
        self.assertEqual((error["code"], error["type"]), (None, "invalid_request_error"))
        error = self.wrong("chat/completions/input_tokens", 400, "bytes", "messages", model="tiny", messages=[{"role": "user", "content": "x" * (2 << 20)}])
        self.assertIsNone(error["code"], "of no context")
        self.assertEqual(self.ask(self.server, "tokenize", model="tiny", content=long).status, 200)
        self.assertGreater(cached(long), 20, "no prompt that is too long, and no question of a prompt, takes what rests")

    def test_methods_and_paths(self):
        self.assertEqual(self.server.request("GET", "/v1/chat/completions").headers["Allow"], "POST")
        self.assertEqual(self.server.request("POST", "/v1/models", b"{}").headers["Allow"], "GET")
        for path in ("/v1", "/v1/", "/v1/no", "/v1/chat"):
            self.expect_error(self.server.request("GET", path), 404, "nothing of this name")
        compressed = gzip.compress(json.dumps({"model": "tiny", "prompt": "GNU", "max_tokens": 1}).encode())
        self.assertEqual(self.server.request("POST", "/v1/completions", compressed, {"Content-Encoding": "gzip"}).status, 200)
        answer = self.server.request("POST", "/v1/completions", compressed, {"Content-Encoding": "br"})
        self.expect_error(answer, 415, "gzip or deflate")
        self.assertEqual(answer.headers["Accept-Encoding"], "gzip, deflate")

    def test_generate(self):
        """Triton's extension."""
        def ask(what="generate", model="tiny", **fields):
            return self.server.request("POST", f"/v2/models/{model}/{what}", json.dumps(fields))

        text = self.ask(self.server, "completions", model="tiny", prompt="GNU", max_tokens=6, temperature=0).json()["choices"][0]["text"]
        whole = {"model_name": "tiny", "model_version": "1", "id": "a", "text_output": text}
        self.assertEqual(ask(id="a", text_input="GNU", max_tokens=6, parameters={"temperature": 0, "stream": False}).json(), whole)
        self.assertEqual(ask(model="tiny/versions/1", id="a", text_input="GNU", parameters={"temperature": 0, "max_tokens": 6}).json(), whole)
        answer = ask("generate_stream", id="a", text_input="GNU", stream=True, bad_words="", parameters={"temperature": 0, "max_tokens": 6, "strange": 1})
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/event-stream"))
        reported = events(answer)
        self.assertGreater(len(reported), 1)
        self.assertEqual("".join(one["text_output"] for one in reported), text)
        self.assertEqual([{**one, "text_output": text} for one in reported], len(reported) * [whole])
        for fields, status, text in (({}, 400, "text_input is missing"), ({"text_input": 1}, 400, "is not a string"),
                                     ({"text_input": "a", "parameters": {"temperature": "hot"}}, 400, "temperature"),
                                     ({"text_input": "a", "stop_words": ["b"]}, 400, "stop_words"), ({"text_input": "GNU " * 5000}, 400, "context")):
            for what in ("generate", "generate_stream"):
                self.check_answer(ask(what, **fields), status, text)
        self.assertIs(self.server.request("GET", "/v2/models/tiny/config").json()["model_transaction_policy"]["decoupled"], True)

    def test_an_inference_whose_deadline_cuts_the_text_says_so(self):
        server = self.serve_tiny("--nn-timeout", "500ms", endless=True)
        texts = (("prompt", "GNU"), ("options", json.dumps({"grammar": ENDLESS["grammar"], "temp": 0})))
        inputs = [{"name": name, "datatype": "BYTES", "shape": [1], "data": [text]} for name, text in texts]
        asked = {"inputs": inputs, "outputs": [{"name": "completion"}, {"name": "metadata"}]}

        def cut():  # on a busy machine it may not come to a token before that: a timeout
            answer = server.infer("tiny", asked)
            self.assertIn(answer.status, (200, 504), answer)
            return answer.status == 200 and answer.json()["outputs"]

        completion, metadata = until(cut)
        self.assertNotEqual(completion["data"], [""])
        self.assertEqual(json.loads(metadata["data"][0])["finish_reason"], "length")

    def test_a_body_that_is_too_large_is_refused(self):
        server = self.serve_tiny("--max-json", "1000")
        for headers in ({}, {"Inference-Header-Content-Length": "0"}):
            self.expect_error(self.ask(server, "completions", headers, model="tiny", prompt="x" * 1000), 413, "--max-json")

    def test_options_that_are_too_large_are_refused(self):
        for fields in ({"logit_bias": {str(i): 1e14 for i in range(20000)}}, {"grammar": "x" * 300000}):
            self.expect_error(self.ask(self.server, "completions", model="tiny", prompt="x", **fields), 413, "262144 bytes")

    def test_metrics(self):
        answer = self.ask(self.server, "completions", model="tiny", prompt="GNU General", max_tokens=3).json()["usage"]
        labels = 'model="tiny",version="1"'
        self.server.await_metrics(f"wasinn_serve_completion_tokens_total{{{labels}}} 3",
                                  f"wasinn_serve_prompt_tokens_total{{{labels}}} {answer['prompt_tokens']}",
                                  f"wasinn_serve_first_token_duration_seconds_count{{{labels}}} 1",
                                  f"wasinn_serve_next_token_duration_seconds_count{{{labels}}} 2")

    def test_metrics_by_the_names_of_vllm(self):
        server = self.serve("--model", f"tiny={MODELS}/tiny.gguf", "--metric-aliases")
        self.assertEqual(self.ask(server, "completions", prompt="GNU General", max_tokens=3).status, 200)
        labels = 'model_name="tiny",version="1"'
        server.await_metrics(f"vllm:num_requests_running{{{labels}}} 0", f"vllm:num_requests_waiting{{{labels}}} 0", f"vllm:kv_cache_usage_perc{{{labels}}} 0",
                             f"vllm:generation_tokens_total{{{labels}}} 3", f"vllm:time_to_first_token_seconds_count{{{labels}}} 1",
                             f"vllm:inter_token_latency_seconds_count{{{labels}}} 2")
