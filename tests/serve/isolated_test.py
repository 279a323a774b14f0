"""Models in workers whose load does not end by itself: the server answers, reads its configuration again and ends nevertheless."""

import signal
import subprocess
import threading
import unittest

from command import WAIT
from configured import ConfiguredTest
from server import BODY, MODEL

ENDLESS = MODEL + "deaf\nload_gate /nowhere\n"
SHORT = "isolate_models = true\n[limits]\nload_timeout_ms = 200\n"
LONG = "isolate_models = true\n[limits]\nload_timeout_ms = 3600000\n"
STOPPED = "the load was stopped after 200 ms"


class Isolated(ConfiguredTest):
    def endless(self, more=""):
        return f"[models.endless]\npath = '{self.file('endless.gguf', 'GGUF' + chr(10) + ENDLESS)}'\n{more}"

    def infer(self, server, model):
        return server.request("POST", f"/v2/models/{model}/infer", BODY)

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
        server.await_line("SIGHUP: models are still being loaded")
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


if __name__ == "__main__":
    unittest.main()
