"""Components behind paths (wasi:http/incoming-handler): the requests that they see, their answers, and attacks."""

import concurrent.futures
import os
import pathlib
import select
import unittest

from command import PROBE, longer_and_longer
from configured import HURRIED, ConfiguredTest
from server import ServeTest, until

GUESTS = pathlib.Path(PROBE).parent
HANDLER = GUESTS / "test-handler.component.wasm"  # handler/: its path's last word says what it does


class HandlerTest(ConfiguredTest):
    def serve_handler(self, *flags, models=None):
        return self.serve(*flags, "--route", f"/h={HANDLER}", models=models)

    def ask(self, server, what, status=200):
        answer = server.request("GET", f"/h/{what}")
        self.assertEqual(answer.status, status, answer)
        return answer

    def ended_by_deadline(self, ask):
        """An answer of a guest that had begun it before."""
        for timeout in longer_and_longer():
            server = self.serve_handler("--timeout", f"{timeout}ms")
            answer = ask(server)
            self.log_of(server)
            if answer.status != 504:
                return answer

    def most_memory(self, server):
        """KiB"""
        lines = pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

    def expect_ends_with_its_client(self, *guests):
        server = self.serve_handler("--timeout", "60s")
        for what in guests:
            self.begin(server, f"/h/{what}").close()
            server.await_metrics("wasinn_guests 1")
        self.assertEqual(self.log_of(server).count("the guest was stopped"), len(guests))

    def check_what_is_seen(self, program):
        """The guest's view of a request; headers of the connection are not in it."""
        headers = {"Host": "models.example:81", "X-Trace": "7", "Content-Type": "a/b", "TE": "trailers", "Keep-Alive": "9"}
        reported = self.serve_handler().request("POST", "/h/show?x=1&y=%20", b"hello", headers).body.decode().splitlines()
        for line in (
            "method Method::Post",
            "scheme Some(Scheme::Http)",
            "authority models.example:81",
            "path /h/show?x=1&y=%20",
            "x-trace: 7",
            "content-type: a/b",
            "content-length: 5",
            f'arguments ["{program}"], environment []',
        ):
            self.assertIn(line, reported)
        names = {line.split(":")[0] for line in reported}
        self.assertFalse({"host", "te", "keep-alive", "connection"} & names, reported)


class Folders(HandlerTest):
    def setUp(self):
        super().setUp()
        self.make_folder()

    def expect_read_only(self, server):
        self.assertEqual(self.ask(server, "read?/data/a.txt").body, b"of the folder")
        for name in ("/data/../secret.txt", "/data/out", "/data/up", f"{self.dir}/secret.txt", "/secret.txt"):
            self.ask(server, f"read?{name}", 404)
        self.ask(server, "write?/data/new.txt", 403)
        self.assertFalse((self.dir / "data/new.txt").exists())

    def test_of_a_route(self):
        self.expect_read_only(self.serve_handler("--route-dir", "/h=data::/data"))
        self.ask(self.serve_handler("--route-dir", "/h=data::/data:rw"), "write?/data/new.txt")
        self.assertEqual((self.dir / "data/new.txt").read_text(), "written")

    def test_of_the_file(self):
        route = f"[routes.'/h']\nfile = '{HANDLER}'\ndir = ['data::/data']\nenv = ['A=1']\n"
        server = self.serve("--config", self.configure(route))
        self.expect_read_only(server)
        self.assertIn(b'environment [("A", "1")]', self.ask(server, "show").body)

    def test_of_a_program_that_the_command_names(self):
        server = self.serve("-S", "http", "--dir", "data::/data", "--env", "A=1", str(HANDLER))
        self.expect_read_only(server)
        self.assertIn(b'environment [("A", "1")]', self.ask(server, "show").body)

    def test_open_files_are_resources_of_a_limited_number(self):
        server = self.serve_handler("--route-dir", "/h=data::/data")
        held = int(self.ask(server, "open-many?/data/a.txt").body)
        self.assertLess(held, 512)


