"""Instances of WASI 0.3's components behind paths that answer several requests."""

import os
import unittest

import handler03_infers_test
import handler03_test
from configured import HURRIED, OPERATOR, ConfiguredTest, key, tenant
from guest_model_probe import await_loop
from handler03_infers_test import COMPUTES_NOTHING, FLOAT, NOTHING_IS_HELD, InfersTest
from handler03_test import HANDLER03
from incoming_handler_test import HANDLER
from server import until

ENDED = "ended in a trap"


def with_a_memory(component):
    """The same component with another module, which has a memory."""
    n_modules, at = 0, 8
    while at < len(component):
        kind, size, shift, at = component[at], 0, 0, at + 1
        while True:
            byte, at = component[at], at + 1
            size, shift = size | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                break
        n_modules, at = n_modules + (kind == 1), at + size
    module = b"\0asm\1\0\0\0" + b"\5\3\1\0\1"
    return component + bytes([1, len(module)]) + module + bytes([2, 4, 1, 0, n_modules, 0])


class Reused:
    """The same tests with instances that stay, each for a moment."""

    REUSE = "1000,1,1ms"

    def serve_handler(self, *flags, models=None):
        return self.serve(*flags, "--route", f"/h={HANDLER03}", "--route-reuse", f"/h={self.REUSE}", models=models)

    def counts(self, server, n, **more):
        """The number of a request in its instance, for each of n."""
        return [int(server.request("GET", "/h/count", **more).body) for _ in range(n)]


class Exchanges(Reused, handler03_test.Exchanges):
    def test_instances_of_a_pool(self):
        """Those that wait make room, also for a route without reuse."""
        config = self.file("pool.toml", "[engine]\npool_instances = 2\n")
        self.REUSE = "1000,1,10m"
        server = self.serve_handler("--config", config, "--route", f"/other={HANDLER03}")
        self.assertEqual(self.counts(server, 3), [1, 2, 3])
        self.assertEqual([server.request("GET", "/other/count").body for _ in range(5)], [b"1"] * 5)


class Hostile(Reused, handler03_test.Hostile):
    pass


class Outbound(Reused, handler03_test.Outbound):
    pass


class Infers(Reused, handler03_infers_test.Infers):
    pass


class Ends(Reused, handler03_infers_test.Ends):
    def test_the_deadline_ends_computes(self):
        server = self.for_two(self.serve_handler, models={"g": self.gated("g"), "m": FLOAT})
        self.check_answer(server.request("GET", "/h/infer?g,m", headers=HURRIED), 504, "was not done within 200 ms")
        server.await_metrics(*COMPUTES_NOTHING)
        self.assertEqual(self.ask(server, "infer?m").body, b"1")
        self.log_of(server)


