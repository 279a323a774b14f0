"""/v1 by hand: keys, waits, and clients that leave."""

import json
import pathlib
import re
import signal
import socket
import threading

from command import SANITIZED
from configured import key, tenant
from language import COUNT, COUNTED, ENDLESS, HELLO, LONG, MODELS, LanguageTest, events
from server import json_lines, read_all, until


class EndlessTest(LanguageTest):
    def begin(self, server, **fields):
        """A connection over which a stream has begun, and the stream."""
        connection = server.connect()
        self.addCleanup(connection.close)
        connection.request("POST", "/v1/completions", json.dumps({**LONG, "stream": True, **fields}))
        response = connection.getresponse()
        self.assertEqual(response.status, 200)
        self.assertTrue(response.readline().startswith(b"data: "))
        return connection, response

    def begin_endless(self, server, headers=None):
        """A connection over which nothing comes back."""
        connection = server.connect()
        self.addCleanup(connection.close)
        connection.request("POST", "/v1/completions", json.dumps(ENDLESS), headers or {})
        return connection


class Clients(EndlessTest):
    def test_a_client_that_leaves_ends_its_text(self):
        server = self.serve_tiny(endless=True)
        for begin in (lambda: self.begin(server, max_tokens=None)[0], lambda: self.begin_endless(server)):
            connection = begin()
            server.await_metrics("wasinn_contexts 1")
            connection.close()
            server.await_metrics("wasinn_contexts 0")

    def test_requests_beyond_the_queue_are_refused(self):
        server = self.serve_tiny("--max-waiting", "4", endless=True)
        streams = [self.begin(server, max_tokens=None) for _ in range(4)]  # all places
        answer = self.ask(server, "completions", **LONG)
        self.expect_error(answer, 429, "too many requests are waiting", code="rate_limit_exceeded")
        self.assertEqual(answer.headers["Retry-After"], "1")
        streams[0][0].close()
        until(lambda: self.ask(server, "completions", model="tiny", prompt="GNU", max_tokens=1).status == 200)

    def test_a_client_that_does_not_read_holds_no_worker(self):
        name = "n" * 1000  # so that each event is long
        config = self.file("one.toml", f'[models.{name}]\npath = "{MODELS}/tiny.gguf"\n[models.{name}.config]\nparallel = 1\n')
        server = self.serve("--config", config, "--nn-max-contexts", "1")
        body = json.dumps({**LONG, "model": name, "stream": True}).encode()
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            slow.connect(("127.0.0.1", server.port))
            slow.sendall(b"POST /v1/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            self.assertTrue(slow.recv(12))
            # The only place, and the only context, is another request's while this one is not read.
            self.assertEqual(self.ask(server, "completions", model=name, prompt="GNU", max_tokens=1).status, 200)
            text = read_all(slow)
        self.assertTrue(text.endswith(b"data: [DONE]\n\n"), text[-200:])
        self.assertGreater(len(text), 300 * 1000)

    def test_an_answer_beyond_the_memory_is_refused(self):
        server = self.serve_tiny("--max-memory-in-flight", "32K")
        ask = {**LONG, "logprobs": 5, "max_tokens": 300}
        self.assertGreater(len(self.ask(self.serve_tiny(), "completions", **ask).body), 32 * 1024)
        self.expect_error(self.ask(server, "completions", **ask), 429, "memory")
        self.assertEqual(self.ask(server, "completions", **LONG).status, 200)

    def test_probabilities_take_little_more_than_their_text(self):
        """It takes about what it is charged for: its text."""
        server = self.serve_tiny()

        def peak():
            return int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{server.process.pid}/status").read_text())[1]) << 10

        asked = {"model": "tiny", "messages": HELLO, "grammar": LONG["grammar"], "temperature": 0, "logprobs": True, "top_logprobs": 20, "max_tokens": 200}
        self.ask(server, "chat/completions", **asked)
        before = peak()
        answer = self.ask(server, "chat/completions", n=128, **asked)
        self.assertEqual([choice["index"] for choice in answer.json()["choices"]], list(range(128)))
        self.assertGreater(len(answer.body), 1 << 20)
        if not SANITIZED:
            self.assertLess(peak() - before, 6 * len(answer.body))

    def test_a_flood(self):
        server = self.serve_tiny()
        answers = []

        def ask(stream):
            answers.append(self.ask(server, "chat/completions", model="tiny", messages=COUNT, temperature=0, stream=stream))

        threads = [threading.Thread(target=ask, args=(i % 2 == 0,)) for i in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        texts = ["".join(one["choices"][0]["delta"].get("content") or "" for one in events(answer)[:-1])
                 if answer.headers["Content-Type"] == "text/event-stream" else answer.json()["choices"][0]["message"]["content"] for answer in answers]
        self.assertEqual(texts, [COUNTED] * 40)

    def test_running_and_waiting_requests_are_reported(self):
        server = self.serve_tiny(endless=True)
        labels = 'of="texts",model="tiny",version="1"'
        for _ in range(5):
            self.begin_endless(server)
        server.await_metrics(f"wasinn_serve_requests_running{{{labels}}} 4", f"wasinn_serve_requests_waiting{{{labels}}} 1",
                             'wasinn_serve_requests_waiting{of="models"} 0')

    def test_the_server_ends_during_a_stream(self):
        server = self.serve_tiny()
        _, stream = self.begin(server, max_tokens=20)
        self.assertEqual(server.stop()[0], 0)  # which waits for it
        self.assertTrue(stream.read().endswith(b"data: [DONE]\n\n"))


    def test_a_reload_keeps_running_streams(self):
        server = self.serve_tiny()
        _, stream = self.begin(server)
        server.process.send_signal(signal.SIGHUP)
        server.await_line("configuration: read again")
        self.assertEqual(self.ask(server, "completions", model="tiny", prompt="GNU", max_tokens=1).status, 200)
        self.assertTrue(stream.read().endswith(b"data: [DONE]\n\n"))

    def test_an_unloaded_model_is_unavailable(self):
        server = self.serve_tiny()
        self.check_answer(server.request("POST", "/v2/repository/models/tiny/unload"), 200)
        self.expect_error(self.ask(server, "completions", **LONG), 503, "unloaded", "model")
        self.check_answer(server.request("POST", "/v2/repository/models/tiny/load"), 200)
        self.assertEqual(self.ask(server, "completions", model="tiny", prompt="GNU", max_tokens=1).status, 200)


class Tenants(EndlessTest):
    def test_keys_and_models(self):
        server = self.serve_tiny(config=tenant("a", '[tenants.a.policy]\nmodels = ["tiny"]') + tenant("b"))
        self.expect_error(self.ask(server, "completions", **LONG), 401, "a key is needed: Authorization: Bearer KEY, or X-Api-Key: KEY", code="invalid_api_key")
        self.expect_error(self.ask(server, "completions", key("no"), **LONG), 401, "the key is unknown")
        self.assertEqual(self.ask(server, "completions", key("a"), model="tiny", prompt="GNU", max_tokens=1).status, 200)
        self.expect_error(self.ask(server, "embeddings", key("a"), model="embedder", input="a"), 404, "no model 'embedder'", "model")
        self.assertEqual(self.ask(server, "embeddings", key("b"), model="embedder", input="a").status, 200)
        for name, models in (("a", ["tiny"]), ("b", ["caller", "embedder", "ranker", "tiny"])):
            listed = server.request("GET", "/v1/models", headers=key(name)).json()["data"]
            self.assertEqual(sorted(one["id"] for one in listed), models)

    def test_requests_beyond_the_tenants_limit_are_refused(self):
        server = self.serve_tiny(config=tenant("a", "max_requests = 1"), endless=True)
        connection = self.begin_endless(server, key("a"))
        server.await_metrics("wasinn_contexts 1")
        self.expect_error(self.ask(server, "completions", key("a"), **LONG), 429, "its limit of requests")
        connection.close()
        until(lambda: self.ask(server, "completions", key("a"), model="tiny", prompt="GNU", max_tokens=1).status == 200)

    def test_the_access_log_has_streams(self):
        server = self.serve_tiny("--access-log", "access.jsonl")
        trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        answer = self.ask(server, "completions", {"traceparent": trace}, model="tiny", prompt="GNU", max_tokens=3, stream=True)
        self.assertIn("4bf92f3577b34da6a3ce929d0e0e4736", answer.headers["traceparent"])
        self.log_of(server)
        [line] = until(lambda: json_lines(self.dir / "access.jsonl"))
        self.assertEqual((line["status"], line["model"], line["trace_id"]), (200, "tiny", "4bf92f3577b34da6a3ce929d0e0e4736"))
        self.assertGreater(line["bytes_out"], len(answer.body))
        self.assertNotIn("complete", line)
