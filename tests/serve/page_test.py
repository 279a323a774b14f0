"""The page for operators, what it shows, and which pages of browsers may ask at all."""

import json
import threading
import urllib.parse

from command import ECHO
from routes_test import PLAIN, RouteTest, guest, saying
from server import BODY, MODEL, head, until

FAILS = MODEL + "fail 5\n"
HOSTILE = "<img src=x onerror=alert(1)>"
FILES = ("icon.svg", "page.css", "page.js", "try.js", "inputs.js", "media.js", "tensors.js", "outputs.js", "dom.js", "client.js")


class PageTest(RouteTest):
    def state(self, server):
        answer = server.request("GET", "/wasinn/state")
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "application/json"), answer)
        return answer.json()

    def await_state(self, server, happens):
        """The state in which it has happened: an answer may be a moment old."""
        def look():
            state = self.state(server)
            return state if happens(state) else None
        return until(look)

    def model(self, state, name="m"):
        [model] = [one for one in state["models"] if one["name"] == name]
        return model


class State(PageTest):
    def test_models_and_their_inferences(self):
        server = self.serve(models={"m": MODEL, "fails": FAILS, "slow": MODEL + "delay 30\n"})
        before = self.state(server)
        nothing = {"succeeded": 0, "failed": 0, "latency_ms": None}
        self.assertEqual(self.model(before), {"name": "m", "version": "1", "state": "not loaded yet", "platform": None,
                                              "inputs": None, "outputs": None, "inferences": nothing})
        for _ in range(3):
            self.check_answer(server.infer("m", BODY), 200)
            self.check_answer(server.infer("slow", BODY), 200)
        self.check_answer(server.infer("fails", BODY), 500)
        state = self.await_state(server, lambda now: self.model(now, "fails")["inferences"]["failed"] > 0)
        model = self.model(state)
        tensor = [{"name": "x", "datatype": "FP32", "shape": [1]}]
        self.assertEqual((model["state"], model["platform"]), ("loaded", "echo_ggml"))
        self.assertEqual((model["inputs"], model["outputs"]), (tensor, tensor))
        reported = model["inferences"]
        self.assertEqual((reported["succeeded"], reported["failed"]), (3, 0))
        self.assertTrue(
            0 < reported["latency_ms"]["p50"] <= reported["latency_ms"]["p90"] <= reported["latency_ms"]["p99"],
            reported,
        )
        self.assertGreater(self.model(state, "slow")["inferences"]["latency_ms"]["p50"], 29)  # where 30 ms have their range
        self.assertEqual(self.model(state, "fails")["inferences"], {"succeeded": 0, "failed": 1, "latency_ms": None})
        self.assertEqual((state["models_left_out"], state["routes"], state["routes_left_out"]), (0, [], 0))

    def test_the_server_and_its_load(self):
        server = self.serve("--max-waiting", "7", "--max-memory-in-flight", "4M", models={"m": MODEL + "gate g\n"})
        state = self.state(server)
        self.assertEqual(state["server"], {**state["server"], "name": "wasinn"})
        self.assertGreaterEqual(state["server"]["uptime_seconds"], 0)
        load = state["load"]
        self.assertEqual((load["requests_in_flight"], load["grpc_calls_in_flight"], load["route_workers"]), (0, 0, None))
        self.assertEqual((load["workers"]["busy"], load["workers"]["waiting"]), (0, 0))
        self.assertGreater(load["workers"]["threads"], 0)
        self.assertGreater(load["io_threads"], 0)
        self.assertEqual(load["memory_in_flight_bytes"]["most"], 4 << 20)
        with server.socket() as client, server.socket():
            client.sendall(head(len(BODY)) + BODY)
            load = self.await_state(server, lambda now: now["load"]["workers"]["busy"] == 1)["load"]
            self.assertEqual(load["requests_in_flight"], 1)
            self.assertGreaterEqual(load["connections"]["http"], 3)
            self.assertGreaterEqual(load["memory_in_flight_bytes"]["held"], len(BODY))
            self.file("g", "")
            self.assertIn(b" 200 ", client.makefile("rb").readline())
        self.await_state(server, lambda now: now["load"]["workers"]["busy"] == 0 and now["load"]["requests_in_flight"] == 0)

    def test_it_waits_for_no_load(self):
        server = self.serve(models={"m": MODEL + "load_gate g\n", "other": MODEL})
        loads = threading.Thread(target=server.infer, args=("m", BODY))
        loads.start()
        until((self.dir / "g.reached").exists)
        self.check_answer(server.infer("other", BODY), 200)
        state = self.await_state(server, lambda now: self.model(now, "other")["inferences"]["succeeded"] == 1)
        self.assertEqual(self.model(state)["state"], "not loaded yet")
        self.file("g", "")
        loads.join()
        self.await_state(server, lambda now: self.model(now)["state"] == "loaded")

    def test_a_model_that_is_unloaded(self):
        server = self.serve(models={"m": MODEL})
        self.check_answer(server.infer("m", BODY), 200)
        self.check_answer(server.request("POST", "/v2/repository/models/m/unload"), 200)
        state = self.await_state(server, lambda now: self.model(now)["state"] == "unloaded")
        self.assertEqual(self.model(state)["inferences"]["succeeded"], 1)

    def test_routes_are_counted(self):
        server = self.serve_guests(good=saying(PLAIN + b"hi"), trap=guest("unreachable"), away=saying(b"Status: 404\n" + PLAIN))
        for path in ("/good", "/good/below?x", "/trap", "/away"):
            server.request("GET", path)
        self.check_answer(server.request("GET", "/good/.."), 400)  # of no route: it is no path
        state = self.await_state(server, lambda now: sum(one["requests"] for one in now["routes"]) == 4)
        self.assertEqual(state["routes"], [
            {"path": "/away", "file": "away.wat", "kind": "module", "requests": 1, "failures": 0},
            {"path": "/good", "file": "good.wat", "kind": "module", "requests": 2, "failures": 0},
            {"path": "/trap", "file": "trap.wat", "kind": "module", "requests": 1, "failures": 1}])
        self.assertGreater(state["load"]["route_workers"]["threads"], 0)
        self.assertIn("/trap", self.log_of(server))

    def test_hostile_names_are_texts(self):
        path = self.file("model.gguf", "GGUF\nin <b>x</b> f32 1\n")
        self.file("echo.toml", f"backend_dirs = ['{ECHO}']\n[models.{json.dumps(HOSTILE)}]\npath = '{self.dir / path}'\n")
        server = self.serve()
        self.assertEqual(self.state(server)["models"][0]["name"], HOSTILE)
        self.check_answer(server.request("GET", "/v2/models/" + urllib.parse.quote(HOSTILE)), 200)
        state = self.await_state(server, lambda now: now["models"][0]["inputs"] is not None)
        self.assertEqual(state["models"][0]["inputs"][0]["name"], "<b>x</b>")

    def test_its_size_has_a_limit(self):
        wide = self.file("wide.gguf", "GGUF\n" + "".join(f"in {'n' * 100}{i} f32 1\n" for i in range(1000)))
        models = [f"[models.m{i:03}]\npath = '{self.dir / wide}'\n" for i in range(600)]
        self.file("echo.toml", f"backend_dirs = ['{ECHO}']\n" + "".join(models))
        server = self.serve()
        self.check_answer(server.request("GET", "/v2/models/m000"), 200)
        state = self.await_state(server, lambda now: now["models"][0]["state"] == "loaded")
        self.assertEqual((len(state["models"]), state["models_left_out"]), (500, 100))
        self.assertEqual((state["models"][0]["inputs"], state["models"][0]["outputs"]), (None, None))
        self.assertLess(len(json.dumps(state)), 1 << 20)

    def test_long_names_are_left_out(self):
        path = self.file("model.gguf", "GGUF\n" + MODEL)
        models = [f"[models.{i:02}{'n' * 30000}]\npath = '{self.dir / path}'\n" for i in range(40)]
        self.file("echo.toml", f"backend_dirs = ['{ECHO}']\n" + "".join(models))
        server = self.serve()
        state = self.state(server)
        self.assertLess(len(json.dumps(state)), 1 << 20)
        self.assertEqual(len(state["models"]) + state["models_left_out"], 40)
        self.assertGreater(len(state["models"]), 10)

    def test_it_is_charged(self):
        server = self.serve("--max-memory-in-flight", "100", models={"m": MODEL})
        answer = server.request("GET", "/wasinn/state")
        self.check_answer(answer, 429, "their limit of memory")


