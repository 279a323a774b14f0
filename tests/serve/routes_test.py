"""Guests behind paths: the requests that they see, their answers, and attacks on the server."""

import os
import struct

from configured import HURRIED, ConfiguredTest
from server import json_lines, until

# Reads stdin to its end, and environment variables, into memory from 64 KiB on; `$body` and `$environment` write them.
WASI = """
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $environ (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 32)
  (func $write (param $to i32) (param $from i32) (param $size i32) (result i32)
    (i32.store (i32.const 0) (local.get $from))
    (i32.store (i32.const 4) (local.get $size))
    (call $fd_write (local.get $to) (i32.const 0) (i32.const 1) (i32.const 8)))
  (func $body (local $n i32)
    (loop $more
      (i32.store (i32.const 0) (i32.const 65536))
      (i32.store (i32.const 4) (i32.const 65536))
      (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 12)))
      (local.set $n (i32.load (i32.const 12)))
      (if (local.get $n) (then
        (drop (call $write (i32.const 1) (i32.const 65536) (local.get $n)))
        (br $more)))))
  (func $environment
    (drop (call $sizes (i32.const 0) (i32.const 4)))
    (drop (call $environ (i32.const 32768) (i32.const 65536)))
    (drop (call $write (i32.const 1) (i32.const 65536) (i32.load (i32.const 4)))))
  (func $say (param $to i32)
    (drop (call $write (local.get $to) (i32.const 1024) (i32.const SIZE))))
"""


def guest(code, text=b""):
    """A program of this code; `(call $say (i32.const 1))` writes the text to stdout."""
    data = "".join(f"\\{byte:02x}" for byte in text)
    wasi = WASI.replace("SIZE", str(len(text)))
    return f'(module {wasi} (data (i32.const 1024) "{data}") (func (export "_start") {code}))'


def saying(text, then=""):
    return guest(f"(call $say (i32.const 1)) {then}", text)


PLAIN = b"Content-Type: text/plain\n\n"
LOOP = "(loop $ever (br $ever))"
THREADS = """(module (import "wasi" "thread-spawn" (func (param i32) (result i32)))
  (import "env" "memory" (memory 1 1 shared)) (export "memory" (memory 0))
  (func (export "wasi_thread_start") (param i32 i32)) (func (export "_start")))"""
# Waits for itself, and for ever: no thread is needed for that.
SHARED = """(module (memory (export "memory") 1 1 shared)
  (func (export "_start") (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1)))))"""
# Sleeps for an hour: one subscription, to the clock since 1970.
SLEEP = """(i64.store (i32.const 224) (i64.const 3600000000000))
  (drop (call $poll (i32.const 200) (i32.const 300) (i32.const 1) (i32.const 100)))"""
# Writes until it may write no more.
FLOOD = """(call $say (i32.const 1))
  (loop $ever (br_if $ever (i32.eqz (call $write (i32.const 1) (i32.const 65536) (i32.const 65536)))))"""


class RouteTest(ConfiguredTest):
    def serve_guests(self, *flags, models=None, **guests):
        """Each by its name, with "_" for "/"."""
        for name, text in guests.items():
            flags = (*flags, "--route", f"/{name.replace('_', '/')}={self.file(name + '.wat', text)}")
        return self.serve(*flags, models=models)

    def raw(self, server, request):
        """Its first line of an answer to bytes."""
        with server.socket() as client:
            client.sendall(request)
            return client.makefile("rb").readline().decode()