class Exchanges(HandlerTest):
    def test_what_a_guest_sees_of_a_request(self):
        self.check_what_is_seen("test-handler.component.wasm")

    def test_other_methods_and_a_missing_host(self):
        server = self.serve_handler()
        self.assertIn(b'method Method::Other("BREW")', server.request("BREW", "/h/show").body)
        with server.socket() as client:
            client.sendall(b"GET /h/show HTTP/1.0\r\n\r\n")
            self.assertIn(f"\nauthority 127.0.0.1:{server.port}\n".encode(), client.makefile("rb").read())

    def test_a_request_that_no_guest_can_have(self):
        server = self.serve_handler()
        for request in (
            b"GET /h/show HTTP/1.1\r\nHost: a b\r\n\r\n",
            b"GET /h/show HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        ):
            with server.socket() as client:
                client.sendall(request)
                self.assertIn(b" 400 ", client.makefile("rb").readline(), request)

    def test_bodies_come_and_go(self):
        server = self.serve_handler()
        for size in (0, 1, 4096, 65536, 65537, 3 << 20):
            body = os.urandom(size)
            answer = server.request("POST", "/h/echo", body)
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "a/b"))
            self.assertEqual(answer.body, body)
        head = server.request("HEAD", "/h/echo")
        self.assertEqual((head.status, head.body, head.headers["Content-Length"]), (200, b"", None))
        self.assertEqual(server.request("HEAD", "/h/length?4").headers["Content-Length"], "4")

    def test_many_at_once(self):
        server = self.serve_handler()
        bodies = [bytes([i]) * (100_000 + i) for i in range(48)]
        with concurrent.futures.ThreadPoolExecutor(len(bodies)) as threads:
            answers = threads.map(lambda body: server.request("POST", "/h/echo", body).body, bodies)
            self.assertEqual(list(answers), bodies)

    def test_trailers_are_left_out(self):
        answer = self.ask(self.serve_handler(), "trailers")
        self.assertEqual((answer.body, answer.headers["X-After"]), (b"whole", None))

    def test_a_body_is_taken_once(self):
        self.assertEqual(self.ask(self.serve_handler(), "twice").body, b"true false")

    def test_statuses_and_headers(self):
        server = self.serve_handler()
        for status in (200, 201, 404, 503):
            self.assertEqual(self.ask(server, f"status?{status}", status).body, b"body")
        for status in (204, 304):
            self.assertEqual(self.ask(server, f"status?{status}", status).body, b"")
        self.assertEqual(self.ask(server, "nothing", 204).body, b"")
        headers = self.ask(server, "headers").headers
        self.assertEqual(headers.get_all("Set-Cookie"), ["a=1", "b=2"])
        self.assertIsNone(headers["Content-Type"])
        self.assertEqual(headers["X-A"], "\xc3\xbc")

    def test_a_body_may_come_before_its_response_is_set(self):
        server = self.serve_handler("--timeout", "10m")
        for size, at_once in ((4097, 4096), (1, 1), (3000, 7), (128 << 10, 4096), (65536, 1), (0, 1)):
            bytes_before = bytes(i % 251 for i in range(size))
            self.assertEqual(self.ask(server, f"early?{size},{at_once},end").body, bytes_before, (size, at_once))
            self.assertEqual(self.ask(server, f"early?{size},{at_once},go-on").body, bytes_before * 2 + b"end", (size, at_once))
        self.assertRegex(self.ask(server, "early-dropped").body, rb"Err\(.*Closed\)")

    def test_a_body_that_waits_for_a_reader_has_an_end(self):
        server = self.serve_handler("--timeout", "10m")
        for what in ("early?131073,4096,end", "early?1048576,4096,go-on", "early-many"):
            self.check_answer(server.request("GET", f"/h/{what}"), 502, "it ended in a trap")
        self.assertEqual(self.log_of(server).count("before it called response-outparam.set or outgoing-handler.handle"), 3)

    def test_any_patch_version_will_do(self):
        component = HANDLER.read_bytes()
        self.assertIn(b"wasi:http/incoming-handler@0.2.12", component)
        for version in (b"@0.2.10", b"@0.2.99"):
            path = pathlib.Path(self.dir) / f"handler{version.decode()}.wasm"
            path.write_bytes(component.replace(b"@0.2.12", version))
            server = self.serve("--route", f"/h={path}")
            self.assertIn(b"method Method::Get", self.ask(server, "show").body)

    def test_instances_of_a_pool(self):
        config = self.file("pool.toml", "[engine]\npool_instances = 4\n")
        server = self.serve_handler("--config", config)
        self.assertEqual([self.ask(server, "count").body for _ in range(10)], [b"1"] * 10)


