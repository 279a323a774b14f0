"""An operator's day: models come, change, break and go while clients ask."""

import concurrent.futures
import pathlib
import shutil
import signal
import socket
import threading

from command import WAIT, WASINN
from configured import ConfiguredTest, tenant
from http_server import Handler, HttpServer
from server import BODY, MODEL, head, until

REMOTE = pathlib.Path(WASINN).parent.parent / "lib/wasinn/libwasinn_backend_remote.so"
BROKEN = "fail_load 3\n"


class Day(ConfiguredTest):
    def write(self, name, lines=MODEL):
        """A model of the folder: "m/1". Its file is another one, whatever the clock says."""
        folder = self.dir / "models" / name
        folder.mkdir(parents=True, exist_ok=True)
        self.file(f"models/{name}/new", "GGUF\n" + lines)
        (folder / "new").rename(folder / "model.gguf")

    def serve_folder(self, *flags):
        self.write("always/1")
        return self.serve("--models", "models", *flags)

    def rescan(self, server):
        server.process.send_signal(signal.SIGHUP)

    def infer(self, server, model="m"):
        return server.request("POST", f"/v2/models/{model}/infer", BODY)

    def index(self, server):
        """State by "name:version", but for the one that is always there."""
        answer = server.request("POST", "/v2/repository/index", b"{}").json()
        return {f"{one['name']}:{one['version']}": one["state"] for one in answer if one["name"] != "always"}

    def load(self, server, model, body=b""):
        return server.request("POST", f"/v2/repository/models/{model}/load", body)

    def expect_loaded(self, server, *names):
        """Those, and no others but the one that is always there."""
        until(lambda: {one["name"] for one in server.request("GET", "/wasinn/state").json()["models"] if one["state"] == "loaded"} - {"always"} == set(names))

    def input_of(self, server, model="m"):
        return server.request("GET", f"/v2/models/{model}").json()["inputs"][0]["name"]


class NewFiles(Day):
    def test_a_new_model_comes_by_sighup_and_by_load(self):
        server = self.serve_folder()
        self.write("m/1")
        self.check_answer(self.infer(server), 404)
        self.rescan(server)
        until(lambda: self.infer(server).status == 200)
        self.write("n/1")
        self.check_answer(self.load(server, "n"), 200)
        self.check_answer(self.infer(server, "n"), 200)
        self.check_answer(self.load(server, "none"), 404)

    def test_a_new_version_and_a_changed_file_are_served(self):
        self.write("m/1")
        server = self.serve_folder()
        self.check_answer(self.infer(server), 200)
        self.write("m/2", MODEL.replace("x", "y"))
        self.rescan(server)
        until(lambda: self.input_of(server) == "y")
        self.check_answer(server.request("POST", "/v2/models/m/versions/1/infer", BODY), 200)
        self.write("m/2", MODEL)
        self.rescan(server)
        until(lambda: self.input_of(server) == "x")

    def test_a_broken_version_leaves_what_serves(self):
        self.write("m/1")
        server = self.serve_folder()
        self.check_answer(self.infer(server), 200)
        self.write("m/2", BROKEN)
        self.rescan(server)
        until(lambda: self.index(server) == {"m:1": "READY", "m:2": "UNAVAILABLE"})
        self.check_answer(self.infer(server), 200)
        self.check_answer(self.load(server, "m"), 500, "load fails")
        self.check_answer(self.infer(server), 200)
        self.write("m/2")
        self.check_answer(self.load(server, "m"), 200)
        self.assertEqual(self.index(server), {"m:1": "READY", "m:2": "READY"})
        self.assertIn("model 'm:2' cannot be loaded", self.log_of(server))

    def test_a_model_whose_folder_goes_is_gone(self):
        self.write("m/1")
        server = self.serve_folder()
        self.check_answer(self.infer(server), 200)
        shutil.rmtree(self.dir / "models/m")
        self.rescan(server)
        until(lambda: self.infer(server).status == 404)
        self.assertEqual(self.index(server), {})

    def test_polling_needs_no_signal(self):
        server = self.serve_folder("--repository-poll-secs", "1")
        self.write("m/1")
        until(lambda: self.infer(server).status == 200)

    def test_a_load_takes_neither_configuration_nor_files(self):
        self.write("m/1")
        server = self.serve_folder()
        for name in ("config", "file:1/model.onnx"):
            self.check_answer(self.load(server, "m", b'{"parameters": {"%s": "{}"}}' % name.encode()), 400, f"'{name}'")
        self.check_answer(self.load(server, "m", b'{"parameters": {"unload_dependents": true}}'), 200)