class Requests(RouteTest):
    def test_the_body_is_stdin(self):
        server = self.serve_guests(echo=saying(PLAIN, "(call $body)"))
        body = os.urandom(3 << 20)
        answer = server.request("POST", "/echo", body)
        self.assertEqual((answer.status, answer.body, answer.headers["Content-Type"]), (200, body, "text/plain"))
        self.assertEqual(server.request("GET", "/echo").body, b"")
        head = server.request("HEAD", "/echo")
        self.assertEqual((head.status, head.body), (200, b""))

    def variables(self, server, path, headers=(), body=None):
        answer = server.request("POST" if body else "GET", path, body, dict(headers))
        self.assertEqual(answer.status, 200, answer)
        return dict(line.split("=", 1) for line in answer.body.decode().split("\0") if line)

    def test_the_request_is_in_the_environment(self):
        server = self.serve_guests(a_b=saying(PLAIN, "(call $environment)"))
        headers = {"X-Trace": "7", "Content-Type": "a/b", "Host": "models.example:81", "Proxy": "evil:1", "X_Trace": "8"}
        reported = self.variables(server, "/a/b/c%20d/e/?x=1&y=%20", headers, b"hello")
        expected = {
            "GATEWAY_INTERFACE": "CGI/1.1",
            "SERVER_NAME": "models.example",
            "SERVER_PORT": str(server.port),
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "REQUEST_METHOD": "POST",
            "SCRIPT_NAME": "/a/b",
            "PATH_INFO": "/c d/e",
            "QUERY_STRING": "x=1&y=%20",
            "CONTENT_LENGTH": "5",
            "CONTENT_TYPE": "a/b",
            "HTTP_X_TRACE": "7",
            "HTTP_HOST": "models.example:81",
        }
        self.assertEqual({name: reported.get(name) for name in expected}, expected)
        self.assertFalse({"HTTP_PROXY", "HTTP_CONTENT_TYPE", "HOME", "PATH"} & set(reported))

    def test_headers_that_come_twice_are_one_variable(self):
        server = self.serve_guests(a=saying(PLAIN, "(call $environment)"))
        with server.socket() as client:
            client.sendall(b"GET /a HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nX-A: 2\r\nCookie: a=1\r\nCookie: b=2\r\nConnection: close\r\n\r\n")
            reported = client.makefile("rb").read()
        self.assertIn(b"\0HTTP_COOKIE=a=1; b=2\0", reported)
        self.assertIn(b"\0HTTP_X_A=1, 2\0", reported)

    def test_the_longest_route_answers(self):
        routes = {name: saying(PLAIN + name.encode()) for name in ("a", "a_b", "c")}
        server = self.serve_guests(**routes)
        for path, expected in (("/a", b"a"), ("/a/c", b"a"), ("/a/b/", b"a_b"), ("/a/b/c", b"a_b"), ("/c?x", b"c")):
            self.assertEqual(server.request("GET", path).body, expected, path)
        for path in ("/ab", "/b"):
            self.assertEqual(server.request("GET", path).status, 404, path)
        self.check_answer(server.request("GET", "/v2/health/live"), 200)

    def test_the_root_leaves_the_models_alone(self):
        file = self.file("root.wat", saying(PLAIN, "(call $environment)"))
        server = self.serve("--route", f"/={file}", models={"m": "in x f32 1\n"})
        reported = self.variables(server, "/x/y")
        self.assertEqual((reported["SCRIPT_NAME"], reported["PATH_INFO"]), ("", "/x/y"))
        self.check_answer(server.request("GET", "/v2/models/m/ready"), 200)
        self.check_answer(server.request("GET", "/v2/models/no/ready"), 404)

    def test_requests_that_could_mean_two_things(self):
        server = self.serve_guests(a=saying(PLAIN))
        for line in (b"X-A: \xff", b"Content-Type: \xff", b"Host: i", b"Content-Type: a/b\r\nContent-Type: c/d"):
            answer = self.raw(server, b"GET /a HTTP/1.1\r\nHost: h\r\n" + line + b"\r\n\r\n")
            self.assertIn(" 400 ", answer, line)
        chunked = b"POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
        self.assertIn(" 400 ", self.raw(server, chunked + b"X-User: admin\r\n\r\n"))
        self.assertIn(" 200 ", self.raw(server, chunked + b"\r\n"))
        self.assertIn(" 405 ", self.raw(server, b"CONNECT /a HTTP/1.1\r\nHost: h\r\n\r\n"))

    def test_guests_do_not_see_how_a_body_travelled(self):
        server = self.serve_guests(a=saying(PLAIN, "(call $environment)"))
        request = b"POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTE: x\r\nConnection: close\r\n\r\n"
        with server.socket() as client:
            client.sendall(request + b"3\r\nabc\r\n0\r\n\r\n")
            reported = client.makefile("rb").read()
        self.assertIn(b"CONTENT_LENGTH=3\0", reported)
        for name in (b"HTTP_TRANSFER_ENCODING", b"HTTP_CONNECTION", b"HTTP_TE"):
            self.assertNotIn(name, reported)


