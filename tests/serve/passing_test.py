"""Requests of /v1 to language models that servers have are passed on, and answers as they come."""

import http.client
import json
import os
import threading

from command import WAIT, longer_and_longer, refused_port, until
from configured import key, tenant
from scripted_upstream import ScriptedUpstream, always
from server import ServeTest

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "stream": True}
DONE = "data: [DONE]\n\n"


class PassingTest(ServeTest):
    def setUp(self):
        super().setUp()
        self.env["WASINN_CONFIG"] = ""

    def upstream(self, script):
        one = ScriptedUpstream(script)
        self.addCleanup(one.stop)
        return one

    def gateway(self, *upstreams, config="", more="", path="v1/behind", **serve):
        """A gateway whose model `m` is on these servers, or ports."""
        hosts = ",".join(f"127.0.0.1:{getattr(one, 'port', one)}" for one in upstreams)
        text = f"{more}\n[models.m]\npath = 'http://{hosts}/{path}'\n[models.m.config]\n{config}\n"
        self.server = self.serve("--config", self.file("gateway.toml", text), **serve)
        return self.server

    def of(self, answer, **more):
        """A gateway before a server that answers each request so."""
        return self.gateway(self.upstream(always(answer)), **more)

    def ask(self, path="chat/completions", headers=None, body=None, **fields):
        body = body if body is not None else json.dumps(fields or ASKED)
        return self.server.request("POST", f"/v1/{path}", body, {"Content-Type": "application/json", **(headers or {})})

    def begin_stream(self):
        """A connection and its answer, of which nothing is read yet."""
        connection = self.server.connect()
        self.addCleanup(connection.close)
        connection.request("POST", "/v1/chat/completions", json.dumps(ASKED))
        return connection, connection.getresponse()

    def expect_error(self, answer, status, text):
        self.assertEqual(answer.status, status, answer)
        self.assertIn(text, answer.json()["error"]["message"])

    def expect_log(self, text):
        """Checks that the log has it, once."""
        log = self.log_of(self.server)
        self.assertEqual(log.count("warning"), 1, log)
        self.assertIn(text, log)