class Modes(Day):
    def test_explicit_serves_what_is_loaded_by_name(self):
        self.write("m/1")
        self.write("n/1")
        server = self.serve_folder("--model-control-mode", "explicit", "--load-model", "m")
        self.expect_loaded(server, "m")
        self.check_answer(self.infer(server, "n"), 503, "unloaded")
        self.check_answer(self.load(server, "n"), 200)
        self.check_answer(self.infer(server, "n"), 200)

    def test_only_poll_loads_new_models(self):
        self.write("m/1")
        server = self.serve_folder("--model-control-mode", "poll", "--repository-poll-secs", "1")
        self.expect_loaded(server, "m")
        self.write("n/1")
        self.expect_loaded(server, "m", "n")
        self.check_answer(self.load(server, "n"), 400, "poll")

    def test_a_start_says_all_that_does_not_load(self):
        for name in ("a", "b"):
            self.write(f"{name}/1", BROKEN)
        said = self.refused("--models", "models", "--model-control-mode", "none")
        self.assertIn("'a:1'", said)
        self.assertIn("'b:1'", said)
        self.assertIn("--model-control-mode", self.refused("--model-control-mode", "lazy"))


class Readiness(Day):
    def test_a_models_readiness_loads_nothing(self):
        self.write("m/1", BROKEN)
        server = self.serve_folder()
        self.check_answer(server.request("GET", "/v2/models/m/ready"), 200)
        self.expect_loaded(server)
        self.check_answer(self.infer(server), 500, "load fails")
        self.check_answer(server.request("GET", "/v2/models/m/ready"), 500, "load fails")
        self.assertEqual(self.index(server), {"m:1": "UNAVAILABLE"})
        self.assertIn("cannot be loaded", self.log_of(server))

    def test_the_server_is_ready_as_its_preloaded_models_are(self):
        self.write("m/1")
        server = self.serve_folder("--load-model", "m")
        ready = lambda: server.request("GET", "/v2/health/ready").status
        self.assertEqual(ready(), 200)
        self.write("m/1", MODEL + "load_gate g\n")
        self.check_answer(server.request("POST", "/v2/repository/models/m/unload"), 200)
        self.assertEqual(ready(), 200)
        loading = threading.Thread(target=self.load, args=(server, "m"))
        loading.start()
        until((self.dir / "g.reached").exists)
        self.assertEqual(self.index(server), {"m:1": "UNAVAILABLE"})  # until it is loaded again
        (self.dir / "g").touch()
        loading.join()
        self.assertEqual((ready(), self.index(server)), (200, {"m:1": "READY"}))

    def test_a_model_that_is_being_loaded_is_not_ready(self):
        self.write("m/1", MODEL + "load_gate g\n")
        server = self.serve_folder()
        asking = threading.Thread(target=self.infer, args=(server,))
        asking.start()
        until((self.dir / "g.reached").exists)
        self.assertEqual(self.index(server), {"m:1": "LOADING"})
        self.check_answer(server.request("GET", "/v2/models/m/ready"), 503, "is being loaded")
        (self.dir / "g").touch()
        asking.join()


class Cap(Day):
    def test_the_one_that_rested_longest_goes(self):
        for name in "abc":
            self.write(f"{name}/1")
        server = self.serve_folder("--max-loaded", "2")
        for name in "abac":
            self.check_answer(self.infer(server, name), 200)
        self.expect_loaded(server, "a", "c")
        self.check_answer(self.infer(server, "b"), 200)
        self.expect_loaded(server, "b", "c")

    def test_one_that_has_a_request_stays(self):
        self.write("slow/1", MODEL + "gate g\n")
        self.write("b/1")
        server = self.serve_folder("--max-loaded", "1")
        with server.socket() as client:
            client.sendall(head(len(BODY), model="slow") + BODY)
            until((self.dir / "g.reached").exists)
            self.check_answer(self.infer(server, "b"), 429, "max_loaded")
            (self.dir / "g").touch()
            self.assertTrue(client.recv(65536).startswith(b"HTTP/1.1 200"))
        until(lambda: self.infer(server, "b").status == 200)

    def test_idle_models_are_unloaded_but_for_preloaded_ones(self):
        self.write("m/1")
        self.write("kept/1")
        server = self.serve_folder("--idle-unload", "1s", "--load-model", "kept")
        self.check_answer(self.infer(server), 200)
        self.expect_loaded(server, "kept")
        self.check_answer(self.infer(server), 200)


class SlowOnes(Day):
    def test_neither_a_slow_load_nor_a_slow_model_nor_a_hung_server_takes_the_others(self):
        self.write("m/1")
        self.write("slow/1", MODEL + "gate g\n")
        self.write("loads/1", MODEL + "load_gate g\n")
        with socket.create_server(("127.0.0.1", 0)) as hung:
            flags = ("--model", f"far=http://127.0.0.1:{hung.getsockname()[1]}/v2/models/far") if REMOTE.exists() else ()
            server = self.serve_folder(*flags)
            clients = []
            for model in ("slow", "loads", *(["far"] if flags else [])) * 20:
                clients.append(server.socket())
                clients[-1].sendall(head(len(BODY), model=model) + BODY)
            until(lambda: len(list(self.dir.glob("g.reached"))) > 0)
            for _ in range(20):
                self.check_answer(self.infer(server), 200)
            self.rescan(server)
            self.write("n/1")
            self.check_answer(self.load(server, "n"), 200)
            self.check_answer(self.infer(server, "n"), 200)
            (self.dir / "g").touch()
            for client in clients:
                client.close()
            self.log_of(server)  # of a load that no request waits for any more


