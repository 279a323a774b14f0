"""Components of WASI 0.3 behind paths (wasi:http/handler): answers, also next to components of 0.2, and attacks."""

import os

from configured import HURRIED
from incoming_handler_test import GUESTS, HANDLER, HandlerTest
from outbound_test import OutboundTest

HANDLER03 = GUESTS / "test-handler03.component.wasm"  # handler03/: its path's last word says what it does
FIRST, SECOND = b"data: 1\n\n", b"data: 2\n\n"


class Handler03Test(HandlerTest):
    def serve_handler(self, *flags, models=None):
        return self.serve(*flags, "--route", f"/h={HANDLER03}", models=models)


class Exchanges(Handler03Test):
    def test_what_a_guest_sees_of_a_request(self):
        self.check_what_is_seen("test-handler03.component.wasm")

    def test_bodies_come_and_go(self):
        server = self.serve_handler()
        for size in (0, 1, 65537, 3 << 20):
            body = os.urandom(size)
            answer = server.request("POST", "/h/echo", body)
            self.assertEqual((answer.status, answer.headers["Content-Type"], answer.body), (200, "a/b", body))
            self.assertEqual(server.request("POST", "/h/through", body).body, body)

    def test_folders_and_environment_are_those_of_the_route(self):
        self.make_folder()
        server = self.serve_handler("--route-dir", "/h=data::/data", "--route-env", "/h=A=1")
        self.assertEqual(self.ask(server, "read?a.txt").body, b"of the folder")
        for name in ("../secret.txt", "out", "up"):
            self.assertIn(b"NotPermitted", self.ask(server, f"read?{name}", 403).body)
        self.assertIn(b'environment [("A", "1")]', self.ask(server, "show").body)
        self.ask(self.serve_handler(), "read?a.txt", 404)

    def test_statuses(self):
        server = self.serve_handler()
        for status in (200, 404, 503):
            self.assertEqual(self.ask(server, f"status?{status}", status).body, b"body")
        self.assertEqual(self.ask(server, "nothing", 204).body, b"")

    def test_events_go_out_as_they_come(self):
        answer = self.ask(self.serve_handler(), "events")
        self.assertEqual((answer.headers["Transfer-Encoding"], answer.body), ("chunked", FIRST + SECOND))

    def test_beside_a_handler_of_02(self):
        server = self.serve_handler("--route", f"/old={HANDLER}")
        self.assertEqual(server.request("POST", "/old/echo", b"old").body, b"old")
        self.assertEqual(server.request("POST", "/h/echo", b"new").body, b"new")

    def test_instances_of_a_pool(self):
        config = self.file("pool.toml", "[engine]\npool_instances = 4\n")
        server = self.serve_handler("--config", config)
        self.assertEqual([self.ask(server, "count").body for _ in range(10)], [b"1"] * 10)


class Hostile(Handler03Test):
    def test_what_never_ends_has_a_deadline(self):
        server = self.for_two(self.serve_handler)
        for what in ("loop", "sleep", "open", "unread", "never"):
            with self.subTest(what=what):
                self.check_answer(server.request("GET", f"/h/{what}", headers=HURRIED), 504, "was not done within 200 ms")
        self.ask(server, "show")
        self.log_of(server)

    def test_an_answer_that_is_whole_is_sent_whatever_comes_after(self):
        server = self.serve_handler("--timeout", "10m")
        for what in ("left", "request-ignored"):
            self.assertEqual(self.ask(server, what).body, b"whole")
            server.await_metrics("wasinn_guests 1")  # the tasks are ended at once
        self.log_of(server)
        self.assertEqual(self.ended_by_deadline(lambda server: server.request("GET", "/h/loop-after")).body, b"whole")

    def test_a_request_may_be_dropped_half_way(self):
        self.assertEqual(self.serve_handler().request("POST", "/h/request-half", bytes(1 << 20)).body, b"10")

    def test_answers_that_are_none(self):
        server = self.serve_handler()
        for what, why in (
            ("trap", "it ended in a trap"),
            ("trap-within", "it ended in a trap"),
            ("exit?3", "it gave no answer"),
            ("error?why", "InternalError(Some(\"why\"))"),
            ("short", "it broke off its answer"),
        ):
            with self.subTest(what=what):
                self.check_answer(server.request("GET", f"/h/{what}"), 502, why)
        self.ask(server, "show")
        self.log_of(server)

    def test_an_endless_answer_is_cut_off(self):
        server = self.serve_handler("--max-body", "1M")
        self.check_answer(server.request("GET", "/h/flood"), 502, "wrote more than 1048576 bytes")
        small = self.serve_handler("--max-memory-in-flight", "4M")
        self.check_answer(small.request("GET", "/h/flood"), 429)
        self.ask(small, "show")

    def test_memory_has_a_limit(self):
        self.assertLess(int(self.ask(self.serve_handler("--max-memory", "32M"), "memory").body), 32 << 20)

    def test_the_hosts_memory_has_limits(self):
        server = self.serve_handler()
        before = self.most_memory(server)
        self.assertEqual(self.ask(server, "tasks?1000").body, b"whole")
        for what in ("resources", "streams", "tasks?10000"):
            with self.subTest(what=what):
                self.check_answer(server.request("GET", f"/h/{what}"), 502, "it ended in a trap")
        self.assertEqual(self.ask(server, "words").body, b"[false, false, false, true]")
        self.assertLess(self.most_memory(server) - before, 256 << 10)
        self.log_of(server)

    def test_a_client_that_is_gone_ends_its_guest(self):
        self.expect_ends_with_its_client("loop", "sleep", "open")

    def test_fuel_has_an_end(self):
        server = self.serve_handler("--fuel", "100000000", "--timeout", "60s")
        self.check_answer(server.request("GET", "/h/loop"), 502, "it ended in a trap")
        self.assertIn("fuel", self.log_of(server))


class Outbound(Handler03Test, OutboundTest):
    def test_to_whom_the_policy_lets_them(self):
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin)
        self.assertEqual(self.fetch(server, f"{other.origin}/echo"), b"you said ")
        self.assertEqual(len(self.fetch(server, f"{other.origin}/large")), 9 << 20)
        self.check_answer(server.request("GET", "/h/fetch", headers={"X-To": "http://127.0.0.1:1/echo"}), 502, "HttpRequestDenied")

    def test_outbound_requests_are_refused_by_default(self):
        other = self.other()
        self.check_answer(self.serve_handler().request("GET", "/h/fetch", headers={"X-To": f"{other.origin}/echo"}), 502, "HttpRequestDenied")
        self.assertEqual(other.asked, [])

    def test_a_silent_server_has_the_deadline_of_the_run(self):
        other = self.other()
        server = self.for_two(self.serve_handler, "--allow-outbound", other.origin)
        self.check_answer(server.request("GET", "/h/fetch", headers={"X-To": f"{other.origin}/silent", **HURRIED}), 504, "was not done within 200 ms")
        self.log_of(server)
