"""Models in workers whose load does not end by itself: the server answers, reads its configuration again and ends nevertheless."""

import signal
import struct
import subprocess
import threading

from command import WAIT
from configured import OPERATOR, ConfiguredTest, key, tenant
from routes_test import PLAIN, guest
from server import BODY, MODEL, RUNNING

ENDLESS = MODEL + "deaf\nload_gate /nowhere\n"
SHORT = "isolate_models = true\n[limits]\nload_timeout_ms = 200\n"
LONG = "isolate_models = true\n[limits]\nload_timeout_ms = 3600000\n"


def escaped(*numbers):
    """u32s as the text of a data segment."""
    return "".join(f"\\{byte:02x}" for byte in struct.pack(f"<{len(numbers)}I", *numbers))


# DEADLY ends the worker at once, while others compute.
SHARED = MODEL + "turns 0\nshares\ndelay 300\ndeadly 66\n"
DEADLY = BODY.replace(b"[5]", b"[33]")  # 33 is 0x42040000, and 66 is 0x42
# Gives the model "m" the number of four bytes that its client sends, and traps unless it computes.
PASSES = (guest("""
  (i32.store (i32.const 0) (i32.const 2048)) (i32.store (i32.const 4) (i32.const 4))
  (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 12)))
  (if (call $load (i32.const 1100) (i32.const 1) (i32.const 1200)) (then unreachable))
  (if (call $init (i32.load (i32.const 1200)) (i32.const 1204)) (then unreachable))
  (if (call $set (i32.load (i32.const 1204)) (i32.const 0) (i32.const 1104)) (then unreachable))
  (if (call $compute (i32.load (i32.const 1204))) (then unreachable))
  (call $say (i32.const 1))""", PLAIN)
          .replace("(module", """(module
  (import "wasi_ephemeral_nn" "load_by_name" (func $load (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "init_execution_context" (func $init (param i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "set_input" (func $set (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "compute" (func $compute (param i32) (result i32)))""", 1)
          .replace("(func (export", f"""(data (i32.const 1100) "m")
  (data (i32.const 1104) "{escaped(1124, 1, 1, 2048, 4)}{escaped(1)}") (func (export""", 1))
STOPPED = "the load was stopped after 200 ms"


class Isolated(ConfiguredTest):
    def endless(self, more=""):
        return f"[models.endless]\npath = '{self.file('endless.gguf', 'GGUF' + chr(10) + ENDLESS)}'\n{more}"

    def infer(self, server, model, body=BODY, headers=None):
        return server.request("POST", f"/v2/models/{model}/infer", body, headers or {})

    def await_worker(self, server):
        server.await_metrics("wasinn_workers 1")

    def test_a_preload_ends_with_an_error(self):
        ended = self.wasinn("serve", "--http-port", "0", "--config", self.configure(SHORT + self.endless("preload = true\n")))
        self.assertEqual(ended.code, 125, ended)
        self.assertIn(f"wasinn: error: serve: model 'endless:1': {STOPPED}", ended.err)

    def test_a_request_ends_with_an_error_and_the_others_go_on(self):
        server = self.serve_file(SHORT + self.endless())
        answer = self.infer(server, "endless")
        self.assertGreaterEqual(answer.status, 500, answer)
        self.assertIn(STOPPED, answer.json()["error"])
        self.assertEqual(self.infer(server, "m").status, 200)
        self.assertIn(STOPPED, server.request("POST", "/v2/repository/models/endless/load").json()["error"])
        self.log_of(server)

    def test_a_configuration_that_preloads_it_is_refused_and_the_next_is_read(self):
        server = self.serve_file(SHORT)
        self.ask(server, SHORT + self.endless("preload = true\n"))
        server.await_line(STOPPED)
        self.reload(server, SHORT + self.endless())
        self.assertEqual(self.infer(server, "m").status, 200)
        self.log_of(server)

    def test_a_signal_that_comes_during_a_load_follows_it(self):
        server = self.serve_file(LONG)
        self.ask(server, LONG + self.endless("preload = true\n"))
        said = threading.Event()
        thread = threading.Thread(target=lambda: self.signal_until(said, server))
        thread.start()
        server.await_line("SIGHUP: waits for the last configuration")
        said.set()
        thread.join(WAIT)
        self.check_ends(server)

    def signal_until(self, said, server):
        """The first may not have been taken yet."""
        while not said.wait(0.05):
            server.process.send_signal(signal.SIGHUP)

    # Else for as long as requests may take, and a while more: 35 seconds.
    def check_ends(self, server):
        server.process.send_signal(signal.SIGTERM)
        try:
            self.assertEqual(server.process.wait(25), 0)
        except subprocess.TimeoutExpired:
            self.fail("the server waits for the load")
        server.wait()

    def test_the_server_ends_while_a_request_waits_for_it(self):
        server = self.serve_file(LONG + self.endless())
        asking = threading.Thread(target=lambda: self.infer(server, "endless"))
        asking.start()
        self.await_worker(server)
        self.check_ends(server)
        asking.join(WAIT)

    def check_who_is_beside(self, server, bad=None, good=None):
        """The answers to requests that end the worker, each of which has another request next to it."""
        answers = []
        for _ in range(4):
            beside = []
            thread = threading.Thread(target=lambda: beside.append(self.infer(server, "m", headers=good)))
            thread.start()
            server.await_metrics(f"{RUNNING} 1")
            answers.append(self.infer(server, "m", DEADLY, bad))
            thread.join(WAIT)
            self.assertEqual([answer.status for answer in beside], [200], beside)
        for answer in answers:
            self.assertGreaterEqual(answer.status, 500, answer)
        self.log_of(server)
        return answers

    def test_a_request_that_ends_the_worker_takes_no_other_with_it(self):
        answers = self.check_who_is_beside(self.serve_file("isolate_models = true\n", models={"m": SHARED}))
        self.assertTrue(answers[0].json()["error"].endswith("; send the request again"), answers)

    def test_a_tenant_that_ends_the_worker_again_and_again_waits_alone(self):
        tenants = tenant("bad") + tenant("good") + OPERATOR
        server = self.serve_file("isolate_models = true\n" + tenants, models={"m": SHARED})
        answers = self.check_who_is_beside(server, key("bad"), key("good"))
        self.assertTrue(any("calls of this guest ended its worker 3 times in a row" in answer.json()["error"] for answer in answers), answers)

    def serve_route(self, more):
        route = f"[routes.'/r']\nfile = '{self.file('passes.wat', PASSES)}'\n{more}\n"
        return self.serve_file("isolate_models = true\n" + route + tenant("bad") + tenant("good"), models={"m": MODEL + "deadly 66\n"})

    def test_a_tenant_that_ends_workers_through_a_route_waits_alone(self):
        server = self.serve_route("")
        for number in (33, 33, 33, 5):
            self.check_answer(server.request("POST", "/r", struct.pack("<f", number), key("bad")), 502)
        server.await_line("calls of this guest ended its worker 3 times in a row")
        self.check_answer(server.request("POST", "/r", struct.pack("<f", 5), key("good")), 200)
        self.log_of(server)

    def test_requests_without_a_key_do_not_count_as_one(self):
        server = self.serve_route("public = true")
        for _ in range(4):
            self.check_answer(server.request("POST", "/r", struct.pack("<f", 33)), 502)
        self.check_answer(server.request("POST", "/r", struct.pack("<f", 5)), 200)
        self.log_of(server)