class Stays(Reused, InfersTest):
    REUSE = "1000,1,10m"

    def test_a_number_of_requests(self):
        self.REUSE = "3"
        self.assertEqual(self.counts(self.serve_handler(), 7), [1, 2, 3, 1, 2, 3, 1])

    def test_of_the_file(self):
        self.file("serve.toml", f"[routes.'/h']\nfile = '{HANDLER03}'\nreuse = {{requests = 2, concurrent = 1, idle_ms = 600000}}\n")
        self.assertEqual(self.counts(self.serve("--config", "serve.toml"), 3), [1, 2, 1])
        self.file("serve.toml", f"[routes.'/h']\nfile = '{HANDLER03}'\nreuse.concurrent = 16\n")
        self.assertIn("'routes./h.reuse.requests' must be 2 or more", self.refused("--config", "serve.toml"))

    def test_only_components_of_03_stay(self):
        self.assertIn("wasi:http/handler@0.3", self.refused("--route", f"/h={HANDLER}", "--route-reuse", "/h=2"))
        for wrong in ("0", "1,16", "1,1,2s", "2,0", "2,1,0s", "x", "2,1,1s,1"):
            self.assertIn("is not REQUESTS", self.refused("--route", f"/h={HANDLER03}", "--route-reuse", f"/h={wrong}"))

    def test_contexts_stay(self):
        server = self.serve_handler(models={"m": FLOAT})
        for _ in range(3):
            self.assertEqual(self.ask(server, "infer-kept?m").body, b"1")
        self.assertLessEqual({"wasinn_guests 2", "wasinn_contexts 1"}, server.metrics())

    def test_an_instance_that_waits_ends_after_its_time(self):
        self.REUSE = "1000,1,1ms"
        server = self.serve_handler(models={"g": self.gated("g"), "m": FLOAT})
        self.assertEqual(self.ask(server, "infer-kept?m").body, b"1")
        self.assertEqual(self.ask(server, "infer-left?g").body, b"whole")
        server.await_metrics(*NOTHING_IS_HELD)

    def test_fuel_is_a_requests(self):
        """A loop has all of it each time, and ends its instance alone."""
        server = self.serve_handler("--fuel", "100000000", "--timeout", "60s")
        self.assertEqual(self.counts(server, 2), [1, 2])
        self.check_answer(server.request("GET", "/h/loop"), 502, ENDED)
        self.assertEqual(self.counts(server, 2), [1, 2])
        self.assertIn("fuel", self.log_of(server))

    def test_bodies_end_with_their_requests(self):
        server = self.serve_handler()
        self.ask(server, "count")
        before = self.most_memory(server)
        for _ in range(500):
            self.assertEqual(server.request("POST", "/h/request-ignored", bytes(1 << 20)).body, b"whole")
        self.assertEqual(self.counts(server, 1), [2])
        self.assertLess(self.most_memory(server) - before, 400 << 10)  # AddressSanitizer keeps 256 MiB of what was freed

    def test_tenants_have_instances_of_their_own(self):
        config = self.configure(tenant("a") + tenant("b"))
        server = self.serve_handler("--config", config)
        self.assertEqual(self.counts(server, 2, headers=key("a")), [1, 2])
        self.assertEqual(self.counts(server, 2, headers=key("b")), [1, 2])
        self.assertEqual(self.counts(server, 1, headers=key("a")), [3])

    def test_guests_of_a_pool_may_have_more_memories_than_one(self):
        """Those that wait make room for all of them."""
        (self.dir / "two.wasm").write_bytes(with_a_memory(HANDLER03.read_bytes()))
        config = self.configure(tenant("a") + tenant("b") + "[engine]\npool_instances = 3\n")
        server = self.serve_handler("--config", config, "--route", "/two=two.wasm")
        for name in "ab":
            self.assertEqual(self.counts(server, 1, headers=key(name)), [1])
        self.check_answer(server.request("GET", "/two/show", headers=key("a")), 200)

    def test_the_end_of_an_instance_holds_up_no_other_tenant(self):
        """Its compute cannot be cancelled, and so many other tenants' instances wait that it ends."""
        others = [f"t{i}" for i in range(8 * os.cpu_count())]
        config = self.configure("".join(map(tenant, ["a", *others])))
        server = self.serve_handler("--config", config, models={"d": self.gated("d") + "deaf\n"})
        self.assertEqual(server.request("GET", "/h/infer-left?d", headers=key("a")).body, b"whole")
        self.await_gate("d")
        self.addCleanup(self.open_gate, "d")
        self.assertEqual([self.counts(server, 1, headers=key(name)) for name in others], [[1]] * len(others))

    def test_no_instance_outlives_its_configuration(self):
        server = self.serve_handler("--config", self.configure(OPERATOR))
        self.assertEqual(self.counts(server, 2, headers=key("operator")), [1, 2])
        guests = next(line for line in server.metrics() if line.startswith("wasinn_guests "))
        ConfiguredTest.ask(self, server, OPERATOR)
        until(lambda: self.generation(server) == 2)
        self.assertEqual(self.counts(server, 1, headers=key("operator")), [1])
        server.await_metrics(guests)
        self.log_of(server)