class Requests(PassingTest):
    def test_only_the_models_name_changes_in_the_body(self):
        seen = []
        self.of(lambda talk: (seen.append(talk.body), talk.answer("{}")))
        for sent, expected in (
            ('{ "a" : [1.50, {"model": ":,}"}] ,"model":"m", "prompt":"\\"\\u00e9 }"}', '{ "a" : [1.50, {"model": ":,}"}] ,"model":"behind", "prompt":"\\"\\u00e9 }"}'),
            ('{"mod\\u0065l": "m"}', '{"mod\\u0065l":"behind"}'),
            ('{"model": null , "n": 1}', '{"model":"behind", "n": 1}'),
            ('{"n": 1e2}', '{"model":"behind","n": 1e2}'),
            (" {}\n", ' {"model":"behind"}\n')):
            self.assertEqual(self.ask("completions", body=sent).status, 200)
            self.assertEqual(seen.pop().decode(), expected)

    def test_each_path_is_passed_on(self):
        seen = []
        self.of(lambda talk: (seen.append(talk.line), talk.answer("{}")), path="deep/v1/org/name:tag")
        for path in ("chat/completions", "completions", "embeddings", "responses", "rerank"):
            self.assertEqual(self.ask(path).json(), {})
            self.assertEqual(seen.pop(), f"POST /deep/v1/{path} HTTP/1.1")

    def test_the_server_gets_the_operators_key_and_none_of_the_clients_headers(self):
        seen = []
        self.of(lambda talk: (seen.append(talk.headers), talk.answer("{}")), config="headers = { authorization = 'Bearer operator' }")
        self.ask(headers={"Authorization": "Bearer client", "X-Api-Key": "client", "Cookie": "client"})
        self.assertEqual(seen[0]["authorization"], "Bearer operator")
        self.assertNotIn("client", str(seen[0]))
        self.assertRegex(seen[0]["traceparent"], "^00-[0-9a-f]{32}-")

    def test_a_second_model_or_a_url_is_refused(self):
        self.of(lambda talk: talk.answer("{}"))
        image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://10.0.0.1/a"}}]}]
        for body, text in (('{"model": "m", "model": "other"}', "twice"), ('{"model": "m", "models": ["other"]}', "may name only one model"),
                           ('{"model": "m", "Model": "other"}', "must be lower case"), ('{"model": "m", "MODELS": ["other"]}', "may name only one model"),
                           ('{"model": 5}', "not a string"), ('{"model": "m"', "not valid JSON"), (json.dumps({"messages": image}), "nothing is fetched"),
                           ('{"tools": [{"type": "mcp", "server_url": "http://10.0.0.1"}]}', "nothing is fetched")):
            self.expect_error(self.ask(body=body), 400, text)
        shown = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}, {"text": "http://a"}]}]
        self.assertEqual(self.ask(messages=shown, tools=[{"parameters": {"properties": {"url": {"type": "string"}}}}]).status, 200)
        self.expect_error(self.ask(model="none"), 404, "there is no model 'none'")

    def test_a_tenant_has_the_models_that_its_policy_names(self):
        self.of(lambda talk: talk.answer("{}"), more=tenant("a") + tenant("b", "[tenants.b.policy]\nmodels = ['other']"))
        self.assertEqual(self.ask(headers=key("a")).status, 200)
        self.expect_error(self.ask(headers=key("b")), 404, "there is no model")
        self.assertEqual(self.ask().status, 401)
        self.assertEqual(self.log_of(self.server).count("names 'other'"), 1)

    def test_a_tenant_cannot_name_what_the_server_stores_for_the_operators_key(self):
        self.of(lambda talk: talk.answer("{}"), more=tenant("a"))
        content = {"type": "file", "file": {"file_id": "file-1"}}
        for fields in ({"previous_response_id": "resp_1"}, {"Conversation": {"id": "conv_1"}}, {"prompt": {"id": "pmpt_1"}},
                       {"messages": [{"role": "user", "content": [content]}]}, {"tools": [{"type": "file_search", "vector_store_ids": ["vs_1"]}]},
                       {"tools": [{"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["file-1"]}}]}):
            self.expect_error(self.ask(headers=key("a"), **fields), 400, "tenants cannot use")
        schema = {"properties": {"file_id": {"type": "string"}}}
        for fields in ({"previous_response_id": None, "prompt": "a"}, {"tools": [{"parameters": schema}]}):
            self.assertEqual(self.ask(headers=key("a"), **fields).status, 200)

    def test_without_tenants_it_can_be_named(self):
        self.of(lambda talk: talk.answer("{}"))
        self.assertEqual(self.ask(previous_response_id="resp_1").status, 200)


class Answers(PassingTest):
    def test_an_event_reaches_the_client_before_the_next_one_is_sent(self):
        gate = threading.Event()
        self.addCleanup(gate.set)

        def answer(talk):
            talk.begin()
            talk.chunk("data: 1\n\n")
            gate.wait()
            talk.chunk("data: 2\n\n" + DONE)
            talk.end()

        self.of(answer)
        _, response = self.begin_stream()
        self.assertEqual(response.headers["Content-Type"], "text/event-stream")
        self.assertEqual(response.headers["X-Accel-Buffering"], "no")
        self.assertEqual(response.read1(), b"data: 1\n\n")
        gate.set()
        self.assertEqual(response.read().decode(), "data: 2\n\n" + DONE)
        self.server.await_metrics('wasinn_serve_first_token_duration_seconds_count{model="m",version="1"} 1')

    def test_200_streams_at_once_through_two_processors_get_their_own_bytes(self):
        many = 200
        together = threading.Barrier(many)

        def answer(talk):
            name = json.loads(talk.body)["messages"][0]["content"]
            together.wait(WAIT)  # no request is answered before all have come
            talk.begin()
            for i in range(20):
                talk.chunk(f"data: {name} {i}\n\n")
            together.wait(WAIT)
            talk.end()

        two = sorted(os.sched_getaffinity(0))[:2]
        self.of(answer, config=f"parallel = {many}", more="[limits]\ncompute_timeout_ms = 0", prepare=lambda: os.sched_setaffinity(0, two))
        answers = [None] * many

        def ask(i):
            answers[i] = self.ask(messages=[{"role": "user", "content": f"client {i}"}])

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(many)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i, one in enumerate(answers):
            self.assertEqual(one.body.decode(), "".join(f"data: client {i} {n}\n\n" for n in range(20)))

    def test_a_status_and_its_message_are_the_servers(self):
        self.of(lambda talk: talk.answer('{"error": {"message": "later"}}', "429 Too Many Requests", "Retry-After: 7\r\nX-Account: secret\r\n"))
        answer = self.ask()
        self.expect_error(answer, 429, "later")
        self.assertEqual(answer.headers["Retry-After"], "7")
        self.assertNotIn("X-Account", answer.headers)

    def test_a_server_that_refuses_the_operators_key_is_a_502(self):
        self.of(lambda talk: talk.answer('{"error": {"message": "wrong key sk-1234"}}', "401 Unauthorized"), config="headers = { authorization = 'Bearer sk-1234' }")
        for _ in range(2):
            answer = self.ask()
            self.expect_error(answer, 502, "refuses this server's key")
            self.assertNotIn("sk-1234", str(answer))
        self.expect_log("answers with status 401: is its key right?")

    def test_a_redirect_is_not_followed(self):
        self.of(lambda talk: talk.answer("", "307 Temporary Redirect", "Location: http://127.0.0.1:1/\r\n"))
        self.expect_error(self.ask(), 502, "redirects")

    def test_connections_are_reused(self):
        upstream = self.upstream(always(lambda talk: talk.answer("{}")))
        self.gateway(upstream)
        for _ in range(3):
            self.assertEqual(self.ask().status, 200)
        self.assertEqual(len(upstream.talks), 1)

    def test_interim_answers_are_skipped(self):
        self.of(lambda talk: (talk.send("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" * 2), talk.answer('{"a": 1}')))
        self.assertEqual(self.ask().json(), {"a": 1})

    def test_a_client_that_does_not_read_stops_reading_from_the_server(self):
        blocked = threading.Event()
        size = 64 << 20

        def answer(talk):
            talk.begin()
            talk.connection.settimeout(1)
            try:
                for _ in range(size >> 16):
                    talk.chunk(bytes(1 << 16))
            except TimeoutError:
                blocked.set()

        self.of(answer)
        connection, _ = self.begin_stream()
        self.assertTrue(blocked.wait(WAIT))
        self.assertLess(self.server.held(), 1 << 20)
        connection.close()


class Ends(PassingTest):
    """The end of one side's connection, and its effect on the other side."""

    def stalled(self):
        """A gateway before a server that sends one event and no more, and what is set once its connection ends."""
        gone = threading.Event()

        def answer(talk):
            talk.begin()
            talk.chunk("data: 1\n\n")
            if talk.has_gone():
                gone.set()

        return always(answer), gone

    def test_a_client_that_leaves_ends_the_servers_work(self):
        script, gone = self.stalled()
        self.gateway(self.upstream(script), config="parallel = 1")
        connection, response = self.begin_stream()
        self.assertEqual(response.read1(), b"data: 1\n\n")
        response.close()
        connection.close()
        self.assertTrue(gone.wait(WAIT))
        until(lambda: self.server.held() == 0)

    def test_a_client_that_leaves_before_the_answer_ends_the_servers_work(self):
        asked, gone = threading.Event(), threading.Event()

        def answer(talk):
            asked.set()
            if talk.has_gone():
                gone.set()

        self.of(answer)
        connection = self.server.connect()
        connection.request("POST", "/v1/chat/completions", json.dumps(ASKED))
        self.assertTrue(asked.wait(WAIT))
        connection.close()
        self.assertTrue(gone.wait(WAIT))

    def test_a_server_that_dies_within_an_answer_ends_it_before_its_end(self):
        def script(talk):
            talk.read()
            talk.begin()
            talk.chunk("data: 1\n\n")

        self.gateway(self.upstream(script))
        _, response = self.begin_stream()
        with self.assertRaises(http.client.IncompleteRead) as broken:
            response.read()
        self.assertEqual(broken.exception.partial, b"data: 1\n\n")
        self.expect_log("ended the connection within its answer")

    def test_a_server_that_never_answers_is_a_504(self):
        for timeout in longer_and_longer():
            asked = threading.Event()
            self.of(lambda talk: (asked.set(), talk.has_gone()), more=f"[limits]\ncompute_timeout_ms = {timeout}")
            self.expect_error(self.ask(), 504, f"did not answer within {timeout} ms")
            if asked.is_set():
                break

    def test_a_server_that_stops_within_an_answer_is_cut_off(self):
        script, gone = self.stalled()
        for timeout in longer_and_longer():
            self.gateway(self.upstream(script), more=f"[limits]\ncompute_timeout_ms = {timeout}")
            _, response = self.begin_stream()
            if response.status == 200:
                with self.assertRaises(http.client.IncompleteRead):
                    response.read()
                self.assertTrue(gone.wait(WAIT))
                break


class Hostile(PassingTest):
    def expect_bad_gateway(self, send, log):
        self.of(lambda talk: (send(talk), talk.has_gone()))
        self.expect_error(self.ask(), 502, "gave no answer")
        self.expect_log(log)

    def flood(self, talk, begin, line):
        """Until the gateway has had enough."""
        talk.send(begin)
        while True:
            talk.send(line * 1000)

    def test_endless_headers_are_refused(self):
        self.expect_bad_gateway(lambda talk: self.flood(talk, "HTTP/1.1 200 OK\r\n", "a: b\r\n"), "not HTTP")

    def test_an_endless_line_is_refused(self):
        self.expect_bad_gateway(lambda talk: self.flood(talk, "HTTP/1.1 200 OK\r\na: ", "bbbb"), "not HTTP")

    def test_a_flood_of_interim_answers_is_refused(self):
        self.expect_bad_gateway(lambda talk: self.flood(talk, "", "HTTP/1.1 100 Continue\r\n\r\n"), "not HTTP")

    def test_another_protocol_is_refused(self):
        self.expect_bad_gateway(lambda talk: talk.send(b"\0\0\x12\4\0\0\0\0\0\0\3\0\0\0\x80\0\4\0\1\0\0\0\5\0\xff\xff\0\0\4\x08\0\0\0\0\0"), "not HTTP")

    def test_an_invalid_chunk_ends_the_answer(self):
        for sent in ("zz\r\n", "ffffffffffffffffff\r\n", "1;" + "a" * (1 << 20)):
            with self.subTest(sent[:20]):
                self.of(lambda talk: (talk.begin(), talk.chunk("data: 1\n\n"), talk.send(sent), talk.has_gone()))
                _, response = self.begin_stream()
                with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
                    response.read()
                self.expect_log("not HTTP")


class Places(PassingTest):
    def test_more_requests_than_parallel_are_429(self):
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.of(lambda talk: (talk.begin(), talk.chunk("data: 1\n\n"), gate.wait(), talk.end()), config="parallel = 1")
        _, response = self.begin_stream()
        self.assertEqual(response.read1(), b"data: 1\n\n")
        refused = self.ask()
        self.expect_error(refused, 429, "requests, its limit")
        self.assertEqual(refused.headers["Retry-After"], "1")
        self.server.await_metrics('wasinn_serve_requests_running{of="texts",model="m",version="1"} 1')
        gate.set()
        self.assertEqual(response.read(), b"")
        self.assertEqual(self.ask().status, 200)

    def test_no_tenant_has_all_places(self):
        gate = threading.Event()
        self.addCleanup(gate.set)
        held = always(lambda talk: (talk.begin(), talk.chunk("data: 1\n\n"), gate.wait(), talk.end()))
        self.gateway(self.upstream(held), config="parallel = 4", more=tenant("a") + tenant("b"))
        for _ in range(3):
            self.server.headers = key("a")
            connection = self.server.connect()
            self.addCleanup(connection.close)
            connection.request("POST", "/v1/chat/completions", json.dumps(ASKED), key("a"))
            self.assertEqual(connection.getresponse().status, 200)
        self.expect_error(self.ask(headers=key("a")), 429, "the tenant has 3 of the model's 4 requests")
        gate.set()
        self.assertEqual(self.ask(headers=key("b")).status, 200)


class Servers(PassingTest):
    def test_an_unreachable_server_is_skipped(self):
        self.gateway(refused_port(self), self.upstream(always(lambda talk: talk.answer("{}"))))
        for _ in range(3):
            self.assertEqual(self.ask().status, 200)
        self.expect_log("Connection refused")

    def test_the_server_with_fewer_requests_is_chosen(self):
        gate = threading.Event()
        self.addCleanup(gate.set)
        held = self.upstream(always(lambda talk: (talk.begin(), talk.chunk("data: 1\n\n"), gate.wait(), talk.end())))
        free = self.upstream(always(lambda talk: talk.answer("{}")))
        self.gateway(held, free)
        _, response = self.begin_stream()
        self.assertEqual(response.read1(), b"data: 1\n\n")
        for _ in range(3):
            self.assertEqual(self.ask().body, b"{}")
        gate.set()

    def test_without_a_server_there_is_an_error(self):
        port = refused_port(self)
        self.gateway(port)
        answer = self.ask()
        self.expect_error(answer, 503, "cannot be reached")
        self.assertNotIn(str(port), str(answer))
        self.expect_log("Connection refused")

    def test_an_invalid_configuration_is_reported_at_the_start(self):
        self.gateway(1, config="headers = { Host = 'a' }")
        self.expect_error(self.ask(), 503, "headers")
        self.expect_log("model 'm' cannot be served")