class Page(PageTest):
    def expect_page(self, answer):
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(b"<title>wasinn serve</title>", answer.body)

    def test_files_and_headers(self):
        server = self.serve(models={"m": MODEL})
        page = server.request("GET", "/")
        self.expect_page(page)
        self.expect_page(server.request("GET", "/?x=1"))
        self.expect_page(server.request("GET", "/wasinn/"))
        for path in ("/", "/wasinn/state", *("/wasinn/" + name for name in FILES), "/wasinn/none"):
            answer = server.request("GET", path)
            with self.subTest(path):
                self.assertEqual(answer.status, 404 if path.endswith("none") else 200)
                policy = answer.headers["Content-Security-Policy"]
                self.assertIn("default-src 'none'", policy)
                self.assertNotIn("unsafe", policy)
                self.assertEqual((answer.headers["X-Content-Type-Options"], answer.headers["X-Frame-Options"]), ("nosniff", "DENY"))
                self.assertEqual(answer.headers["Cache-Control"], "no-store")
        types = [server.request("GET", f"/wasinn/{name}").headers["Content-Type"] for name in ("page.js", "page.css", "icon.svg")]
        self.assertEqual(types, ["text/javascript; charset=utf-8", "text/css; charset=utf-8", "image/svg+xml"])
        answer = server.request("HEAD", "/")
        self.assertEqual((answer.status, answer.headers["Content-Length"], answer.body), (200, str(len(page.body)), b""))
        self.check_answer(server.request("POST", "/"), 405)
        self.check_answer(server.request("POST", "/wasinn/state", b"{}"), 405)

    def test_nothing_of_it_comes_from_elsewhere(self):
        server = self.serve(models={"m": MODEL})
        for name in ("", *FILES):
            body = server.request("GET", f"/wasinn/{name}").body.replace(b"http://www.w3.org/2000/svg", b"")
            for word in (b"http:", b"https:", b"innerHTML", b"insertAdjacentHTML", b"document.write", b"eval(", b" style=", b" onclick="):
                self.assertNotIn(word, body, name)

    def test_no_page(self):
        server = self.serve("--no-page", models={"m": MODEL})
        for path in ("/", "/wasinn/", "/wasinn/state", "/wasinn/page.js"):
            self.check_answer(server.request("GET", path), 404)
        self.check_answer(server.infer("m", BODY), 200)

    def test_a_route_wins(self):
        file = self.file("root.wat", saying(PLAIN + b"the guest's"))
        for flags in ((), ("--no-page",)):
            server = self.serve("--route", f"/={file}", *flags)
            self.assertEqual(server.request("GET", "/").body, b"the guest's")
            self.assertEqual(server.request("GET", "/wasinns").body, b"the guest's")
            if flags:
                self.check_answer(server.request("GET", "/wasinn/state"), 404)
            else:
                self.expect_page(server.request("GET", "/wasinn/"))
                self.assertEqual(self.await_state(server, lambda now: now["routes"][0]["requests"] == 2)["routes"][0]["path"], "/")
        done = self.wasinn("serve", "--route", f"/wasinn/x={file}")
        self.assertIn("is the server's", done.err)


