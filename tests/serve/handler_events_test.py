"""Components behind paths whose answers go out piece by piece."""

import http.client
import socket
import time

from command import longer_and_longer
from incoming_handler_test import HandlerTest
from outbound_test import OutboundTest
from server import Server, read_all, until

FIRST, SECOND = b"data: 1\n\n", b"data: 2\n\n"


class Streams(OutboundTest):
    def expect_events(self, meanwhile=lambda server: None):
        """Each comes before the next one is written. Returns the server."""
        other = self.other()
        server = self.serve_handler("--allow-outbound", other.origin)
        connection = server.connect()
        self.addCleanup(connection.close)
        connection.request("GET", "/h/events-fetch", headers={"X-To": f"{other.origin}/late"})
        response = connection.getresponse()
        self.assertEqual((response.status, response.headers["Content-Type"], response.headers["X-A"], response.headers["Transfer-Encoding"]),
                         (200, "text/event-stream; charset=utf-8", "1", "chunked"))
        self.assertEqual(response.read1(), FIRST)
        until(lambda: other.asked)  # and now the guest waits, for this:
        meanwhile(server)
        other.let_go.set()
        self.assertEqual(response.read(), SECOND)
        return server

    def test_an_event_comes_before_the_next_one_is_there(self):
        self.expect_events()

    def test_the_end_of_the_server_waits_for_it(self):
        self.assertEqual(self.expect_events(Server.begin_to_end).wait(), (0, ""))

    def test_it_is_whole(self):
        server = self.serve_handler()
        for kind in ("", "?text/event-stream", "?application/x-ndjson"):
            answer = server.request("GET", f"/h/events{kind}")
            self.assertEqual((answer.status, answer.headers["Transfer-Encoding"], answer.body), (200, "chunked", FIRST + SECOND))
        self.assertEqual(server.request("GET", "/h/events-empty").body, b"")

    def test_others_are_kept_until_they_are_whole(self):
        server = self.serve_handler()
        for what in ("events?text/plain", "events-length"):
            answer = server.request("GET", f"/h/{what}")
            self.assertEqual((answer.headers["Content-Length"], answer.body), ("18", FIRST + SECOND))
        self.check_answer(server.request("GET", "/h/events-trap?text/plain"), 502, "it ended in a trap")
        head = server.request("HEAD", "/h/events")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(server.request("GET", "/h/events-none").status, 204)
        self.log_of(server)

    def test_an_old_client_sees_the_connection_end(self):
        server = self.serve_handler()
        with server.socket() as client:
            client.sendall(b"GET /h/events HTTP/1.0\r\n\r\n")
            head, body = read_all(client).split(b"\r\n\r\n", 1)
        self.assertEqual(body, FIRST + SECOND)
        self.assertNotIn(b"chunked", head)

    def test_the_connection_goes_on(self):
        server = self.serve_handler()
        connection = server.connect()
        self.addCleanup(connection.close)
        for _ in range(3):
            connection.request("POST", "/h/events", b"x" * 100_000)
            self.assertEqual(connection.getresponse().read(), FIRST + SECOND)


class Ends(HandlerTest):
    def begin_stream(self, server, what):
        """A connection and its answer, of which the first event has come, unless the guest's time was over before."""
        connection = server.connect()
        self.addCleanup(connection.close)
        connection.request("GET", f"/h/{what}")
        response = connection.getresponse()
        if response.status != 504:
            self.assertEqual((response.status, response.read1()), (200, FIRST))
        return connection, response

    def check_broken(self, server, what):
        _, response = self.begin_stream(server, what)
        if response.status != 504:
            with self.assertRaises(http.client.IncompleteRead):
                response.read()
        return response

    def test_what_breaks_off_is_not_taken_for_whole(self):
        server = self.serve_handler()
        for what in ("events-trap", "events-open"):
            self.assertEqual(self.check_broken(server, what).status, 200)
        self.assertEqual(server.request("GET", "/h/events").body, FIRST + SECOND)
        log = self.log_of(server)
        self.assertIn("guest '/h': broke off its answer: the guest of /h: it ended before its answer was complete", log)
        self.assertIn("unreachable", log)
        self.ended_by_deadline(lambda server: self.check_broken(server, "events-sleep"))

    def test_an_old_client_does_not_take_half_for_whole(self):
        server = self.serve_handler()
        with server.socket() as client:
            client.sendall(b"GET /h/events-open HTTP/1.0\r\n\r\n")
            with self.assertRaises(ConnectionResetError):
                while client.recv(65536):
                    pass
        self.log_of(server)

    def test_what_is_large_has_its_time(self):
        """A client that reads several megabytes in two seconds is not slow, however much waits for it."""
        for timeout in longer_and_longer(2000):
            server = self.serve_handler("--client-timeout", f"{timeout}ms")
            last, n_read = self.read_slowly(server, timeout)
            self.log_of(server)
            if last == b"0\r\n\r\n":  # else it was slow, for the machine is busy
                break
        self.assertGreater(n_read, 6000 * 4096)

    def read_slowly(self, server, milliseconds):
        """In all it takes longer than that, as a network does: the end of what was read, and how much that was."""
        with server.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            client.sendall(b"GET /h/events-large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            last, n_read = b"", 0
            try:
                while more := client.recv(65536):
                    last, n_read = (last + more)[-5:], n_read + len(more)
                    time.sleep(milliseconds / 250_000)
            except ConnectionResetError:
                pass
            return last, n_read

    def check_cut_off(self, body, why, *flags):
        server = self.serve_handler(*flags)
        with server.socket() as client:  # which reads nothing in the meantime
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            client.sendall(b"POST /h/events-flood HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            server.await_line(why)
            self.assertFalse(read_all(client).endswith(b"0\r\n\r\n"))
        self.assertEqual(server.request("GET", "/h/events").body, FIRST + SECOND)
        self.log_of(server)

    def test_an_endless_one_is_cut_off(self):
        self.check_cut_off(b"", "it wrote more than 1048576 bytes", "--max-body", "1M")

    def test_there_is_no_room_for_an_endless_one(self):
        body = bytes(3_900_000)  # of which the guest has a copy
        self.check_cut_off(body, "memory", "--max-memory-in-flight", "8M", "--max-body", "8M")

    def test_a_client_that_leaves_ends_its_guest(self):
        server = self.serve_handler("--timeout", "60s")
        connection, response = self.begin_stream(server, "events-sleep")
        response.close()
        connection.close()
        server.await_metrics("wasinn_guests 1")
        self.assertIn("the guest was stopped", self.log_of(server))