class Hostile(HandlerTest):
    def test_nothing_is_left_of_another_request(self):
        server = self.serve_handler()
        self.assertEqual([self.ask(server, "count").body for _ in range(3)], [b"1", b"1", b"1"])

    def test_what_never_ends_has_a_deadline(self):
        server = self.for_two(self.serve_handler, "--max-body", "1G")
        for what in ("loop", "sleep", "open-sleep"):
            self.check_answer(server.request("GET", f"/h/{what}", headers=HURRIED), 504, "was not done within 200 ms")
        self.ask(server, "show")
        self.log_of(server)

    def test_an_answer_that_is_whole_is_sent_whatever_comes_after(self):
        server = self.serve_handler("--timeout", "10m")
        for what in ("trap-after", "sleep-after"):
            self.assertEqual(self.ask(server, what).body, b"whole")
            server.await_metrics("wasinn_guests 1")  # one that waits is ended at once
        self.log_of(server)
        self.assertEqual(self.ended_by_deadline(lambda server: server.request("GET", "/h/loop-after")).body, b"whole")

    def test_answers_that_are_none(self):
        server = self.serve_handler()
        for what, why in (
            ("trap", "it ended in a trap"),
            ("trap-within", "it ended in a trap"),
            ("exit?0", "it ended before its answer was complete"),
            ("exit?3", "it ended before its answer was complete"),
            ("none", "it gave no answer"),
            ("left", "it ended before its answer was complete"),
            ("open", "it ended before its answer was complete"),
            ("error?why", "InternalError(Some(\"why\"))"),
            ("short", "it broke off its answer"),
            ("short-dropped", "it broke off its answer"),
            ("no-body", "its Content-Length is 10, and its body has 0 bytes"),
            ("status?100", "not a known one from 200 on"),
            ("status?299", "not a known one from 200 on"),
            ("two-types", "two headers Content-Type"),
            ("many-headers", "more than 128 headers"),
            ("large-header", "its header has more than 16384 bytes"),
        ):
            self.check_answer(server.request("GET", f"/h/{what}"), 502, why)
        self.ask(server, "show")
        self.assertIn("guest '/h'", self.log_of(server))

    def test_headers_of_the_connection_are_the_servers(self):
        answer = self.ask(self.serve_handler(), "forbidden")
        self.assertEqual(answer.body, b"[] false")
        self.assertEqual((answer.headers["TE"], answer.headers["Trailer"]), (None, None))

    def test_an_endless_answer_is_cut_off(self):
        server = self.serve_handler("--max-body", "1M")
        self.check_answer(server.request("GET", "/h/flood"), 502, "wrote more than 1048576 bytes")
        self.check_answer(server.request("POST", "/h/echo", bytes(2 << 20)), 413)

    def test_answers_are_held_within_the_servers_memory(self):
        server = self.serve_handler("--max-memory-in-flight", "4M")
        self.check_answer(server.request("GET", "/h/flood"), 429)
        self.ask(server, "show")

    def test_memory_has_a_limit(self):
        server = self.serve_handler("--max-memory", "32M")
        self.assertLess(int(self.ask(server, "memory").body), 32 << 20)
        too_small = self.serve_handler("--max-memory", "64k")
        self.check_answer(too_small.request("GET", "/h/show"), 500, "could not run")
        self.assertIn("over the limit of 65536", self.log_of(too_small))

    def test_the_hosts_memory_has_limits(self):
        server = self.serve_handler()
        before = self.most_memory(server)
        for what in ("resources", "bodies", "endless-headers"):
            self.check_answer(server.request("GET", f"/h/{what}"), 502, "it ended in a trap")
        self.assertEqual(self.ask(server, "words").body, b"[false, false, false, false, true, true]")
        self.assertLess(self.most_memory(server) - before, 256 << 10)
        self.log_of(server)

    def test_the_host_copies_no_more_than_the_guest_may_have(self):
        server = self.serve_handler("--max-memory", "64M")
        self.ask(server, "show")
        before = self.most_memory(server)
        self.check_answer(server.request("GET", "/h/copies"), 502, "it ended in a trap")
        self.assertLess(self.most_memory(server) - before, 200 << 10)  # Wasmtime's own guard is 128 MiB
        self.log_of(server)

    def test_a_client_that_is_gone_ends_its_guest(self):
        self.expect_ends_with_its_client("loop", "sleep", "open-sleep")

    def test_a_guest_that_sleeps_at_the_end_of_the_server_has_its_deadline(self):
        for timeout in longer_and_longer():
            server = self.serve_handler("--timeout", f"{timeout}ms")
            with server.socket() as client:
                client.sendall(b"GET /h/sleep HTTP/1.1\r\nHost: h\r\n\r\n")
                until(lambda: "wasinn_guests 2" in server.metrics() or self.is_answered(client))  # one is the models'
                server.begin_to_end()
                was_early = self.is_answered(client)
                self.assertIn(b" 504 ", client.makefile("rb").readline())
            self.assertEqual(server.wait()[0], 0)
            if not was_early:
                break

    def is_answered(self, client):
        return select.select([client], [], [], 0)[0] != []

    def test_fuel_has_an_end(self):
        server = self.serve_handler("--fuel", "100000000", "--timeout", "60s")
        self.check_answer(server.request("GET", "/h/loop"), 502, "it ended in a trap")
        self.ask(server, "show")
        self.assertIn("fuel", self.log_of(server))