class Paths(RouteTest):
    """A guest guards a path under its one name, and no other name leads past the guest."""

    AT_ROOT = {"/completion": "/completion", "/completions": "/completion", "/rerank": "/rerank", "/reranking": "/rerank",
               **{path: path for path in ("/chat/completions", "/chat/completions/input_tokens", "/responses", "/responses/input_tokens",
                                          "/models", "/tokenize", "/detokenize", "/apply-template")}}

    def serve_v1(self, *paths):
        """Guests that show their paths."""
        file = self.file("shows.wat", saying(PLAIN, "(call $environment)"))
        return self.serve("--access-log", "access.log", *(flag for path in paths for flag in ("--route", f"{path}={file}")))

    def path_of(self, server, path, method="POST"):
        answer = server.request(method, path, "{}" if method == "POST" else None)
        self.assertEqual(answer.status, 200, (path, answer))
        variables = dict(one.split("=", 1) for one in answer.body.decode().strip("\0").split("\0"))
        return variables["SCRIPT_NAME"] + variables["PATH_INFO"]

    def test_names_at_the_root_are_those_under_v1(self):
        server = self.serve_v1("/v1")
        for path, name in self.AT_ROOT.items():
            self.assertEqual(self.path_of(server, path), "/v1" + name)
            self.assertEqual(self.path_of(server, path + "?x=1", "GET"), "/v1" + name)
        until(lambda: len(json_lines(self.dir / "access.log")) == 2 * len(self.AT_ROOT))
        self.assertEqual({one["target"].split("?")[0] for one in json_lines(self.dir / "access.log")},
                         {"/v1" + name for name in self.AT_ROOT.values()})

    def test_so_they_have_the_guest_of_one_path(self):
        server = self.serve_v1("/v1/chat/completions")
        self.assertEqual(self.path_of(server, "/chat/completions"), "/v1/chat/completions")
        self.assertIn("error", server.request("POST", "/completion", "{}").json())

    def test_a_route_at_the_root_keeps_its_name(self):
        server = self.serve_v1("/v1", "/models")
        self.assertEqual(self.path_of(server, "/models"), "/models")
        self.assertEqual(self.path_of(server, "/tokenize"), "/v1/tokenize")

    def test_each_spelling_of_a_path_is_one_path(self):
        server = self.serve_v1("/v1")
        for path in ("/v1/chat/completions/", "/%761/chat/completions", "/v1/%63hat/completion%73", "/%63ompletion", "/tok%65nize"):
            self.assertTrue(self.path_of(server, path).startswith("/v1/"), path)
        self.assertEqual(self.path_of(server, "/v1/a%252fb%C3%BC"), "/v1/a%2fbü")

    def test_a_path_that_could_mean_two_things_is_refused(self):
        """Whether there is a guest, a model, or nothing behind it."""
        server = self.serve_v1("/v1")
        for path in ("/v1/./chat/completions", "/./v1/chat/completions", "/v1/../v1/chat/completions", "/x/../v1/models", "/v1/chat/..", "/v1/.",
                     "//v1/chat/completions", "/v1//chat/completions", "//chat/completions", "/v1/chat/completions//", "/v1%2fchat/completions",
                     "/v1/chat%2Fcompletions", "/v1%5cchat", "/v1/chat%5Ccompletions", "/v1/%2e/chat/completions", "/%2e%2E/v1/models",
                     "/v1/.%2e/completion", "/v1/chat%2ecompletions", "/v1/a%00", "/v1/a%0d%0aX", "/v1/%ff", "/v2/./models", "/v2//models/m/infer",
                     "/v2/models/m%2finfer", "/v2/models/../health/live", "/x/../wasinn/state", "/wasinn//state", "/nothing/./here"):
            for method in ("GET", "POST"):
                answer = server.request(method, path, "{}" if method == "POST" else None)
                self.assertEqual(answer.status, 400, (path, answer))
                self.assertIn("path", str(answer.json()["error"]))
        for path in ("http://h/v1/models", "*", "v1/models"):
            self.assertIn(" 400 ", self.raw(server, f"GET {path} HTTP/1.1\r\nHost: h\r\n\r\n".encode()), path)
        self.assertEqual(self.path_of(server, "/v1/x?a=/../b//c%2f"), "/v1/x")


