"""A configuration that is read again while clients ask."""

import threading

from configured import OPERATOR, ConfiguredTest, key, tenant
from routes_test import PLAIN, saying
from server import BODY, MODEL, RUNNING, Answer, head, read_all, until


class Reload(ConfiguredTest):
    def model(self, name, lines=MODEL):
        return f"[models.{name}]\npath = '{self.file(name + '.gguf', 'GGUF' + chr(10) + lines)}'\n"

    def infer(self, server, model="m", headers=None):
        return server.request("POST", f"/v2/models/{model}/infer", BODY, headers or {})

    def test_models(self):
        first, second = self.model("m"), self.model("n")
        server = self.serve_file(first, models={})
        self.check_answer(self.infer(server, "n"), 404)
        self.reload(server, second)
        self.check_answer(self.infer(server, "n"), 200)
        self.check_answer(self.infer(server, "m"), 404)

    def test_tenants_whose_models_stay(self):
        model = self.model("m")
        server = self.serve_file(model, models={})
        self.check_answer(self.infer(server), 200)
        self.reload(server, model + tenant("a") + OPERATOR)
        self.check_answer(self.infer(server), 401)
        self.check_answer(self.infer(server, headers=key("a")), 200)
        self.reload(server, model + tenant("b") + OPERATOR)
        self.check_answer(self.infer(server, headers=key("a")), 401)
        stats = server.request("GET", "/v2/models/m/stats", headers=key("b")).json()["model_stats"][0]
        self.assertEqual(stats["inference_count"], 2)
        self.assertIn("wasinn_model_loads_total", "".join(server.metrics()))

    def test_routes(self):
        paths = [self.file(f"{name}.wat", saying(PLAIN + name.encode())) for name in ("r", "s")]
        texts = [f"[routes.'/{path[0]}']\nfile = '{path}'\n" for path in paths]
        server = self.serve_file(texts[0])
        self.assertEqual(server.request("GET", "/r").body, b"r")
        self.reload(server, texts[1])
        self.assertEqual(server.request("GET", "/s").body, b"s")
        self.check_answer(server.request("GET", "/r"), 404)
        self.file("s.wat", saying(PLAIN + b"again"))
        self.reload(server, texts[1])
        self.assertEqual(server.request("GET", "/s").body, b"again")

    def test_mistakes_change_nothing(self):
        server = self.serve_file(tenant("a") + OPERATOR)
        for text, said in (("[serve]\nno = 1\n", "unknown configuration key"), ("[", "serve.toml:2"), (tenant("a") + "[models.x]\npath = 'no.onnx'\n", "no.onnx"),
                           (tenant("a") + "[routes.'/r']\nfile = 'no.wasm'\n", "no.wasm"), ("[tenants.a]\n", "keys"),
                           ("", "no tenants any more"), ("[serve]\n", "no tenants any more")):
            self.ask(server, text)
            server.await_line(said)
            self.check_answer(self.infer(server, headers=key("a")), 200)
            self.check_answer(self.infer(server), 401)

    def test_what_is_read_at_the_start_alone(self):
        server = self.serve_file("")
        self.ask(server, "[serve]\nmax_waiting = 7\n")
        server.await_line("[serve] is only read at the start")
        self.check_answer(self.infer(server), 200)

    def test_running_requests_end_as_they_began(self):
        model = self.model("m", MODEL + "turns 8\ngate g\n")
        server = self.serve_file(model, models={})
        with server.socket() as connection:
            connection.sendall(head(len(BODY), "Connection: close\r\n") + BODY)
            server.await_metrics(f"{RUNNING} 1")
            self.reload(server, self.model("n") + tenant("a") + OPERATOR)
            self.check_answer(self.infer(server, "m", key("a")), 404)
            (self.dir / "g").touch()
            self.assertTrue(read_all(connection).startswith(b"HTTP/1.1 200 OK"))

    def test_what_is_unloaded_stays_so(self):
        first = "threads = 1\n" + self.model("m")
        server = self.serve_file(first, models={})
        self.check_answer(server.request("POST", "/v2/repository/models/m/unload"), 200)
        self.reload(server, first.replace("threads = 1", "threads = 2"))
        self.check_answer(self.infer(server), 503, "unloaded")

    def test_what_is_unloaded_while_it_reloads_stays_so(self):
        first = "threads = 1\n" + self.model("m", MODEL + "load_gate g\n")
        self.file("g", "")
        server = self.serve_file(first, models={})
        self.check_answer(self.infer(server), 200)
        (self.dir / "g").unlink()
        (self.dir / "g.reached").unlink()
        self.ask(server, first.replace("threads = 1", "threads = 2"))
        until((self.dir / "g.reached").exists)
        self.check_answer(server.request("POST", "/v2/repository/models/m/unload"), 200)
        (self.dir / "g").touch()
        server.await_line("configuration: read again")
        self.check_answer(self.infer(server), 503, "unloaded")
        server.await_metrics('wasinn_model_graphs{model="m",version="1",backend="echo"} 0')

    def test_no_request_is_lost(self):
        """Over 20 reloads, of which each has other models of the same names."""
        texts = [f"threads = {n}\n" + self.model("m") + tenant("a", f"max_requests = {100 + n}") + OPERATOR for n in (1, 2)]
        server = self.serve_file(texts[0], models={})
        answers, is_over = [], threading.Event()

        def ask():
            connection = server.connect()
            while not is_over.is_set():
                connection.request("POST", "/v2/models/m/infer", BODY, key("a"))
                answers.append(Answer(connection.getresponse()))
            connection.close()

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for n in range(20):
                before = len(answers)
                self.reload(server, texts[(n + 1) % 2])
                until(lambda: len(answers) > before + 8)
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
        self.assertEqual({answer.status for answer in answers}, {200})
