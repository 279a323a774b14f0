"""A model or route that stands still, or is broken, takes nothing from others."""

import json

from configured import ConfiguredTest, key, tenant
from routes_test import PLAIN, guest, saying
from server import BODY, MODEL, ServeTest, head, until

MANY = 40  # more than there are threads
ENDLESS = "(loop $endless (br $endless))"


class StandsStill(ServeTest):
    def begin_many(self, server, *paths):
        """As many requests, which wait."""
        clients = []
        for path in paths:
            for _ in range(MANY):
                client = server.socket()
                self.addCleanup(client.close)
                client.sendall(head(len(BODY)).replace(b"/v2/models/m/infer", path.encode()) + BODY)
                clients.append(client)
        return clients

    def load(self, server, what):
        return server.request("GET", "/wasinn/state").json()["load"][what]

    def expect_all_of_another(self, server, model="m"):
        path = f"/v2/models/{model}"
        for _ in range(3):
            self.check_answer(server.request("POST", f"{path}/infer", BODY), 200)
            for what in ("", "/config", "/ready", "/stats"):
                self.check_answer(server.request("GET", path + what), 200)
            names = {one["name"] for one in server.request("POST", "/v2/repository/index", b"{}").json()}
            self.assertIn(model, names)

    def expect_200(self, clients):
        (self.dir / "g").touch()
        for client in clients:
            self.assertTrue(client.recv(65536).startswith(b"HTTP/1.1 200"))

    def test_models_that_compute_for_ever(self):
        self.check_models_that_compute_for_ever(MODEL)

    def test_models_that_compute_for_ever_among_max_computes(self):
        self.check_models_that_compute_for_ever(MODEL + "turns 0\n")

    def check_models_that_compute_for_ever(self, model):
        slow = {name: model + "gate g\n" for name in ("a", "b", "c")}
        server = self.serve(models={**slow, "m": model, "n": model})
        clients = self.begin_many(server, *(f"/v2/models/{name}/infer" for name in slow))
        until(lambda: self.load(server, "workers")["waiting"] > 60)
        self.expect_all_of_another(server)
        self.expect_all_of_another(server, "n")
        self.expect_200(clients)

    def test_a_model_that_loads_for_ever(self):
        server = self.serve(models={"slow": MODEL + "load_gate g\n", "m": MODEL, "n": MODEL})
        clients = self.begin_many(server, "/v2/models/slow/infer")
        until(lambda: self.load(server, "loads")["waiting"] == MANY - 1)
        self.check_answer(server.request("GET", "/v2/models/slow/ready"), 503, "is being loaded")
        self.check_answer(server.request("GET", "/v2/models/slow/stats"), 200)
        self.expect_all_of_another(server)
        self.assertEqual(self.load(server, "workers")["busy"], 0)
        self.expect_200(clients)
        self.check_answer(server.request("GET", "/v2/models/slow/ready"), 200)

    def test_clients_that_leave_wait_for_no_load(self):
        server = self.serve(models={"slow": MODEL + "load_gate g\n", "m": MODEL})
        clients = self.begin_many(server, "/v2/models/slow/infer")
        until(lambda: self.load(server, "loads")["waiting"] == MANY - 1)
        for client in clients:
            client.close()
        until(lambda: self.load(server, "loads")["waiting"] == 0)
        (self.dir / "g").touch()

    def test_an_unload_waits_for_no_load(self):
        server = self.serve(models={"slow": MODEL + "load_gate g\n"})
        clients = self.begin_many(server, "/v2/models/slow/infer")
        until(lambda: self.load(server, "loads")["waiting"] == MANY - 1)
        self.check_answer(server.request("POST", "/v2/repository/models/slow/unload"), 200)
        (self.dir / "g").touch()
        for client in clients:
            self.assertTrue(client.recv(65536).startswith(b"HTTP/1.1 503"))

    def test_a_route_whose_guests_loop(self):
        flags = []
        for name, text in (("loops", guest(ENDLESS, PLAIN)), ("good", saying(PLAIN + b"hi"))):
            flags += ["--route", f"/{name}={self.file(name + '.wat', text)}"]
        server = self.serve(*flags, "--timeout", "1h", models={"m": MODEL})
        clients = self.begin_many(server, "/loops")
        until(lambda: self.load(server, "route_workers")["waiting"] > 20)
        for _ in range(3):
            self.assertEqual(server.request("GET", "/good").body, b"hi")
        for client in clients:
            client.close()
        until(lambda: self.load(server, "route_workers")["busy"] == 0)
        self.assertIn("'/loops'", self.log_of(server))


