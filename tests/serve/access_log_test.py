"""The access log's lines about requests, and how traces go on."""

import json
import os
import re
import signal

from routes_test import guest
from server import BODY, MODEL, RUNNING, WAIT, ServeTest, head, json_lines, read_all, until

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


class LogTest(ServeTest):
    def serve_logged(self, *flags, **more):
        return self.serve("--access-log", "access.log", *flags, **{"models": {"m": MODEL}, **more})

    def lines(self, n, name="access.log"):
        """Lines of JSON, once there are so many."""
        lines = until(lambda: len(reported := json_lines(self.dir / name)) >= n and reported)
        self.assertEqual(len(lines), n, lines)
        return lines


class Lines(LogTest):
    def test_an_inference(self):
        server = self.serve_logged()
        answer = server.request("POST", "/v2/models/m/infer?a=b", BODY, {"User-Agent": "a test"})
        self.check_answer(answer, 200)
        [line] = self.lines(1)
        reported = {name: line[name] for name in ("protocol", "method", "target", "status", "model", "user_agent")}
        self.assertEqual(
            reported,
            {
                "protocol": "HTTP/1.1",
                "method": "POST",
                "target": "/v2/models/m/infer?a=b",
                "status": 200,
                "model": "m",
                "user_agent": "a test",
            },
        )
        self.assertRegex(line["time"], f"^{TIME}$")
        self.assertRegex(line["peer"], r"^127\.0\.0\.1:\d+$")
        self.assertRegex(line["trace_id"], "^[0-9a-f]{32}$")
        self.assertRegex(line["span_id"], "^[0-9a-f]{16}$")
        self.assertGreater(line["bytes_in"], len(BODY))
        self.assertGreater(line["bytes_out"], len(answer.body))
        self.assertGreater(line["duration_us"], 0)
        self.assertFalse({"tenant", "parent_id", "complete", "messages"} & set(line))

    def test_each_request_has_one(self):
        server = self.serve_logged("--max-body", "1000")
        server.request("GET", "/nothing")
        server.request("GET", "/metrics", port=server.metrics_port)
        server.request("POST", "/v2/models/none/infer", BODY)
        server.request("POST", "/v2/models/m/infer", b"{")
        server.request("POST", "/v2/models/m/infer", b" " * 2000)
        server.request("POST", "/v2/repository/models/m/unload")
        with server.socket() as connection:
            connection.sendall(b"nonsense\r\n\r\n")
            read_all(connection)
        with server.socket() as connection:
            connection.sendall(b"GET /v2 HTTP/1.0\r\n\r\n" * 2)
            read_all(connection)
        with server.socket():
            pass  # which asks nothing
        reported = [(line["method"], line["target"], line["status"], line.get("model")) for line in self.lines(8)]
        self.assertCountEqual(reported, [("GET", "/nothing", 404, None), ("GET", "/metrics", 200, None),
                                ("POST", "/v2/models/none/infer", 404, "none"), ("POST", "/v2/models/m/infer", 400, "m"),
                                ("POST", "/v2/models/m/infer", 413, None),
                                ("POST", "/v2/repository/models/m/unload", 200, "m"), ("", "", 400, None),
                                ("GET", "/v2", 200, None)])

    def test_clients_that_are_gone(self):
        server = self.serve_logged(models={"m": MODEL + "turns 8\ndelay 60000\n"})
        with server.socket() as connection:
            connection.sendall(head(1000) + b"half")
        [line] = self.lines(1)
        self.assertEqual((line["target"], line["status"], line["complete"]), ("/v2/models/m/infer", None, False))
        with server.socket() as connection:
            connection.sendall(head(len(BODY)) + BODY)
            server.await_metrics(f"{RUNNING} 1")
        until(lambda: any(line["target"] == "/v2/models/m/infer" and line["status"] for line in json_lines(self.dir / "access.log")))

    def test_strings_of_clients(self):
        server = self.serve_logged()
        hostile = b'/v2/models/a"b\\c\xff\xc3' + b"'<script>" * 1000
        agent = b'"}\\n{"time": 1}\t\xff\xf0\x9f' + b"\xf0\x9f\x98\x80" * 500
        with server.socket() as connection:
            connection.sendall(b"GET " + hostile + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\nUser-Agent: " + agent + b"\r\n\r\n")
            read_all(connection)
        with server.socket() as connection:
            connection.sendall(b"X" * 8000 + b" / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            read_all(connection)
        first, second = self.lines(2)
        self.assertTrue(first["target"].startswith('/v2/models/a"b\\c\ufffd'), first)
        self.assertTrue(first["target"].endswith("...") and len(first["target"]) < 1100, first)
        self.assertTrue(first["user_agent"].startswith('"}\\n{"time": 1}\t\ufffd'), first)
        self.assertLess(len(first["user_agent"]), 300)
        self.assertLess(len(second["method"]), 300)


class Files(LogTest):
    def test_one_that_was_moved_away(self):
        server = self.serve_logged()
        server.request("GET", "/v2")
        self.lines(1)
        os.rename(self.dir / "access.log", self.dir / "old.log")
        server.request("GET", "/v2")
        self.lines(2, "old.log")
        server.process.send_signal(signal.SIGHUP)
        server.await_line("wasinn: info: access log: read again\n")
        until((self.dir / "access.log").exists)
        server.request("GET", "/nothing")
        self.assertEqual([line["status"] for line in self.lines(1)], [404])
        self.lines(2, "old.log")

    def test_it_is_written_at_the_end(self):
        server = self.serve_logged()
        for _ in range(50):
            server.request("GET", "/v2")
        server.stop()
        self.lines(50)

    def test_standard_output(self):
        server = self.serve("--access-log", "-", models={"m": MODEL})
        server.request("GET", "/nothing")
        self.assertEqual(json.loads(server.process.stdout.readline())["status"], 404)

    def test_standard_output_that_is_closed(self):
        server = self.serve("--access-log", "-", models={"m": MODEL})
        server.process.stdout.close()  # and expect_end asks nothing of it
        self.addCleanup(server.process.stderr.close)
        self.expect_service(server)
        self.assertIn("cannot write to the access log: Broken pipe", server.process.stderr.readline().decode())
        self.expect_service(server)
        server.process.send_signal(signal.SIGTERM)
        server.process.stderr.read()
        self.assertEqual(server.process.wait(WAIT), 0)

    def test_what_cannot_be_opened(self):
        for name, why in ((".", "Is a directory"), ("none/log", "No such file"), ("fifo", "No such device")):
            if name == "fifo":
                os.mkfifo(self.dir / name)
            flags = ("--http-port", "0", "--no-metrics", "--access-log", name)
            self.check_error(self.wasinn("serve", *flags), f"cannot open the access log '{name}': {why}")


class Traces(LogTest):
    def ask(self, server, *headers):
        with server.socket() as connection:
            lines = "".join(f"{header}\r\n" for header in headers)
            connection.sendall(f"GET /v2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{lines}\r\n".encode())
            return re.findall(r"\r\n(?i:traceparent): (\S+)", read_all(connection).decode())

    def test_one_that_goes_on(self):
        server = self.serve_logged()
        [reported] = self.ask(server, f"traceparent: {PARENT}")
        [line] = self.lines(1)
        self.assertEqual((line["trace_id"], line["parent_id"]), (TRACE, SPAN))
        self.assertNotEqual(line["span_id"], SPAN)
        self.assertEqual(reported, f"00-{TRACE}-{line['span_id']}-01")

    def test_of_errors(self):
        server = self.serve_logged("--max-body", "10")
        answer = server.request("POST", "/v2/models/m/infer", b" " * 20, {"traceparent": PARENT})
        self.check_answer(answer, 413)
        self.assertIn(TRACE, answer.headers["traceparent"])

    def test_guests_go_on_with_it(self):
        path = self.file(
            "show.wat", guest("(call $say (i32.const 1)) (call $environment)", b"Content-Type: text/plain\n\n")
        )
        server = self.serve_logged("--route", f"/show={path}")
        state = "a=" + "1" * 300 + ",b=" + "2" * 300
        for sent, continued in (({"traceparent": PARENT, "tracestate": state}, True), ({"traceparent": "junk", "tracestate": state}, False)):
            answer = server.request("GET", "/show", headers=sent)
            self.assertEqual(answer.status, 200, answer)
            reported = dict(one.split("=", 1) for one in answer.body.decode().strip("\0").split("\0"))
            line = self.lines(2 - continued)[-1]
            flags = "01" if continued else "00"
            self.assertEqual(reported["HTTP_TRACEPARENT"], f"00-{line['trace_id']}-{line['span_id']}-{flags}")
            self.assertEqual(reported.get("HTTP_TRACESTATE"), "a=" + "1" * 300 if continued else None)
            self.assertEqual(line["trace_id"] == TRACE, continued)
