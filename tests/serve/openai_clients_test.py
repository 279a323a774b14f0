"""Clients of /v1 that others wrote: each asks for what its users ask most. docs/clients.md has what comes of it."""

import json
import os
import subprocess

from command import WAIT
from language import COUNT, COUNTED, HELLO, HELLO_BACK, LanguageTest

os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LANGSMITH_TRACING": "false", "HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}  # nothing is fetched

WEATHER = {
    "name": "weather",
    "description": "The weather of a place",
    "parameters": {"type": "object", "properties": {"place": {"type": "string", "enum": ["Rome", "Oslo"]}}, "required": ["place"]},
}
TOOL = {"type": "function", "function": WEATHER}
KEY = "none"


class ClientTest(LanguageTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve_tiny()
        self.base = f"http://127.0.0.1:{self.server.port}/v1"

    def check_call(self, name, arguments):
        self.assertEqual(name, "weather")
        self.assertIn((json.loads(arguments) if isinstance(arguments, str) else arguments)["place"], ("Rome", "Oslo"))


class LiteLlm(ClientTest):
    def ask_with(self, what="completion", **fields):
        import litellm
        return getattr(litellm, what)(**{"model": "openai/tiny", "api_base": self.base, "api_key": KEY, "temperature": 0, **fields})

    def test_chats(self):
        whole = self.ask_with(messages=HELLO, user="me", metadata={"a": "b"}, top_k=40, repetition_penalty=1.0)
        self.assertEqual((whole.choices[0].message.content, whole.choices[0].finish_reason), (HELLO_BACK, "stop"))
        chunks = list(self.ask_with(messages=COUNT, stream=True, stream_options={"include_usage": True}))
        self.assertEqual("".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices), COUNTED)
        self.assertGreater(chunks[-1].usage.completion_tokens, 0)

    def test_tools(self):
        for stream in (False, True):
            answer = self.ask_with(model="openai/caller", messages=HELLO, tools=[TOOL], tool_choice="required", parallel_tool_calls=False, stream=stream)
            if stream:
                import litellm
                answer = litellm.stream_chunk_builder(list(answer))
            [call] = answer.choices[0].message.tool_calls
            self.check_call(call.function.name, call.function.arguments)

    def test_responses(self):
        response = self.ask_with("responses", input="Count to five.")
        self.assertEqual(response.output[0].content[0].text, COUNTED)

    def test_embeddings(self):
        for fields, width in (({}, 32), ({"dimensions": 16, "allowed_openai_params": ["dimensions"]}, 16)):
            vectors = self.ask_with("embedding", model="openai/embedder", input=["the cat"], temperature=None, **fields)
            self.assertEqual(len(vectors.data[0]["embedding"]), width)

    def test_errors(self):
        import litellm
        for fields, kind in (({"model": "openai/no"}, litellm.NotFoundError), ({"n": 0}, litellm.BadRequestError),
                             ({"messages": [{"role": "user", "content": "word " * 5000}]}, litellm.ContextWindowExceededError)):
            with self.assertRaises(kind):
                self.ask_with(**{"messages": HELLO, "max_retries": 0, **fields})


class LangChain(ClientTest):
    def chat(self, model="tiny", **fields):
        from langchain_openai import ChatOpenAI
        return ChatOpenAI(model=model, base_url=self.base, api_key=KEY, temperature=0, **fields)

    def test_chats(self):
        answer = self.chat().invoke("Say hello.")
        self.assertEqual((answer.content, answer.response_metadata["finish_reason"]), (HELLO_BACK, "stop"))
        self.assertGreater(answer.usage_metadata["input_tokens"], 0)
        self.assertEqual("".join(chunk.content for chunk in self.chat().stream("Count to five.")), COUNTED)

    def test_tools(self):
        chat = self.chat("caller").bind_tools([TOOL], tool_choice="any", parallel_tool_calls=False)
        answer = chat.invoke("How is the weather?")
        [call] = answer.tool_calls
        self.check_call(call["name"], call["args"])
        from langchain_core.messages import HumanMessage, ToolMessage
        history = [HumanMessage("How is the weather?"), answer, ToolMessage("sun", tool_call_id=call["id"])]
        self.assertGreater(self.chat("caller", max_tokens=2).bind_tools([TOOL]).invoke(history).usage_metadata["input_tokens"], answer.usage_metadata["input_tokens"])

    def test_structured_output(self):
        schema = {"title": "answer", "description": "An answer", **WEATHER["parameters"], "additionalProperties": False}
        for method in ("json_schema", "function_calling"):
            chat = self.chat("caller").with_structured_output(schema, method=method)
            self.assertIn(chat.invoke("How is the weather?")["place"], ("Rome", "Oslo"))

    def test_responses(self):
        answer = self.chat(use_responses_api=True).invoke("Count to five.")
        self.assertEqual(answer.text, COUNTED)
        chunks = [chunk.text for chunk in self.chat(use_responses_api=True).stream("Count to five.")]
        self.assertEqual("".join(chunks), COUNTED)
        chat = self.chat("caller", use_responses_api=True).bind_tools([TOOL], tool_choice="weather", parallel_tool_calls=False)
        [call] = chat.invoke("How is the weather?").tool_calls
        self.check_call(call["name"], call["args"])

    def test_embeddings(self):
        from langchain_openai import OpenAIEmbeddings
        embeddings = OpenAIEmbeddings(model="embedder", base_url=self.base, api_key=KEY, check_embedding_ctx_length=False)
        self.assertEqual([len(vector) for vector in embeddings.embed_documents(["the cat", "of a dog"])], [32, 32])