class Answers(RouteTest):
    def answer(self, text, method="GET"):
        name = f"g{len(os.listdir(self.dir))}"
        return self.serve_guests(**{name: saying(text)}).request(method, f"/{name}")

    def test_header_and_body(self):
        answer = self.answer(b"Status: 404 Gone\r\nContent-Type: a/b\r\nX-A: 1\r\nX-A: 2\r\n\r\n\n\nbody")
        self.assertEqual((answer.status, answer.body), (404, b"\n\nbody"))
        self.assertEqual((answer.headers["Content-Type"], answer.headers.get_all("X-A")), ("a/b", ["1", "2"]))

    def test_a_location_is_a_redirection(self):
        answer = self.answer(b"Location: /elsewhere\n\n")
        self.assertEqual((answer.status, answer.headers["Location"], answer.headers["Content-Type"]), (302, "/elsewhere", None))

    def test_what_is_the_connections_is_not_the_guests(self):
        text = PLAIN[:-1] + b"Content-Length: 900\nTransfer-Encoding: chunked\nConnection: upgrade\n\nabc"
        answer = self.answer(text)
        self.assertEqual((answer.body, answer.headers["Content-Length"]), (b"abc", "3"))
        self.assertEqual((answer.headers["Transfer-Encoding"], answer.headers["Connection"]), (None, None))

    def test_no_content_has_none(self):
        answer = self.answer(b"Status: 204\nContent-Type: a/b\n\nabc")
        self.assertEqual((answer.status, answer.body, answer.headers["Content-Length"]), (204, b"", None))

    def test_mistakes(self):
        server = self.serve_guests(**{f"g{i}": saying(text) for i, (text, _) in enumerate(self.MISTAKES)})
        for i, (text, why) in enumerate(self.MISTAKES):
            self.check_answer(server.request("GET", f"/g{i}"), 502, why)

    MISTAKES = (
        (b"", "no header"),
        (b"\nabc", "has no Content-Type, Status or Location"),
        (PLAIN[:-1] + b"abc", "no header"),
        (b"Status: 200\n\nabc", "says no Content-Type"),
        (b"hello\n\n", "has no colon"),
        (b"A b: c\n\n", "a line of its header is not valid"),
        (b"X-A: a\rX-B: b\n\n", "a line of its header is not valid"),
        (b"Status: 101\n\n", "not a known one"),
        (b"Status: 2000\n\n", "not a known one"),
        (b"Status: 99999999999\n\n", "not a known one"),
        (b"Status: abc\n\n", "not a known one"),
        (b"Status: 200\nStatus: 200\n\n", "two headers Status"),
        (b"X: " + 70000 * b"a" + b"\n" + PLAIN, "no header"),
        (200 * b"X-A: 1\n" + PLAIN, "more than 128 headers"),
    )