class AtOnce(Reused, InfersTest):
    REUSE = "1000,2,10m"

    def setUp(self):
        super().setUp()
        self.models = {name: self.gated(name) for name in "ghij"} | {"m": FLOAT}

    def wait(self, server, name, **more):
        """A request whose compute waits."""
        answer = self.clients.submit(server.request, "GET", f"/h/infer?{name}", **more)
        self.await_gate(name)
        return answer

    def begun(self, server, path):
        """An answer whose first event has come."""
        connection = server.connect()
        self.addCleanup(connection.close)
        connection.request("GET", path)
        response = connection.getresponse()
        self.assertEqual(response.read1(), b"data: begun\n\n")
        return response

    def answer(self, name, waiting):
        self.open_gate(name)
        return waiting.result()

    def test_requests_beside_one_that_waits(self):
        server = self.serve_handler(models=self.models)
        waiting = self.wait(server, "g")
        self.assertEqual(self.counts(server, 3), [1, 2, 3])
        self.assertIn("wasinn_guests 2", server.metrics())
        self.assertEqual(self.answer("g", waiting).body, b"1")
        self.assertEqual(self.counts(server, 1), [4])

    def test_no_more_than_that(self):
        server = self.serve_handler(models=self.models)
        both = [self.wait(server, name) for name in "gh"]
        self.assertIn("wasinn_guests 2", server.metrics())
        self.assertEqual(self.counts(server, 2), [1, 2])
        self.assertIn("wasinn_guests 3", server.metrics())
        self.assertEqual([self.answer(name, one).body for name, one in zip("gh", both)], [b"1", b"1"])

    def test_each_answer_goes_out_when_it_is_there(self):
        """Also those of threads that another thread runs the instance for, and takes over from."""
        server = self.serve_handler(models=self.models)
        first, second = self.wait(server, "g"), self.wait(server, "h")
        self.assertEqual(self.answer("g", first).body, b"1")
        third = self.wait(server, "i")
        self.assertEqual(self.answer("i", third).body, b"1")
        self.assertEqual(self.counts(server, 1), [1])
        self.assertEqual(self.answer("h", second).body, b"1")

    def test_a_trap_ends_its_instance_alone(self):
        server = self.serve_handler(models=self.models)
        others = [self.wait(server, name) for name in "gh"]
        beside = self.wait(server, "i")
        self.check_answer(server.request("GET", "/h/trap"), 502, ENDED)
        self.check_answer(beside.result(), 502, ENDED)
        server.await_metrics("wasinn_guests 2", "wasinn_inferences_running 2")
        self.assertEqual([self.answer(name, one).body for name, one in zip("gh", others)], [b"1", b"1"])
        self.log_of(server)

    def test_the_deadline_ends_its_instance_alone(self):
        server = self.for_two(self.serve_handler, models=self.models)
        other = self.wait(server, "g")
        beside = self.clients.submit(server.request, "GET", "/h/sleep", headers=HURRIED)
        late = self.clients.submit(server.request, "GET", "/h/infer?h", headers=HURRIED)
        answers = sorted((beside.result(), late.result()), key=lambda answer: -answer.status)
        self.check_answer(answers[0], 504, "was not done within 200 ms")
        if answers[1].status != 504:
            self.check_answer(answers[1], 502, "another request there took too long")
        self.check_answer(server.request("GET", "/h/loop", headers=HURRIED), 504, "was not done within 200 ms")
        self.assertEqual(self.answer("g", other).body, b"1")
        self.log_of(server)

    def test_a_client_that_leaves_ends_nobody_else(self):
        server = self.serve_handler(models=self.models)
        gone = self.begin_at_gate(server, "/h/infer?g", "g")
        beside = self.wait(server, "h")
        gone.close()
        self.assertEqual(self.answer("h", beside).body, b"1")
        server.await_metrics(*NOTHING_IS_HELD)  # the guest cannot know, so its instance goes
        self.log_of(server)

    def test_all_clients_may_leave(self):
        server = self.serve_handler("--timeout", "60s", models=self.models)
        gone = [self.begin_at_gate(server, f"/h/infer?{name}", name) for name in "gh"]
        for client in gone:
            client.close()
        server.await_metrics(*NOTHING_IS_HELD)
        self.log_of(server)

    def test_fuel_of_requests_at_once(self):
        server = self.serve_handler("--fuel", "100000000", "--timeout", "60s", models=self.models)
        waiting = self.wait(server, "g")
        self.assertEqual(self.counts(server, 200), list(range(1, 201)))
        self.assertEqual(self.answer("g", waiting).body, b"1")

    def test_fuel_of_answers_that_have_begun(self):
        """Each request has its own, whatever begins later."""
        self.REUSE = "1000,8,10m"
        server = self.serve_handler("--fuel", "100000000", "--timeout", "60s", models=self.models)
        answers = [self.begun(server, "/h/infer-work?g") for _ in range(8)]
        self.assertIn("wasinn_guests 2", server.metrics())
        self.open_gate("g")
        self.assertEqual([answer.read() for answer in answers], [b"data: done\n\n"] * 8)

    def test_what_the_guest_has_not_seen_goes_to_another_instance(self):
        server = self.serve_handler("--fuel", "3000000000", "--timeout", "60s")
        ends = self.clients.submit(server.request, "GET", "/h/loop")
        await_loop(server)
        self.assertEqual(self.counts(server, 1), [1])
        self.check_answer(ends.result(), 502, ENDED)
        self.log_of(server)


if __name__ == "__main__":
    unittest.main()