class Outside(HandlerTest):
    """A guest reaches only its client and its models, and the origins in outbound_test.py."""

    def test_there_are_no_sockets_and_no_folders(self):
        answer = self.ask(self.serve_handler(), "outside").body.decode()
        self.assertEqual(answer.count("access-denied"), 2, answer)
        self.assertTrue(answer.endswith(" 0"), answer)


class Mistakes(HandlerTest):
    def test_components_that_are_none(self):
        command = '(component (core module $m (func (export "f"))))'
        missing = """(component
          (import "wasi:keyvalue/store@0.2.0" (instance)))"""
        unknown = '(component (import "a:b/c" (instance (export "f" (func)))))'
        for name, text, why in (
            ("empty", "(component)", "exports neither wasi:http/handler@0.3 nor wasi:http/incoming-handler@0.2"),
            ("command", command, "exports neither wasi:http/handler@0.3 nor wasi:http/incoming-handler@0.2"),
            ("missing", missing, "imports `wasi:keyvalue/store@0.2.0`"),
            ("unknown", unknown, "exports neither wasi:http/handler@0.3 nor wasi:http/incoming-handler@0.2"),
        ):
            self.assertIn(why, self.refused("--route", f"/x={self.file(name + '.wat', text)}"))

    def test_a_handler_is_no_command(self):
        done = self.wasinn("run", str(HANDLER))
        self.assertEqual(done.code, 125, done)
        self.assertIn("HTTP of WASI", done.err)


@unittest.skipUnless("WASINN_MODELS" in os.environ, "the build has no ONNX Runtime")
class Models(ServeTest):
    """examples/classify-handler next to examples/classify-route."""

    def test_both_say_the_same(self):
        root = pathlib.Path(os.environ["WASINN_MODELS"]).parent
        self.env["WASINN_CONFIG"] = ""
        routes = [f"--route=/program={GUESTS}/classify_route.wasm", f"--route=/component={GUESTS}/classify-handler.component.wasm"]
        server = self.serve("--model", f"digits={root}/models/digits.onnx", *routes)
        images = sorted((root / "examples/classify/images").glob("*.png"))
        self.assertEqual(len(images), 6)
        for image in images:
            by_component, by_program = (server.request("POST", path, image.read_bytes()) for path in ("/component", "/program"))
            self.assertEqual((by_component.status, by_component.body), (200, by_program.body), image)
            scores = by_program.json()["scores"]
            self.assertEqual(scores.index(max(scores)), int(image.stem[-1]), image)
        for path, text in (("/component", "not a PNG image"), ("/program", "not a PNG or JPEG image")):
            self.check_answer(server.request("POST", path, b"none"), 400, text)
            self.check_answer(server.request("GET", path), 405)
