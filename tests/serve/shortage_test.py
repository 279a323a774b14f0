"""A server that lacks something: room for graphs and contexts, descriptors, memory."""

import pathlib
import re
import resource
import threading

from command import SANITIZED
from server import BODY, MODEL, Answer, ServeTest, head, read_all, until


class Models(ServeTest):
    def test_more_of_them_than_contexts(self):
        self.file("echo.toml", (self.dir / "echo.toml").read_text() + "[limits]\nmax_contexts = 2\nmax_graphs = 2\n")
        names = [f"m{i}" for i in range(6)]
        server = self.serve(models=dict.fromkeys(names, MODEL))
        for name in names * 2:
            self.check_answer(server.request("POST", f"/v2/models/{name}/infer", BODY), 200)

    def test_what_fails_leaves_no_context(self):
        self.file("echo.toml", (self.dir / "echo.toml").read_text() + "[limits]\nmax_contexts = 2\n")
        server = self.serve(models={"m": MODEL, "bad": MODEL + "fail 3\n"})
        for _ in range(4):
            self.check_answer(server.request("POST", "/v2/models/bad/infer", BODY), 500)
        server.await_metrics("wasinn_contexts 0")
        self.expect_service(server)

    def test_one_that_is_unloaded_while_it_loads(self):
        server = self.serve(models={"m": MODEL + "load_gate g\n"})
        answers = []
        asking = threading.Thread(target=lambda: answers.append(server.request("POST", "/v2/models/m/infer", BODY)))
        asking.start()
        until((self.dir / "g.reached").exists)
        self.check_answer(server.request("POST", "/v2/repository/models/m/unload"), 200)
        (self.dir / "g").touch()
        asking.join()
        self.assertIn(answers[0].status, (200, 503), answers)
        server.await_metrics("wasinn_graphs 0", 'wasinn_model_graphs{model="m",version="1",backend="echo"} 0')
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 503, "model 'm' is unloaded")


class Descriptors(ServeTest):
    def limit(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))

    def test_connections_leave_some_to_models(self):
        server = self.serve(models={"m": MODEL}, prepare=self.limit)
        first = server.connect()
        first.connect()
        connections = [server.socket() for _ in range(150)]
        self.assertEqual(read_all(connections[-1]), b"")
        first.request("POST", "/v2/models/m/infer", BODY)  # for which the model is opened
        self.check_answer(Answer(first.getresponse()), 200)
        for connection in (first, *connections):
            connection.close()
        until(lambda: self.serves(server))

    def serves(self, server):
        with server.socket() as connection:
            connection.sendall(head(len(BODY), "Connection: close\r\n") + BODY)
            return read_all(connection).startswith(b"HTTP/1.1 200 ")

    def test_more_connections_than_descriptors(self):
        server = self.serve("--max-connections", "1000", models={"m": MODEL}, prepare=self.limit)
        self.expect_service(server)
        err = self.log_of(server)
        self.assertIn("there is room for 96 connections: this program may have 128 files open", err)


if not SANITIZED:  # whose allocator ends the program itself

    class Memory(ServeTest):
        def setUp(self):
            super().setUp()
            self.server = self.serve(models={"m": "in x u8 -1\n"})
            self.expect(200, 1)
            status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
            self.used = int(re.search(r"VmSize:\s+(\d+)", status)[1]) << 10

        def leave(self, room):
            resource.prlimit(self.server.process.pid, resource.RLIMIT_AS, (self.used + room, resource.RLIM_INFINITY))

        def expect(self, status, size):
            tensor = {"name": "x", "datatype": "UINT8", "shape": [size], "parameters": {"binary_data_size": size}}
            asked = {"inputs": [tensor], "parameters": {"binary_data_output": True}}
            answer = self.server.infer("m", asked, bytes(size))
            self.assertIn(answer.status, status if isinstance(status, set) else {status}, answer)

        def test_requests_wait_until_there_is_some_again(self):
            for room in (4, 24):
                self.leave(room << 20)
                self.expect({413, 429, 500, 503}, 60 << 20)  # more than a thread has for itself
            self.leave(8 << 30)
            self.expect(200, 60 << 20)

        def test_the_end_without_another_thread(self):
            self.leave(4 << 20)  # which is no stack
            self.assertEqual(self.server.stop()[0], 0)  # it may say why it did without