class Broken(ConfiguredTest):
    def loads(self, server, model="m"):
        """The number of tries."""
        begin = f'wasinn_model_loads_total{{model="{model}"'
        return sum(int(line.split()[-1]) for line in server.metrics() if line.startswith(begin))

    def write(self, lines=MODEL):
        self.file("m.gguf", "GGUF\n" + lines)

    def expect_log(self, server, text):
        self.assertIn(text, self.log_of(server))

    def test_its_file_is_read_once(self):
        server = self.serve(models={"m": "fail_load 3\n"})
        for _ in range(3):
            for what in ("", "/ready", "/config", "/versions/1/ready"):
                self.check_answer(server.request("GET", f"/v2/models/m{what}"), 500, "load fails")
            self.check_answer(server.request("GET", "/v2/models/m/stats"), 200)
        self.assertEqual(self.loads(server), 1)
        self.write()
        self.check_answer(server.request("GET", "/v2/models/m/ready"), 200)
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 200)
        self.expect_log(server, "cannot be loaded")

    def test_a_load_that_fails_leaves_what_served(self):
        server = self.serve(models={"m": MODEL})
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 200)
        self.write("fail_load 3\n")
        self.assertGreaterEqual(server.request("POST", "/v2/repository/models/m/load").status, 400)
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 200)
        self.check_answer(server.request("GET", "/v2/models/m/ready"), 200)
        self.write(MODEL.replace("x", "y"))
        self.check_answer(server.request("POST", "/v2/repository/models/m/load"), 200)
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY.replace(b'"x"', b'"y"')), 200)
        self.expect_log(server, "cannot be loaded")

    def test_a_model_serves_while_it_is_loaded_again(self):
        server = self.serve(models={"m": MODEL})
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 200)
        self.write(MODEL + "load_gate g\n")
        with server.socket() as client:
            client.sendall(b"POST /v2/repository/models/m/load HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
            until((self.dir / "g.reached").exists)
            self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 200)
            self.check_answer(server.request("GET", "/v2/models/m/ready"), 200)
            (self.dir / "g").touch()
            self.assertTrue(client.recv(65536).startswith(b"HTTP/1.1 200"))

    def test_a_configuration_whose_model_does_not_load_changes_nothing(self):
        path = self.file("m.gguf", "GGUF\n" + MODEL)
        text = f"threads = 1\n[models.m]\npath = '{path}'\n"
        server = self.serve_file(text, models={})
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 200)
        before = self.generation(server)
        self.write("fail_load 3\n")
        self.ask(server, text.replace("threads = 1", "threads = 2"))
        server.await_line("error: configuration: ")
        self.assertEqual(self.generation(server), before)
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 200)

    def test_a_load_of_a_new_configuration_is_logged(self):
        path = self.file("m.gguf", "GGUF\n" + MODEL)
        text = f"threads = 1\n[models.m]\npath = '{path}'\n"
        server = self.serve_file(text, models={})
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 200)
        self.write(MODEL + "load_gate g\n")
        self.ask(server, text.replace("threads = 1", "threads = 2"))
        server.await_line("info: configuration: loading model 'm:1'")
        self.ask(server, text)
        server.await_line("info: SIGHUP: waits")
        self.assertEqual(server.stop()[0], 0)  # which waits for no load


class State(ConfiguredTest):
    def test_has_the_models_that_its_operator_sees(self):
        policy = "[tenants.operator.policy]\nmodels = ['m']\n"
        text = tenant("operator", "operator = true\n" + policy) + tenant("all", "operator = true")
        server = self.serve_file(text, models={"m": MODEL, "hidden": MODEL})
        names = {}
        for name in ("operator", "all", "operator"):
            answer = server.request("GET", "/wasinn/state", headers=key(name))
            names[name] = {one["name"] for one in answer.json()["models"]}
            self.assertEqual(answer.json()["models_left_out"], 0)
            self.assertEqual("hidden" in json.dumps(answer.json()), name == "all")
        self.assertEqual(names, {"operator": {"m"}, "all": {"m", "hidden"}})