class Origins(PageTest):
    """A browser's headers for a request of a page."""

    def setUp(self):
        super().setUp()
        self.flags = ()
        self.server = None

    def start(self, *flags):
        self.server = self.serve_guests(*flags, models={"m": MODEL}, echo=saying(PLAIN, "(call $body)"))

    def ask(self, method, path, origin=None, host=None, body=None, **more):
        headers = {**({"Origin": origin} if origin is not None else {}), **({"Host": host} if host else {}), **more}
        return self.server.request(method, path, body, headers)

    def infer(self, origin=None, host=None):
        return self.ask("POST", "/v2/models/m/infer", origin, host, BODY)

    def test_its_own_pages_may_ask(self):
        self.start()
        port = self.server.port
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LocalHost:{port}", f"[::1]:{port}", f"a.localhost:{port}", "10.1.2.3"):
            self.assertEqual(self.infer(f"http://{host}".lower(), host).status, 200, host)
        self.assertEqual(self.infer(f"https://127.0.0.1:{port}").status, 200)  # behind something that speaks TLS
        self.assertEqual(self.infer("https://127.0.0.1", "127.0.0.1").status, 200)
        self.assertEqual(self.infer().status, 200)  # no browser

    def test_those_of_others_may_not(self):
        self.start()
        port = self.server.port
        own = f"127.0.0.1:{port}"
        for origin in ("http://evil.example", f"http://evil.example:{port}", "null", "", "http://127.0.0.1", f"http://127.0.0.1:{port}0",
                       f"http://127.0.0.1:{port}.evil.example", f"http://x@127.0.0.1:{port}", f"http://127.0.0.1:{port}/", f"http://localhost:{port}",
                       f"ftp://127.0.0.1:{port}", "http://[", "x" * 8000):
            with self.subTest(origin):
                self.check_answer(self.infer(origin, own), 403, "--allow-origin")
        for path in ("/v2/repository/models/m/load", "/v2/repository/models/m/unload", "/v2/repository/index", "/echo", "/", "/none"):
            answer = self.ask("POST", path, "http://evil.example", body=b"{}")
            self.check_answer(answer, 403, "pages of http://evil.example may not send requests")
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
            self.check_answer(self.ask(method, "/echo", "http://evil.example"), 403)
        self.assertEqual(self.ask("OPTIONS", "/v2/models/m/infer", "http://evil.example", **{"Access-Control-Request-Method": "POST"}).status, 403)
        state = self.state(self.server)
        self.assertEqual((self.model(state)["inferences"]["succeeded"], state["routes"][0]["requests"]), (0, 0))

    def test_two_origins_are_none(self):
        self.start("--allow-origin", "http://good.example")
        text = head(len(BODY), "Origin: http://good.example\r\nOrigin: http://evil.example\r\n").replace(b"Host: a", b"Host: 127.0.0.1") + BODY
        self.assertIn(" 403 ", self.raw(self.server, text))

    def test_what_only_reads_is_answered_but_not_shown(self):
        self.start()
        for path in ("/v2/models/m", "/v2", "/wasinn/state", "/"):
            answer = self.ask("GET", path, "http://evil.example")
            self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (200, None))

    def test_a_name_that_leads_here(self):
        """DNS rebinding: then the browser takes an attacker's page for one of this server's."""
        self.start()
        for host in ("evil.example", f"evil.example:{self.server.port}", "127.0.0.1.evil.example", "localhost.evil.example", "x@127.0.0.1", "[", ""):
            with self.subTest(host):
                for path in ("/", "/wasinn/state", "/wasinn/page.js"):
                    answer = self.raw(self.server, f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                    self.assertIn(" 403 ", answer)
        self.check_answer(self.infer(f"http://evil.example:{self.server.port}", f"evil.example:{self.server.port}"), 403)
        self.assertEqual(self.infer(host="models.cluster.local").status, 200)  # no browser: proxies and clusters name it as they like
        self.assertIn(" 200 ", self.raw(self.server, b"GET / HTTP/1.0\r\n\r\n"))

    def test_allowed_origins(self):
        self.start("--allow-origin", "https://Good.example:443", "--allow-origin", "http://other.example:8080")
        for origin in ("https://good.example", "http://other.example:8080"):
            answer = self.infer(origin)
            self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"], answer.headers["Vary"]), (200, origin, "Origin"))
            self.assertIn("Inference-Header-Content-Length", answer.headers["Access-Control-Expose-Headers"])
        for origin in ("http://good.example", "https://good.example:8443", "http://other.example"):
            self.check_answer(self.infer(origin), 403)
        self.assertEqual(self.ask("POST", "/v2/models/none/infer", "https://good.example", body=BODY).headers["Access-Control-Allow-Origin"],
                         "https://good.example")  # errors, too
        self.assertEqual(self.ask("GET", "/wasinn/state", host="good.example").status, 200)
        self.assertEqual(self.ask("GET", "/wasinn/state", host="other.example:8080").status, 200)
        self.assertEqual(self.ask("GET", "/wasinn/state", host="bad.example").status, 403)

    def test_preflights(self):
        self.start("--allow-origin", "https://good.example")
        asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,x-a"}
        for path in ("/v2/models/m/infer", "/echo"):
            answer = self.ask("OPTIONS", path, "https://good.example", **asked)
            self.assertEqual((answer.status, answer.body), (204, b""))
            self.assertEqual((answer.headers["Access-Control-Allow-Methods"], answer.headers["Access-Control-Allow-Headers"]),
                             ("POST", "authorization,x-a"))
            self.assertEqual(answer.headers["Access-Control-Allow-Origin"], "https://good.example")
        self.assertEqual(self.state(self.server)["routes"][0]["requests"], 0)
        answer = self.ask("OPTIONS", "/echo", "https://good.example")  # no preflight: the guest's
        self.assertEqual(answer.status, 200)

    def test_any_origin(self):
        self.start("--allow-origin", "*")
        self.assertEqual(self.infer("null").headers["Access-Control-Allow-Origin"], "null")
        self.assertEqual(self.infer("http://any.example").status, 200)
        self.assertEqual(self.ask("GET", "/wasinn/state", host="any.example").status, 200)

    def test_what_a_guest_says_of_it_stays(self):
        text = b"Access-Control-Allow-Origin: *\n" + PLAIN + b"hi"
        self.server = self.serve_guests("--allow-origin", "http://good.example", says=saying(text))
        answer = self.ask("GET", "/says", "http://good.example")
        self.assertEqual(answer.headers.get_all("Access-Control-Allow-Origin"), ["*"])

    def test_origins_that_are_none(self):
        for text in ("", "good.example", "http://", "http://good.example/", "http://good.example/x", "http://a@good.example",
                     "http://good.example?x", "null", "http:good.example", "http://good.example:x"):
            done = self.wasinn("serve", "--allow-origin", text)
            self.assertEqual(done.code, 2, done)
            self.assertIn("is not an origin", done.err, text)