# However long it takes until all clients have come.
PATIENT = ("[limits]\ncompute_timeout_ms = 0\nload_timeout_ms = 0\n"
           f"[backends.remote]\nconnect_timeout_ms = {WAIT * 1000}\nload_timeout_ms = {WAIT * 1000}\n")


class Texts(Handler):
    """OpenAI's API, which answers no text until as many are asked for as the server's barrier wants."""

    def do_GET(self):
        self.reply(200, b'{"data": [{"id": "lm"}]}', Content_Type="application/json")

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.barrier.wait()
        self.reply(200, b'{"choices": [{"index": 0, "text": "ok", "finish_reason": "stop"}]}', Content_Type="application/json")


if REMOTE.exists():
    class Gateway(Day):
        def expect_together(self, n, config=""):
            """The gateway has so many texts under way at once."""
            behind = HttpServer(Texts, barrier=threading.Barrier(n))
            self.addCleanup(behind.stop)
            server = self.serve("--config", self.configure(f"{PATIENT}[models.lm]\npath = 'http://127.0.0.1:{behind.server_port}/v1/lm'\n{config}"))

            def ask(_):
                answer = server.request("POST", "/v1/completions", b'{"model": "lm", "prompt": "p"}', {"Content-Type": "application/json"})
                if answer.status != 200:
                    behind.barrier.abort()  # for which the others would wait
                return answer.status

            with concurrent.futures.ThreadPoolExecutor(n) as clients:
                self.assertEqual(set(clients.map(ask, range(n))), {200})

        def test_it_asks_for_many_texts_at_once(self):
            self.expect_together(50)

        def test_it_asks_for_as_many_as_its_operator_says(self):
            self.expect_together(80, "config.parallel = 80\n")


class Keys(Day):
    def test_an_api_key_needs_no_tenants(self):
        self.write("m/1")
        self.file("keys", "one\n\ntwo\n")
        for flags in (("--api-key", "one"), ("--api-key-file", "keys"), ("--config", self.configure("[serve]\napi_key = 'one'\n"))):
            server = self.serve_folder(*flags)
            self.check_answer(self.infer(server), 401)
            self.check_answer(server.request("GET", "/v2/health/ready"), 200)
            server.headers = {"Authorization": "Bearer one"}
            self.check_answer(self.infer(server), 200)
            self.check_answer(self.load(server, "m"), 200)
            with open(f"/proc/{server.process.pid}/cmdline", "rb") as line:
                self.assertNotIn(b"one", line.read().split(b"\0"))

    def test_a_key_in_the_environment(self):
        self.write("m/1")
        self.env = {**self.env, "WASINN_API_KEY": "one"}
        server = self.serve_folder()
        self.check_answer(self.infer(server), 401)

    def test_an_empty_key_does_not_open_the_server(self):
        self.file("keys", "\n")
        empty = self.configure("[serve]\napi_key = ''\n")
        for flags, said in ((("--api-key", ""), "is empty"), (("--config", empty), "is empty"), (("--api-key-file", ""), "cannot open ''"),
                            (("--api-key-file", "none"), "cannot open 'none'"), (("--api-key-file", "keys"), "no key in 'keys'")):
            self.assertIn(said, self.refused(*flags))
        self.env = {**self.env, "WASINN_API_KEY": ""}
        self.assertIn("is empty", self.refused())

    def test_an_empty_key_changes_nothing_at_sighup(self):
        self.write("m/1")
        server = self.serve_folder("--config", self.configure("[serve]\napi_key = 'one'\n"))
        self.configure("[serve]\napi_key = ''\n")
        self.rescan(server)
        server.await_line("is empty")
        self.check_answer(self.infer(server), 401)

    def test_no_key_stays_while_a_model_loads(self):
        for flags in ((), ("--repository-poll-secs", "1")):
            self.write("m/1")
            self.file("keys", "one\n")
            server = self.serve_folder("--load-model", "m", "--api-key-file", "keys", *flags)
            self.write("m/1", MODEL + "load_gate g\n")
            self.rescan(server)
            until((self.dir / "g.reached").exists)
            self.file("keys", "two\n")
            self.rescan(server)
            until(lambda: server.request("GET", "/v2/models/m", headers={"Authorization": "Bearer two"}).status == 200)
            self.check_answer(self.infer(server), 401)
            (self.dir / "g").touch()
            self.assertEqual(server.stop()[0], 0)
            for name in ("g", "g.reached"):
                (self.dir / name).unlink()

    def test_a_key_beside_tenants_is_a_mistake(self):
        self.assertIn("tenants", self.refused("--config", self.configure(tenant("a")), "--api-key", "one"))


class Log(Day):
    def test_its_level_is_that_of_the_servers_own_lines(self):
        self.write("m/1")
        for level, has in (("info", True), ("warning", False)):
            server = self.serve_folder("--log-level", level)
            self.write("n/1")
            self.check_answer(self.load(server, "n"), 200)
            log = self.log_of(server)
            self.assertEqual(["model 'n:1': loading" in log, "model 'n:1': loaded after" in log], [has, has], log)
