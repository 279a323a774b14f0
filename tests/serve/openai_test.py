"""OpenAI's own client, on our language models."""

import base64
import json
import struct

import openai

from language import COUNT, COUNTED, HELLO, HELLO_BACK, LanguageTest

TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a place",
        "parameters": {"type": "object", "properties": {"place": {"type": "string", "enum": ["Rome", "Oslo"]}}, "required": ["place"]},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "boolean"}, "colour": {"enum": ["red", "green"]}},
    "required": ["answer", "colour"],
    "additionalProperties": False,
}


class OpenAiTest(LanguageTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve_tiny()
        self.client = openai.OpenAI(base_url=f"http://127.0.0.1:{self.server.port}/v1", api_key="none is needed", max_retries=0)
        self.addCleanup(self.client.close)

    def chat(self, **fields):
        return self.client.chat.completions.create(**{"model": "tiny", "messages": HELLO, "temperature": 0, **fields})

    def complete(self, **fields):
        return self.client.completions.create(**{"model": "tiny", "prompt": "GNU General Public", "temperature": 0, "max_tokens": 4, **fields})


class Chat(OpenAiTest):
    def test_an_answer(self):
        answer = self.chat()
        choice = answer.choices[0]
        self.assertEqual((choice.message.role, choice.message.content, choice.finish_reason), ("assistant", HELLO_BACK, "stop"))
        self.assertEqual((answer.model, answer.object), ("tiny", "chat.completion"))
        usage = answer.usage
        self.assertGreater(usage.prompt_tokens, 5)
        self.assertGreater(usage.completion_tokens, 5)
        self.assertEqual(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
        self.assertRegex(answer.system_fingerprint, "^b[0-9]+-")
        self.assertEqual((answer.timings["prompt_n"] + answer.timings["cache_n"], answer.timings["predicted_n"]),
                         (usage.prompt_tokens, usage.completion_tokens))
        self.assertGreater(answer.timings["predicted_per_second"], 0)

    def test_a_stream(self):
        *chunks, last = self.chat(stream=True, stream_options={"include_usage": True})
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        self.assertEqual("".join(chunk.choices[0].delta.content or "" for chunk in chunks), HELLO_BACK)
        self.assertGreater(len(chunks), 5)
        self.assertEqual([chunk.choices[0].finish_reason for chunk in chunks], [None] * (len(chunks) - 1) + ["stop"])
        self.assertEqual(len({chunk.id for chunk in chunks}), 1)
        self.assertTrue(all(chunk.usage is None for chunk in chunks))
        self.assertEqual((last.choices, last.usage), ([], self.chat().usage.model_copy(update={"prompt_tokens_details": last.usage.prompt_tokens_details})))
        self.assertEqual(last.timings["predicted_n"], last.usage.completion_tokens)

    def test_stop_texts_end_the_answer(self):
        for name in ("max_tokens", "max_completion_tokens"):
            choice = self.chat(messages=COUNT, **{name: 2}).choices[0]
            self.assertEqual(choice.finish_reason, "length")
            self.assertTrue(choice.message.content and COUNTED.startswith(choice.message.content), choice)
        choice = self.chat(messages=COUNT, stop=[" four", "no such"]).choices[0]
        self.assertEqual((choice.message.content, choice.finish_reason), ("one two three", "stop"))

    def test_several_texts_for_a_prompt(self):
        sampling = {"temperature": 2, "top_p": 1, "max_tokens": 30, "extra_body": {"top_k": 0, "min_p": 0}}
        answer = self.chat(n=3, seed=7, **sampling)
        texts = [choice.message.content for choice in answer.choices]
        self.assertEqual([choice.index for choice in answer.choices], [0, 1, 2])
        self.assertEqual(texts, [self.chat(seed=seed, **sampling).choices[0].message.content for seed in (7, 8, 9)])
        self.assertGreater(len(set(texts)), 1)
        self.assertEqual(answer.usage.prompt_tokens, self.chat().usage.prompt_tokens)
        *chunks, last = self.chat(n=3, seed=7, stream=True, stream_options={"include_usage": True}, **sampling)
        self.assertEqual(["".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices[0].index == i) for i in range(3)], texts)
        self.assertEqual([chunk.choices[0].finish_reason for chunk in chunks].count(None), len(chunks) - 3)
        self.assertEqual(last.usage.completion_tokens, answer.usage.completion_tokens)

    def test_tokens_are_counted(self):
        reported = self.client.responses.input_tokens.count(model="tiny", input="Say hello.")
        self.assertEqual(reported.input_tokens, self.chat().usage.prompt_tokens)

    def test_json_follows_a_schema(self):
        form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
        choice = self.chat(response_format=form, temperature=0.3, seed=3).choices[0]
        answer = json.loads(choice.message.content)
        self.assertIsInstance(answer["answer"], bool)
        self.assertIn(answer["colour"], ("red", "green"))
        choice = self.chat(response_format={"type": "json_object"}, max_tokens=100, temperature=0.3, seed=3).choices[0]
        self.assertTrue(choice.message.content.lstrip().startswith("{"), choice)

    def test_log_probabilities(self):
        # A prompt that is taken up is evaluated in other parts: on some processors that changes the last digits.
        asked = {"messages": COUNT, "logprobs": True, "top_logprobs": 3, "extra_body": {"cache_prompt": False}}
        tokens = self.chat(**asked).choices[0].logprobs.content
        for token in tokens:
            self.assertLessEqual(token.logprob, 0)
            self.assertEqual((len(token.top_logprobs), token.top_logprobs[0].token), (3, token.token))  # at temperature 0
        self.assertEqual("".join(token.token for token in tokens), COUNTED)
        chunks = list(self.chat(stream=True, **asked))
        self.assertEqual([token for chunk in chunks if chunk.choices[0].logprobs for token in chunk.choices[0].logprobs.content], tokens)
        tokens = self.chat(messages=COUNT, logprobs=True).choices[0].logprobs.content
        self.assertEqual([token.top_logprobs for token in tokens], [[]] * len(tokens))


class Tools(OpenAiTest):
    def call(self, **fields):
        return self.chat(**{"model": "caller", "tools": [TOOL], "tool_choice": "required", "parallel_tool_calls": False, **fields})

    def test_a_call(self):
        choice = self.call().choices[0]
        self.assertEqual(choice.finish_reason, "tool_calls", choice)
        [call, *_] = choice.message.tool_calls
        self.assertEqual((call.type, call.function.name), ("function", "weather"))
        self.assertIn(json.loads(call.function.arguments)["place"], ("Rome", "Oslo"))
        self.assertTrue(call.id)
        deltas = [chunk.choices[0].delta.tool_calls[0] for chunk in self.call(stream=True) if chunk.choices[0].delta.tool_calls]
        self.assertEqual({delta.index for delta in deltas}, {0})
        self.assertEqual(deltas[0].function.name, "weather")
        self.assertTrue(deltas[0].id)
        self.assertEqual("".join(delta.function.arguments or "" for delta in deltas), call.function.arguments)

    def test_tool_choice_forbids_or_names_a_call(self):
        other = {**TOOL, "function": {**TOOL["function"], "name": "time"}}
        chosen = self.call(tools=[TOOL, other], tool_choice={"type": "function", "function": {"name": "time"}}).choices[0].message
        self.assertEqual([call.function.name for call in chosen.tool_calls], ["time"])
        self.assertIsNone(self.call(tool_choice="none").choices[0].message.tool_calls)

    def test_the_answer_of_a_tool(self):
        call = {"id": "call1", "type": "function", "function": {"name": "weather", "arguments": '{"place": "Rome"}'}}
        messages = [*HELLO, {"role": "assistant", "content": "", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call1", "content": "sun"}]
        whole = self.call(messages=messages, tool_choice="auto")
        self.assertEqual(whole.choices[0].finish_reason, "stop")
        self.assertGreater(whole.usage.prompt_tokens, self.call(tool_choice="auto").usage.prompt_tokens + 20)


class Completions(OpenAiTest):
    def test_several_texts(self):
        prompts = ["GNU General Public", "GNU General"]
        many = self.complete(prompt=prompts)
        texts = [choice.text for choice in many.choices]
        self.assertTrue(texts[0].startswith(" License"), texts)
        self.assertEqual([(choice.index, choice.finish_reason) for choice in many.choices], [(0, "length"), (1, "length")])
        self.assertEqual(many.usage.completion_tokens, 8)
        self.assertEqual([self.complete(prompt=prompt).choices[0].text for prompt in prompts], texts)
        chunks = list(self.complete(prompt=prompts, stream=True))
        self.assertEqual(["".join(chunk.choices[0].text for chunk in chunks if chunk.choices[0].index == i) for i in (0, 1)], texts)

    def test_log_probabilities(self):
        choice = self.complete(logprobs=2).choices[0]
        reported = choice.logprobs
        self.assertEqual("".join(reported.tokens), choice.text)
        self.assertEqual(
            [len(reported.token_logprobs), len(reported.text_offset), reported.text_offset[:2]],
            [4, 4, [0, len(reported.tokens[0])]],
        )
        self.assertEqual([len(top) for top in reported.top_logprobs], [2] * 4)

    def test_a_text_ends_when_the_context_is_full(self):
        choice = self.complete(max_tokens=None, logit_bias={"40": 100}).choices[0]
        self.assertEqual((choice.finish_reason, len(set(choice.text))), ("length", 1), choice)
        self.assertGreater(len(choice.text), 400)


class Responses(OpenAiTest):
    def respond(self, **fields):
        return self.client.responses.create(**{"model": "tiny", "input": "Count to five.", "temperature": 0, **fields})

    def test_a_text(self):
        response = self.respond()
        self.assertEqual((response.output_text, response.status), (COUNTED, "completed"))
        self.assertEqual(response.usage.total_tokens, response.usage.input_tokens + response.usage.output_tokens)
        parts = [{"type": "input_text", "text": "Count to "}, {"type": "input_text", "text": "five."}]
        response = self.respond(input=[{"role": "user", "content": parts}], max_output_tokens=2)
        self.assertTrue(response.output_text and COUNTED.startswith(response.output_text), response)
        self.assertEqual((response.status, response.incomplete_details.reason), ("incomplete", "max_output_tokens"))

    def test_a_stream(self):
        with self.client.responses.stream(model="tiny", input="Count to five.", temperature=0) as stream:
            kinds = [event.type for event in stream]
            self.assertEqual(stream.get_final_response().output_text, COUNTED)
        self.assertEqual((kinds[0], kinds[-1]), ("response.created", "response.completed"))
        self.assertGreater(kinds.count("response.output_text.delta"), 3)

    def test_a_function_is_called_and_its_output_is_read(self):
        tool = {"type": "function", **TOOL["function"], "strict": True}
        asked = {"model": "caller", "input": [{"role": "user", "content": "How is the weather?"}], "tools": [tool], "temperature": 0,
                 "parallel_tool_calls": False}
        response = self.client.responses.create(tool_choice="required", **asked)
        [call] = [item for item in response.output if item.type == "function_call"]
        self.assertIn(json.loads(call.arguments)["place"], ("Rome", "Oslo"))
        with self.client.responses.stream(tool_choice="required", **asked) as stream:
            deltas = [event.delta for event in stream if event.type == "response.function_call_arguments.delta"]
            [streamed] = stream.get_final_response().output
        self.assertEqual(("".join(deltas), streamed.arguments, streamed.name), (call.arguments, call.arguments, "weather"))
        output = {"type": "function_call_output", "call_id": call.call_id, "output": "sun"}
        answer = self.client.responses.create(**{**asked, "input": [*asked["input"], *response.output, output]}, max_output_tokens=4)
        self.assertGreater(answer.usage.input_tokens, response.usage.input_tokens + 20)

    def test_unsupported_fields_are_refused(self):
        for wrong in ({"previous_response_id": "resp_1"}, {"tools": [{"type": "web_search"}], "tool_choice": "required"},
                      {"input": [{"type": "item_reference", "id": "a"}]}):
            with self.assertRaises(openai.BadRequestError):
                self.respond(**wrong)


class Embeddings(OpenAiTest):
    def test_texts(self):
        texts = ["the cat", "of a dog"]
        many = self.client.embeddings.create(model="embedder", input=texts, encoding_format="float")
        self.assertEqual([one.index for one in many.data], [0, 1])
        self.assertGreater(many.usage.prompt_tokens, 4)
        for text, one in zip(texts, many.data, strict=True):
            coded = self.ask(self.server, "embeddings", model="embedder", input=text, encoding_format="base64").json()["data"][0]["embedding"]
            self.assertAlmostEqual(sum(x * x for x in one.embedding), 1, 5)
            for a, b in zip(one.embedding, struct.unpack("<32f", base64.b64decode(coded)), strict=True):
                self.assertAlmostEqual(a, b, 5)


class Models(OpenAiTest):
    def test_models(self):
        self.assertEqual(sorted(model.id for model in self.client.models.list()), ["caller", "embedder", "ranker", "tiny"])
        self.assertEqual(self.client.models.retrieve("tiny").id, "tiny")
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("no")


class Errors(OpenAiTest):
    def test_their_classes(self):
        for wrong, kind in (({"model": "no"}, openai.NotFoundError), ({"temperature": 3}, openai.BadRequestError),
                            ({"n": 0}, openai.BadRequestError), ({"messages": [{"role": "user"}]}, openai.BadRequestError)):
            for stream in (False, True):
                with self.assertRaises(kind):
                    self.chat(stream=stream, **wrong)
        with self.assertRaises(openai.BadRequestError) as raised:
            self.chat(messages=[{"role": "user", "content": "word " * 5000}])
        self.assertEqual(raised.exception.code, "context_length_exceeded")