class LlamaIndex(ClientTest):
    def llm(self, model="tiny", **fields):
        from llama_index.llms.openai_like import OpenAILike
        return OpenAILike(model=model, api_base=self.base, api_key=KEY, is_chat_model=True, temperature=0, context_window=512, **fields)

    def test_chats(self):
        from llama_index.core.llms import ChatMessage
        message = [ChatMessage(role="user", content="Count to five.")]
        self.assertEqual(self.llm().chat(message).message.content, COUNTED)
        self.assertEqual("".join(part.delta for part in self.llm().stream_chat(message)), COUNTED)
        self.assertEqual(self.llm().complete("Count to five.").text, COUNTED)

    def test_tools(self):
        from llama_index.core.tools import FunctionTool

        def weather(place: str) -> str:
            """The weather of a place"""
            return place

        llm = self.llm("caller", is_function_calling_model=True)
        answer = llm.chat_with_tools([FunctionTool.from_defaults(weather)], "How is the weather?", tool_required=True)
        [call, *_] = llm.get_tool_calls_from_response(answer)
        self.assertEqual((call.tool_name, set(call.tool_kwargs)), ("weather", {"place"}))


class Instructor(ClientTest):
    def test_objects(self):
        import instructor
        import openai
        import pydantic
        from typing import Literal

        class Weather(pydantic.BaseModel):
            place: Literal["Rome", "Oslo"]

        with openai.OpenAI(base_url=self.base, api_key=KEY, max_retries=0) as client:
            for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
                made = instructor.from_openai(client, mode=mode).chat.completions.create(
                    model="caller", messages=[{"role": "user", "content": "How is the weather?"}], response_model=Weather, temperature=0, max_retries=0)
                self.assertIn(made.place, ("Rome", "Oslo"))


class Ollama(ClientTest):
    """It has a protocol of its own, which is not served: the client says so, and does not hang."""

    def test_its_own_api(self):
        import ollama
        client = ollama.Client(host=self.base.removesuffix("/v1"))
        for ask in (lambda: client.chat("tiny", HELLO), lambda: client.generate("tiny", "a"), lambda: client.embed("embedder", "a"), client.list):
            with self.assertRaises(ollama.ResponseError) as raised:
                ask()
            self.assertEqual(raised.exception.status_code, 404)


NODE = """
import OpenAI from 'openai'
const client = new OpenAI({ baseURL: process.argv[2], apiKey: 'none', maxRetries: 0 })
const say = (value) => console.log(JSON.stringify(value))
const messages = [{ role: 'user', content: 'Count to five.' }]
const chat = { model: 'tiny', messages, temperature: 0 }
const tool = JSON.parse(process.argv[3])
const call = { ...chat, model: 'caller', tools: [tool], tool_choice: 'required', parallel_tool_calls: false }
say((await client.chat.completions.create(chat)).choices[0].message.content)
let text = ''
for await (const chunk of await client.chat.completions.create({ ...chat, stream: true })) text += chunk.choices[0].delta.content ?? ''
say(text)
say((await client.chat.completions.create(call)).choices[0].message.tool_calls[0].function)
const asked = { model: 'tiny', input: 'Count to five.', temperature: 0 }
say((await client.responses.create(asked)).output_text)
const stream = client.responses.stream({ model: 'caller', input: 'How is the weather?', tools: [{ type: 'function', strict: true, ...tool.function }],
  tool_choice: 'required', parallel_tool_calls: false, temperature: 0 })
for await (const event of stream) void event
say((await stream.finalResponse()).output.find((item) => item.type === 'function_call'))
say((await client.embeddings.create({ model: 'embedder', input: 'the cat' })).data[0].embedding.length)
say((await client.models.list()).data.map((model) => model.id).sort())
try { await client.chat.completions.create({ ...chat, model: 'no' }) } catch (error) { say([error.constructor.name, error.code]) }
"""


class Node(ClientTest):
    def test_openai(self):
        modules = os.environ["WASINN_OPENAI_NODE"]
        script = self.file("clients.mjs", NODE)
        os.symlink(modules, self.dir / "node_modules")
        done = subprocess.run([os.environ["WASINN_NODE"], script, self.base, json.dumps(TOOL)], cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=WAIT)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        whole, streamed, call, response, item, width, models, error = map(json.loads, done.stdout.splitlines())
        self.assertEqual((whole, streamed, response, width), (COUNTED, COUNTED, COUNTED, 32))
        self.check_call(call["name"], call["arguments"])
        self.check_call(item["name"], item["arguments"])
        self.assertEqual(models, ["caller", "embedder", "ranker", "tiny"])
        self.assertEqual(error, ["NotFoundError", "model_not_found"])
