"""Servers that end, come back, hang, or are several."""

import concurrent.futures
import signal
import threading

import grpc

from command import refused_port, until
from fake import echo
from remote import MODEL, OverHttp, RemoteTest, request, sum_of
from server import Server


class Restarts(RemoteTest):
    def serve_at(self, port, *flags):
        path = self.file("m.gguf", "GGUF\n" + MODEL)
        server = Server(self.dir, self.env, (self.port_flag, str(port), "--model", f"m={path}", *flags))
        self.addCleanup(server.process.communicate)
        self.addCleanup(server.process.send_signal, signal.SIGKILL)
        return server

    def expect_answer(self, front):
        answer = front.infer("m", request())
        self.assertEqual((answer.status, sum_of(answer)), (200, 21), answer)

    def test_a_killed_server_works_again_after_its_restart(self):
        port = refused_port(self)
        server = self.serve_at(port)
        front = self.front(self.address(port))
        self.expect_answer(front)
        server.stop(signal.SIGKILL)
        answer = front.infer("m", request())
        self.expect_unavailable(answer, "the model's server: ")
        self.assertNotIn("127.0.0.1", str(answer.json()))
        front.await_line(f"server 127.0.0.1:{port} fails: ")
        self.serve_at(port)
        until(lambda: front.infer("m", request()).status == 200)
        self.expect_answer(front)

    def test_a_server_may_start_after_the_host(self):
        port = refused_port(self)
        front = self.front(self.address(port))
        self.expect_unavailable(front.infer("m", request()), "failed to connect")
        self.serve_at(port)
        until(lambda: front.infer("m", request()).status == 200)

    def test_a_lost_call_is_not_repeated(self):
        """It may have run."""
        self.lose_a_call(1)

    def test_a_lost_call_of_an_idempotent_model_is_repeated(self):
        self.lose_a_call(3, "idempotent = true", "retries = 2")

    def lose_a_call(self, calls, *lines):
        def infer(request, context):
            """gRPC's text for a connection that ended with a call."""
            if fake.inferred < 3:
                context.abort(grpc.StatusCode.UNAVAILABLE, "connection reset by peer")
            return echo(request)

        fake = self.fake(infer)
        result = self.infer_in_guest(self.address(fake), *lines)
        if calls == 1:
            self.expect_failure(result, 5, "connection reset by peer")
        else:
            self.expect_sums(result, err=None)
        self.assertEqual(fake.inferred, calls)


class Several(RemoteTest):
    # None is late, however busy the machine is.
    HEALTH = ("health_interval_ms = 100", "health_timeout_ms = 600000")

    def infer_at_once(self, front, n, threads=8):
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            return list(pool.map(lambda _: front.infer("m", request()), range(n)))

    def expect_all(self, answers):
        self.assertEqual([(one.status, sum_of(one)) for one in answers if one.status == 200], [(200, 21)] * len(answers),
                         [one for one in answers if one.status != 200][:1])

    def test_each_server_gets_its_share(self):
        fakes = [self.fake() for _ in range(3)]
        front = self.front(self.address(*fakes))
        self.expect_all([front.infer("m", request()) for _ in range(30)])
        self.assertEqual([fake.inferred for fake in fakes], [10, 10, 10])

    def test_an_unreachable_server_gets_no_calls(self):
        """No connection had the calls, so they go elsewhere, of any model."""
        fakes = [self.fake() for _ in range(2)]
        front = self.front(self.address(fakes[0], refused_port(self), fakes[1]))
        self.expect_all(self.infer_at_once(front, 60))
        self.assertEqual(sum(fake.inferred for fake in fakes), 60)

    def test_calls_leave_a_server_that_dies(self):
        fakes = [self.fake() for _ in range(3)]
        front = self.front(self.address(*fakes), "idempotent = true", *self.HEALTH)
        self.expect_all(self.infer_at_once(front, 30))
        fakes[1].stop()
        self.expect_all(self.infer_at_once(front, 60))
        self.assertGreater(fakes[0].inferred + fakes[2].inferred, 60)

    def test_calls_on_an_unhealthy_server_go_elsewhere(self):
        """They go elsewhere, as soon as a check says so."""
        hangs, over = threading.Event(), threading.Event()
        self.addCleanup(over.set)

        def infer(request, context):
            hangs.set()
            over.wait()
            return echo(request)

        fakes = [self.fake(infer), self.fake()]
        front = self.front(self.address(*fakes), "idempotent = true", *self.HEALTH)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(front.infer, "m", request()) for _ in range(30)]
            hangs.wait()
            fakes[0].is_ready = False
            self.expect_all([answer.result() for answer in answers])
        front.await_line("the model is not ready there")

    def test_a_server_with_late_checks_gets_no_calls_until_it_answers(self):
        servers = [self.serve(models={"m": MODEL}) for _ in range(2)]
        for server in servers:  # one that has not loaded it is not ready: that is another reason
            self.assertEqual(server.infer("m", request()).status, 200)
        front = self.front(self.address(*servers), "health_interval_ms = 20", "health_timeout_ms = 200")
        until(lambda: front.infer("m", request()).status == 200)
        server = f"server 127.0.0.1:{self.port_of(servers[1])}"
        servers[1].process.send_signal(signal.SIGSTOP)
        self.addCleanup(servers[1].process.send_signal, signal.SIGCONT)
        front.await_line(f"{server} gets no calls for now: Deadline Exceeded")
        servers[1].process.send_signal(signal.SIGCONT)
        front.await_line(f"{server} serves again")

    def test_a_server_that_is_not_ready_gets_no_calls(self):
        fakes = [self.fake(ready=False), self.fake()]
        front = self.front(self.address(*fakes), *self.HEALTH)
        self.expect_all([front.infer("m", request())])
        front.await_line("the model is not ready there")
        before = fakes[0].inferred
        self.expect_all([front.infer("m", request()) for _ in range(10)])
        self.assertEqual(fakes[0].inferred, before)
        fakes[0].is_ready = True
        front.await_line("serves again")
        self.expect_all([front.infer("m", request()) for _ in range(10)])
        self.assertGreater(fakes[0].inferred, before)

    def test_without_a_server_the_call_fails(self):
        front = self.front(self.address(refused_port(self), refused_port(self)))
        self.expect_unavailable(front.infer("m", request()), "failed to connect")


class HttpRestarts(OverHttp, Restarts):
    pass


class HttpSeveral(OverHttp, Several):
    pass