class Hostile(RouteTest):
    def test_what_never_ends_has_a_deadline(self):
        server = self.for_two(self.serve_guests, loop=guest(LOOP), sleep=saying(PLAIN, SLEEP), good=saying(PLAIN + b"hi"))
        for path in ("/loop", "/sleep"):
            self.check_answer(server.request("GET", path, headers=HURRIED), 504, "was not done within 200 ms")
        self.assertEqual(server.request("GET", "/good").body, b"hi")
        self.assertIn("guest '/loop'", self.log_of(server))

    def test_a_trap_and_an_exit_code(self):
        server = self.serve_guests(trap=saying(PLAIN, "unreachable"), exits=saying(PLAIN + b"hi", "(call $exit (i32.const 3))"),
                                   fails=saying(PLAIN, "(call $exit (i32.const 200))"))
        self.check_answer(server.request("GET", "/trap"), 502, "it ended in a trap")
        answer = server.request("GET", "/exits")
        self.assertEqual((answer.status, answer.body), (200, b"hi"))
        self.check_answer(server.request("GET", "/fails"), 500, "could not run")  # WASI has no such code
        self.assertIn("guest '/trap'", self.log_of(server))

    def test_an_endless_answer_is_cut_off(self):
        server = self.serve_guests("--max-body", "1M", flood=guest(FLOOD, PLAIN))
        self.check_answer(server.request("GET", "/flood"), 502, "wrote more than 1048576 bytes")
        self.check_answer(server.request("POST", "/flood", bytes(2 << 20)), 413)

    def test_answers_are_held_within_the_servers_memory(self):
        server = self.serve_guests("--max-memory-in-flight", "4M", flood=guest(FLOOD, PLAIN), good=saying(PLAIN + b"hi"))
        self.check_answer(server.request("GET", "/flood"), 429)
        self.assertEqual(server.request("GET", "/good").body, b"hi")

    def test_memories_and_tables_have_a_limit(self):
        # Asks for 20 MiB or for a million elements, and says "no" if it gets none.
        code = """(call $say (i32.const 1))
          (if (i32.eq (%s) (i32.const -1)) (then
            (i32.store16 (i32.const 100) (i32.const 0x6f6e)) (drop (call $write (i32.const 1) (i32.const 100) (i32.const 2)))))"""
        memory, table = "memory.grow (i32.const 320)", "table.grow $t (ref.null func) (i32.const 1000000)"
        for ask, flags, answer in ((memory, (), b""), (memory, ("--max-memory", "16M"), b"no"),
                                   (table, (), b"no"), (table, ("--max-table-elements", "1000001"), b"")):
            grows = guest(code % ask, PLAIN).removesuffix(")") + "(table $t 1 funcref))"
            self.assertEqual(self.serve_guests(*flags, grows=grows).request("GET", "/grows").body, answer, (ask, flags))

    def test_tables_count_for_the_limit_of_memory(self):
        code = """(call $say (i32.const 1))
          (if (i32.eq (table.grow $t (ref.null func) (i32.const 200000)) (i32.const -1)) (then
            (i32.store16 (i32.const 100) (i32.const 0x6f6e)) (drop (call $write (i32.const 1) (i32.const 100) (i32.const 2)))))"""
        for tables, answer in ((1, b""), (2, b"no"), (100, b"no")):
            grows = guest(code, PLAIN).removesuffix(")") + "(table $t 1 funcref)" + "(table 1 externref)" * (tables - 1) + ")"
            self.assertEqual(self.serve_guests("--max-memory", "16M", grows=grows).request("GET", "/grows").body, answer, tables)

    def test_nothing_is_left_of_another_request(self):
        # Counts its runs in memory, from "0" on.
        code = """(i32.store8 (i32.const 100) (i32.add (i32.load8_u (i32.const 100)) (i32.const 49)))
          (call $say (i32.const 1)) (drop (call $write (i32.const 1) (i32.const 100) (i32.const 1)))"""
        server = self.serve_guests(counts=guest(code, PLAIN))
        self.assertEqual([server.request("GET", "/counts").body for _ in range(3)], [b"1", b"1", b"1"])

    def test_a_client_that_is_gone_ends_its_guest(self):
        server = self.serve_guests("--timeout", "60s", loop=guest(LOOP), sleep=guest(SLEEP))
        for path in ("/loop", "/sleep"):
            self.begin(server, path).close()
            server.await_metrics("wasinn_guests 1")
        self.assertEqual(self.log_of(server).count("\n"), 2)

    def test_what_a_guest_may_wait_for(self):
        # Subscribes to: a file that is not open, stdin, stdout and a clock. Writes the number of events, and the events.
        code = """(i32.store8 (i32.const 208) (i32.const 1)) (i32.store (i32.const 216) (i32.const 7))
          (i32.store8 (i32.const 256) (i32.const 1))
          (i32.store8 (i32.const 304) (i32.const 2)) (i32.store (i32.const 312) (i32.const 1))
          (i64.store (i32.const 376) (i64.const 1000))
          (call $say (i32.const 1))
          (if (call $poll (i32.const 200) (i32.const 400) (i32.const 4) (i32.const 396)) (then unreachable))
          (drop (call $write (i32.const 1) (i32.const 396) (i32.const 100)))
          (if (i32.ne (call $poll (i32.const 200) (i32.const 400) (i32.const 0) (i32.const 396)) (i32.const 28)) (then unreachable))
          (if (i32.ne (call $poll (i32.const -8) (i32.const 400) (i32.const 1) (i32.const 396)) (i32.const 21)) (then unreachable))
          (if (i32.ne (call $poll (i32.const 200) (i32.const -8) (i32.const 1) (i32.const 396)) (i32.const 21)) (then unreachable))
          (if (i32.ne (call $poll (i32.const 200) (i32.const 400) (i32.const 1) (i32.const -2)) (i32.const 21)) (then unreachable))"""
        server = self.serve_guests(polls=guest(code, PLAIN))
        events = server.request("GET", "/polls").body
        self.assertEqual((len(events), events[0]), (100, 3), events)
        reported = [struct.unpack_from("<HB", events, 4 + 32 * i + 8) for i in range(3)]
        self.assertEqual(reported, [(8, 1), (0, 1), (0, 2)])

    def test_guests_hold_up_no_model(self):
        models = {"m": "in x f32 1\n"}
        server = self.serve_guests("--timeout", "60s", "--max-waiting", "1", models=models, loop=guest(LOOP))
        client = self.begin(server, "/loop")
        self.check_answer(server.request("GET", "/loop"), 429)
        one = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1], "data": [5]}]}
        self.check_answer(server.infer("m", one), 200)
        client.close()
        server.await_metrics("wasinn_guests 1")
        self.log_of(server)

    def test_what_a_guest_says_is_logged_within_limits(self):
        code = "(call $say (i32.const 1))" + 40 * "(call $say (i32.const 2))"
        server = self.serve_guests(talks=guest(code, PLAIN + b"a\x1b[31m\n"))
        self.assertEqual(server.request("GET", "/talks").status, 200)
        log = self.log_of(server)
        self.assertIn("guest '/talks': a\\x1b[31m", log)
        self.assertEqual(log.count("guest '/talks'"), 16)

    def test_the_log_has_no_more_than_an_operator_could_read(self):
        code = "(call $say (i32.const 1))" + 16 * "(call $say (i32.const 2))"
        server = self.serve_guests(talks=guest(code, PLAIN))
        for _ in range(20):
            server.request("GET", "/talks")
        self.assertLess(self.log_of(server).count("guest '/talks'"), 20 * 16)

    def test_the_end_waits_for_what_was_asked(self):
        server = self.serve_guests("--timeout", "1h", loop=guest(LOOP))
        client = self.begin(server, "/loop")
        server.begin_to_end()
        self.assertIsNone(server.process.poll())
        client.close()
        self.assertEqual(server.wait()[0], 0)


class Mistakes(RouteTest):
    def test_routes_that_are_none(self):
        good = self.file("good.wat", saying(PLAIN))
        for route, why in (
            ("x", "is not /PATH=FILE"),
            (f"x={good}", "does not begin with /"),
            (f"/x/={good}", "ends with /"),
            (f"/v2={good}", "is the models'"),
            (f"/v2/x={good}", "is the models'"),
            (f"/a//b={good}", "is not a path"),
            (f"/a/../b={good}", "is not a path"),
            ("/x=none.wat", "none.wat"),
            (f"/x={self.file('library.wat', '(module)')}", "it is a library"),
            (f"/x={self.file('component.wat', '(component)')}", "component"),
            (f"/x={self.file('threads.wat', THREADS)}", "the program has threads"),
            (f"/x={self.file('shared.wat', SHARED)}", "or a shared memory"),
        ):
            self.assertIn(why, self.refused("--route", route), route)
