"""The end of a server."""

import signal
import subprocess

from command import WAIT, WASINN
from compiling import compiler_of, doubling, has_ended
from server import BODY, KILLED, MODEL, RUNNING, ServeTest, head, read_all

class Ends(ServeTest):
    def test_what_was_asked_is_answered(self):
        server = self.serve(models={"m": MODEL + "turns 8\ngate g\n"})
        with server.socket() as resting, server.socket() as connection:
            connection.sendall(head(len(BODY)) + BODY)
            server.await_metrics(f"{RUNNING} 1")
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(read_all(resting), b"")
            (self.dir / "g").touch()
            answer = read_all(connection)
            self.assertTrue(answer.startswith(b"HTTP/1.1 200 OK"), answer)
            self.assertIn(b"Connection: close", answer)
        self.assertEqual(server.wait(), (0, ""))

    def expect_killed(self, how_it_computes):
        """By two signals, while a model computes."""
        server = self.serve(models={"m": f"{MODEL}turns 8\n{how_it_computes}\n"})
        with server.socket() as connection:
            connection.sendall(head(len(BODY)) + BODY)
            server.await_metrics(f"{RUNNING} 1")
            server.process.send_signal(signal.SIGTERM)
            self.assertIn(server.stop(signal.SIGINT), KILLED)

    def test_a_second_signal_waits_for_no_request(self):
        self.expect_killed("delay 60000")

    def test_a_compute_that_heeds_nothing(self):
        self.expect_killed("deaf\ndelay 60000")

    def test_a_signal_as_soon_as_it_is_known_to_serve(self):
        for _ in range(8):
            self.assertEqual(self.serve(models={"m": MODEL}).stop(), (0, ""))

    def test_a_signal_before_it_serves(self):
        self.file("doubling.wat", doubling(24))
        for number in (signal.SIGTERM, signal.SIGINT):
            words = [WASINN, "serve", "--route", "/r=doubling.wat", "--max-compile-memory", "300M"]
            with subprocess.Popen(words, cwd=self.dir, env=self.env) as starting:
                compiler = compiler_of(starting)
                starting.send_signal(number)
                self.assertEqual(starting.wait(WAIT), 128 + number)
                self.assertTrue(has_ended(compiler))

    def test_two_signals_at_once(self):
        for _ in range(8):
            self.expect_killed("delay 60000")
