"""/v1/responses as agents use it: functions, what went before, and the events of a stream."""

import json

from language import COUNTED, LanguageTest

PLACE = {"type": "object", "properties": {"place": {"type": "string", "enum": ["Rome", "Oslo"]}}, "required": ["place"]}
TOOL = {"type": "function", "name": "weather", "description": "The weather of a place", "parameters": PLACE, "strict": None}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": '{"place": "Rome"}', "status": "completed"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "sun"}
QUESTION = {"role": "user", "content": [{"type": "input_text", "text": "How is the weather in Rome?"}]}


def events_of(answer):
    """A stream's events, by type."""
    found = []
    for one in answer.body.decode().removesuffix("\n\n").split("\n\n"):
        name, data = one.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}", one
    assert [one["sequence_number"] for one in found] == list(range(len(found)))
    return found


class Responses(LanguageTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve_tiny()

    def respond(self, **fields):
        answer = self.ask(self.server, "responses", **{"model": "caller", "input": [QUESTION], "temperature": 0, "tools": [TOOL], **fields})
        self.assertEqual(answer.status, 200, (fields, answer))
        return answer

    def prompt_of(self, fields, path):
        answer = self.ask(self.server, path, model="caller", **fields)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def test_a_function_is_called(self):
        for choice in ("required", {"type": "function", "name": "weather"},
                       {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "weather"}]}):
            other = {**TOOL, "name": "time"}
            response = self.respond(tool_choice=choice, tools=[TOOL, other] if choice != "required" else [TOOL], parallel_tool_calls=False).json()
            self.assertEqual(response["status"], "completed")
            [call] = [item for item in response["output"] if item["type"] == "function_call"]
            self.assertEqual((call["name"], call["status"]), ("weather", "completed"))
            self.assertIn(json.loads(call["arguments"])["place"], ("Rome", "Oslo"))
            self.assertTrue(call["id"] and call["call_id"] and call["id"] != call["call_id"])

    def test_a_call_is_streamed(self):
        asked = {"tool_choice": "required", "parallel_tool_calls": False}
        [call] = self.respond(**asked).json()["output"]
        events = events_of(self.respond(stream=True, **asked))
        self.assertEqual([one["type"] for one in events[:3]], ["response.created", "response.in_progress", "response.output_item.added"])
        self.assertEqual([one["type"] for one in events[-3:]],
                         ["response.function_call_arguments.done", "response.output_item.done", "response.completed"])
        added, ended = events[2]["item"], events[-1]["response"]["output"]
        self.assertEqual((added["type"], added["name"], added["arguments"], added["status"]), ("function_call", "weather", "", "in_progress"))
        deltas = [one for one in events if one["type"] == "response.function_call_arguments.delta"]
        self.assertEqual({(one["item_id"], one["output_index"]) for one in deltas}, {(added["id"], 0)})
        self.assertEqual("".join(one["delta"] for one in deltas), call["arguments"])
        self.assertEqual(events[-3]["arguments"], call["arguments"])
        self.assertEqual(ended, [{**added, "arguments": call["arguments"], "status": "completed"}])
        self.assertEqual(events[-2]["item"], ended[0])

    def test_a_text_is_streamed(self):
        asked = {"model": "tiny", "input": "Count to five.", "tools": [], "stream": True}
        events = events_of(self.respond(**asked))
        self.assertEqual([one["type"] for one in events if not one["type"].endswith("delta")],
                         ["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
                          "response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed"])
        self.assertEqual("".join(one["delta"] for one in events if one["type"] == "response.output_text.delta"), COUNTED)
        [item] = events[-1]["response"]["output"]
        self.assertEqual((item["content"][0]["text"], item["status"]), (COUNTED, "completed"))
        cut = events_of(self.respond(max_output_tokens=1, **asked))[-1]
        self.assertEqual((cut["type"], cut["response"]["output"][0]["status"]), ("response.incomplete", "incomplete"))

    def test_the_history_is_as_in_a_chat(self):
        """Its prompt is that of the chat with the same messages."""
        call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": CALL["arguments"]}}
        chat = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION["content"][0]["text"]},
                             {"role": "assistant", "content": "I look.", "reasoning_content": "Hm.", "tool_calls": [call]},
                             {"role": "tool", "tool_call_id": "call_1", "content": "sun"}, {"role": "user", "content": "And now?"}],
                "tools": [{"type": "function", "function": {name: TOOL[name] for name in ("name", "description", "parameters")}}]}
        said = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
                "content": [{"type": "output_text", "text": "I look.", "annotations": [], "logprobs": None}]}
        thought = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": None}
        response = {"instructions": "Be brief.", "tools": [TOOL],
                    "input": [QUESTION, thought, said, CALL, {**OUTPUT, "id": None}, {"role": "user", "content": "And now?"}]}
        tokens = self.prompt_of(response, "responses/input_tokens")["input_tokens"]
        self.assertEqual(tokens, self.prompt_of(chat, "chat/completions/input_tokens")["input_tokens"])
        parts = {**response, "input": [*response["input"][:4], {**OUTPUT, "output": [{"type": "input_text", "text": "sun"}]}, response["input"][5]]}
        self.assertEqual(self.prompt_of(parts, "responses/input_tokens")["input_tokens"], tokens)
        without = {**response, "input": [QUESTION, {"role": "user", "content": "And now?"}]}
        self.assertGreater(tokens, self.prompt_of(without, "responses/input_tokens")["input_tokens"] + 20)

    def test_two_calls_are_one_message(self):
        second = {**CALL, "call_id": "call_2"}
        self.respond(input=[QUESTION, CALL, second, OUTPUT, {**OUTPUT, "call_id": "call_2"}])

    def test_additional_fields_of_agents_are_accepted(self):
        response = self.respond(include=["reasoning.encrypted_content"], reasoning={"effort": "medium", "summary": "auto"}, metadata={"a": "b"}, store=False,
                                parallel_tool_calls=True, text={"format": {"type": "text"}, "verbosity": "low"}, truncation="disabled", max_output_tokens=8,
                                tools=[TOOL, {"type": "web_search"}, {"type": "custom", "name": "apply_patch"}], service_tier="auto", user="me",
                                prompt_cache_key="a", previous_response_id=None, max_tool_calls=None, client_metadata={"a": "b"},
                                input=[{"role": "developer", "content": "Be brief."}, QUESTION, {"type": "web_search_call", "id": "ws_1", "status": "completed"}])
        self.assertEqual(response.status, 200)
        log = self.log_of(self.server)
        for line in ("tools of the type web_search are left out", "tools of the type custom are left out", "items of input of the type web_search_call are left out",
                     "the field client_metadata of requests is ignored"):
            self.assertEqual(log.count(line), 1, log)

    def test_answers_follow_the_schema(self):
        form = {"type": "json_schema", "name": "a", "strict": True, "schema": PLACE}
        response = self.respond(model="tiny", tools=[], text={"format": form}, temperature=0.3, seed=3).json()
        self.assertIn(json.loads(response["output"][0]["content"][0]["text"])["place"], ("Rome", "Oslo"))

    def test_invalid_fields_and_references_are_refused(self):
        for fields, name in (({"previous_response_id": "resp_1"}, "previous_response_id"), ({"conversation": "c"}, "conversation"), ({"background": True}, "background"),
                             ({"input": [{"type": "item_reference", "id": "a"}]}, "input"), ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "input"),
                             ({"tools": [{"type": "web_search"}], "tool_choice": "required"}, "tool_choice"), ({"tool_choice": {"type": "web_search"}}, "tool_choice"),
                             ({"tools": "a"}, "tools"), ({"tools": [5]}, "tools"), ({"input": [5]}, "input"), ({"input": []}, "input"), ({"input": None}, "input"),
                             ({"input": [{"type": "function_call_output", "call_id": "a"}]}, "input.output"), ({"reasoning": "low"}, "reasoning")):
            for stream in (False, True):
                answer = self.ask(self.server, "responses", **{"model": "caller", "input": "a", "tools": [TOOL], "stream": stream, **fields})
                self.expect_error(answer, 400, "", name)

    def test_tools_of_other_kinds_in_a_chat(self):
        chat_tool = {"type": "function", "function": {name: TOOL[name] for name in ("name", "description", "parameters")}}
        answer = self.ask(self.server, "chat/completions", model="caller", messages=[{"role": "user", "content": "a"}], max_tokens=1,
                          tools=[chat_tool, {"type": "custom", "custom": {"name": "f"}}])
        self.assertEqual(answer.status, 200, answer)
