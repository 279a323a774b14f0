"""Tenants with keys, of a configuration file: their rights, and their turns."""

import select

from configured import OPERATOR, ConfiguredTest, digest, key, tenant
from routes_test import LOOP, PLAIN, guest, saying
from server import BODY, MODEL, RUNNING, WAIT, Answer, head, read_all, until

INFER = "/v2/models/m/infer"


class Tenants(ConfiguredTest):

    def test_a_key_is_needed(self):
        server = self.serve_file(tenant("a") + tenant("b"))
        for headers in ({}, {"Authorization": "Bearer no"}, {"Authorization": "Basic key of a"}, {"Authorization": "Bearer "},
                        {"Authorization": "Bearer  key of a"}, {"Authorization": digest("key of a")}):
            answer = server.request("POST", INFER, BODY, headers)
            self.check_answer(answer, 401, "key")
            self.assertEqual(answer.headers["WWW-Authenticate"], "Bearer")
        for name in ("a", "b"):
            self.check_answer(server.request("POST", INFER, BODY, key(name)), 200)
        self.check_answer(server.request("POST", INFER, BODY, {"authorization": "bearer key of a"}), 200)

    def test_without_a_key_only_health_is_reported(self):
        server = self.serve_file(tenant("a"), "--route", f"/r={self.file('r.wat', saying(PLAIN + b'r'))}")
        for path in ("/v2/health/live", "/v2/health/ready"):
            self.check_answer(server.request("GET", path), 200)
        for path in ("/v2", "/v2/models/m", "/v2/models/stats", "/v2/health/no", "/r", "/r/x", "/no"):
            self.check_answer(server.request("GET", path), 401)
        self.check_answer(server.request("POST", "/v2/repository/index"), 401)
        self.assertEqual(server.request("GET", "/r", headers=key("a")).body, b"r")

    def test_a_body_without_a_key_is_refused_at_once(self):
        server = self.serve_file(tenant("a"))
        with server.socket() as connection:
            connection.sendall(head(200 << 20))
            self.assertTrue(read_all(connection).startswith(b"HTTP/1.1 401 "))

    def test_fuel_that_another_tenant_lacks(self):
        route = self.file("r.wat", saying(PLAIN + b"r"))
        server = self.serve_file(tenant("a", "[tenants.a.limits]\nmax_fuel = 1") + tenant("b"), "--route", f"/r={route}")
        self.check_answer(server.request("GET", "/r", headers=key("a")), 502, "trap")
        self.assertEqual(server.request("GET", "/r", headers=key("b")).body, b"r")
        self.assertEqual(server.stop()[0], 0)

    def test_a_request_without_a_key_sends_no_large_body(self):
        server = self.serve_file(tenant("a"))
        for path in ("/v2/health/live", "/", "/wasinn/page.js"):
            with server.socket() as connection:
                connection.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n".encode())
                self.assertTrue(read_all(connection).startswith(b"HTTP/1.1 413 "), path)

    def test_one_key_or_none(self):
        server = self.serve_file(tenant("a"))
        with server.socket() as connection:
            connection.sendall(head(len(BODY), "Authorization: Bearer key of a\r\nAuthorization: Bearer no\r\n") + BODY)
            self.assertTrue(read_all(connection).startswith(b"HTTP/1.1 401 "))

    def test_memory_that_one_holds_is_not_all(self):
        """Half of it; its further requests hold up no other tenant."""
        server = self.serve_file(tenant("a") + tenant("b"), "--max-memory-in-flight", "40M", "--max-body", "30M", "--max-json", "30M")
        with server.socket() as connection:
            connection.sendall(head(25 << 20, "Authorization: Bearer key of a\r\n") + bytes(21 << 20))
            self.assertTrue(connection.recv(1000).startswith(b"HTTP/1.1 429 "))
        with server.socket() as held:
            held.sendall(head(25 << 20, "Authorization: Bearer key of a\r\n") + bytes(19 << 20))
            self.check_answer(server.request("POST", INFER, BODY, key("b")), 200)

    def test_guests_see_no_key(self):
        route = self.file("r.wat", guest("(call $say (i32.const 1)) (call $environment)", PLAIN))
        server = self.serve_file(tenant("a") + f'[routes."/p"]\nfile = "{route}"\npublic = true\n[routes."/r"]\nfile = "{route}"\n')
        for path in ("/r", "/p"):
            for keys in (key("a"), {"X-Api-Key": "key of a"}, {**key("a"), "X-Api-Key": "key of a"}):
                reported = server.request("GET", path, headers={**keys, "X-Other": "other"}).body
                self.assertIn(b"HTTP_X_OTHER=other", reported)
                self.assertNotIn(b"key of a", reported)

    def test_guests_that_run_for_long_leave_room(self):
        """The guest that runs for long needs no key."""
        routes = [self.file("loop.wat", guest(LOOP)), self.file("r.wat", saying(PLAIN + b"r"))]
        server = self.serve_file(tenant("a") + OPERATOR + f'[routes."/loop"]\nfile = "{routes[0]}"\npublic = true\n[routes."/r"]\nfile = "{routes[1]}"\n')
        connections = [server.socket() for _ in range(40)]
        for connection in connections:
            self.addCleanup(connection.close)
            connection.sendall(b"GET /loop HTTP/1.1\r\nHost: a\r\n\r\n")
        until(lambda: self.state(server)["load"]["route_workers"]["waiting"] > 0)
        self.assertEqual(server.request("GET", "/r", headers=key("a")).body, b"r")
        for connection in connections:
            connection.close()
        code, said = server.stop()  # the log names guests that were ended
        self.assertEqual(code, 0, said)

    def state(self, server):
        return server.request("GET", "/wasinn/state", headers=key("operator")).json()

    def test_a_public_route(self):
        route = self.file("r.wat", saying(PLAIN + b"r"))
        server = self.serve_file(tenant("a") + f'[routes."/r"]\nfile = "{route}"\npublic = true\n')
        self.assertEqual(server.request("GET", "/r").body, b"r")
        self.check_answer(server.request("GET", "/v2/models/m"), 401)

    def test_each_sees_its_models_alone(self):
        server = self.serve_file(tenant("a", '[tenants.a.policy]\nmodels = ["m"]') + tenant("b"), models={"m": MODEL, "other": MODEL})
        for name, models in (("a", ["m"]), ("b", ["m", "other"])):
            index = server.request("POST", "/v2/repository/index", headers=key(name)).json()
            self.assertEqual(sorted(one["name"] for one in index), models)
            self.check_answer(server.request("POST", INFER, BODY, key(name)), 200)
        server.request("POST", "/v2/models/other/infer", BODY, key("b"))
        for path in ("/v2/models/other", "/v2/models/other/config", "/v2/models/other/stats", "/v2/models/other/ready"):
            self.check_answer(server.request("GET", path, headers=key("a")), 404, "there is no model 'other'")
            self.check_answer(server.request("GET", path, headers=key("b")), 200)
        self.check_answer(server.request("POST", "/v2/models/other/infer", BODY, key("a")), 404)
        reported = server.request("GET", "/v2/models/stats", headers=key("a")).json()
        self.assertEqual([one["name"] for one in reported["model_stats"]], ["m"])

    def test_one_version_of_a_model(self):
        server = self.serve_file(tenant("a", '[tenants.a.policy]\nmodels = ["m:1"]'), models={"m": MODEL, "mm": MODEL})
        self.check_answer(server.request("POST", INFER, BODY, key("a")), 200)
        self.check_answer(server.request("POST", "/v2/models/m/versions/1/infer", BODY, key("a")), 200)
        self.check_answer(server.request("POST", "/v2/models/mm/infer", BODY, key("a")), 404)

    def test_operators_alone_load_and_unload(self):
        server = self.serve_file(tenant("a") + tenant("b", "operator = true"))
        for what in ("load", "unload"):
            path = f"/v2/repository/models/m/{what}"
            self.check_answer(server.request("POST", path, headers=key("a")), 403, "operator")
            self.check_answer(server.request("POST", path, headers=key("b")), 200)

    def test_requests_at_once(self):
        server = self.serve_file(tenant("a", "max_requests = 1") + tenant("b"), models={"m": MODEL + "turns 8\ndelay 60000\n", "n": MODEL})
        with server.socket() as connection:
            connection.sendall(head(len(BODY), "Authorization: Bearer key of a\r\n") + BODY)
            server.await_metrics(f"{RUNNING} 1")
            answer = server.request("POST", "/v2/models/n/infer", BODY, key("a"))
            self.check_answer(answer, 429, "tenant 'a'")
            self.assertEqual(answer.headers["Retry-After"], "1")
            self.check_answer(server.request("POST", "/v2/models/n/infer", BODY, key("b")), 200)
        until(lambda: server.request("POST", "/v2/models/n/infer", BODY, key("a")).status == 200)

    def test_a_tenant_that_floods_makes_room(self):
        """A tenant that fills the queue does not keep another one out of it."""
        server = self.serve_file("[limits]\ncompute_timeout_ms = 0\n" + tenant("a") + tenant("b"), "--max-waiting", "40",
                                 models={"m": MODEL + "turns 8\ndelay 600000\n"})
        waiting = set()

        def ask(name):
            connection = server.socket()
            self.addCleanup(connection.close)
            connection.sendall(head(len(BODY), f"Authorization: Bearer key of {name}\r\n") + BODY)
            waiting.add(connection)
            return connection

        def refused(seconds):
            readable, _, _ = select.select(waiting, [], [], seconds)
            for connection in readable:
                self.assertTrue(connection.recv(1000).startswith(b"HTTP/1.1 429 "))
                waiting.remove(connection)
            return readable

        while not refused(0.02):
            ask("a")
        while len(waiting) > 40:
            refused(WAIT)
        other = ask("b")
        [connection] = refused(WAIT)
        self.assertNotEqual(connection, other)
        self.assertEqual(len(waiting), 40)

    def test_limits_of_its_own(self):
        server = self.serve_file('[limits]\ncompute_timeout_ms = 600000\n' + tenant("a", "[tenants.a.limits]\ncompute_timeout_ms = 50") + tenant("b"),
                                 models={"m": "in x u8 1\nturns 8\nendless 5\n", "slow": MODEL + "turns 8\ndelay 100\n"})
        self.check_answer(server.request("POST", INFER, BODY.replace(b"FP32", b"UINT8"), key("a")), 504)
        self.check_answer(server.request("POST", "/v2/models/slow/infer", BODY, key("b")), 200)

    def test_a_policy_that_names_a_format_of_a_backend(self):
        server = self.serve_file(tenant("a", "[tenants.a.policy]\nencodings = ['ggml']"))
        self.check_answer(server.request("POST", INFER, BODY, key("a")), 200)

    def test_very_many(self):
        server = self.serve_file("".join(tenant(f"t{n}") for n in range(1000)))
        self.check_answer(server.request("POST", INFER, BODY, key("t999")), 200)

    def test_a_key_on_each_request_of_a_connection(self):
        server = self.serve_file(tenant("a"))
        connection = server.connect()
        for headers, status in ((key("a"), 200), ({}, 401)):
            connection.request("POST", INFER, BODY, headers)
            self.check_answer(Answer(connection.getresponse()), status)
        connection.close()


# Says which of the host's models "m" and "inner" it may have: a letter for each.
ASKS = (guest("""(if (i32.eqz (call $load (i32.const 1100) (i32.const 1) (i32.const 1200))) (then (drop (call $write (i32.const 1) (i32.const 1100) (i32.const 1)))))
  (if (i32.eqz (call $load (i32.const 1101) (i32.const 5) (i32.const 1200))) (then (drop (call $write (i32.const 1) (i32.const 1101) (i32.const 1)))))""")
        .replace("(module", '(module (import "wasi_ephemeral_nn" "load_by_name" (func $load (param i32 i32 i32) (result i32)))', 1)
        .replace("(func (export", f'(data (i32.const 1100) "minner") (data (i32.const 1024) "{PLAIN.decode()}") (func (export'.replace("\n", "\\n"), 1)
        .replace('(func (export "_start") ', f'(func (export "_start") (drop (call $write (i32.const 1) (i32.const 1024) (i32.const {len(PLAIN)}))) ', 1))


class PolicyOfARoute(ConfiguredTest):
    """A model that a guest has and no client: clients cannot bypass the guest."""

    MODELS = {"m": MODEL, "inner": MODEL}

    def serve_guard(self, policy, config="", **more):
        return self.serve_file(f"""limits.max_log_messages = 0
{config}
[routes."/guard"]
file = "{self.file('asks.wat', ASKS)}"
{policy}
[routes."/plain"]
file = "asks.wat"
""", models=self.MODELS, **more)

    def expect_hidden(self, server, headers=None):
        """Requests over HTTP, in any way."""
        def ask(method, path, body=None):
            return server.request(method, path, body, headers)

        self.check_answer(ask("POST", INFER, BODY), 200)
        for path in ("", "/ready", "/config", "/stats", "/versions/1", "/versions/1/ready"):
            self.check_answer(ask("GET", "/v2/models/inner" + path), 404, "there is no model 'inner'")
        for path in ("/v2/models/inner/infer", "/v2/models/inner/versions/1/infer"):
            self.check_answer(ask("POST", path, BODY), 404, "there is no model 'inner'")
        for path in ("/v2/repository/index", "/v2/models/stats", "/v1/models"):
            answer = ask("POST" if path.endswith("index") else "GET", path)
            self.assertEqual(answer.status, 200)
            self.assertNotIn(b"inner", answer.body, path)
        for what in ("load", "unload"):
            self.assertIn(ask("POST", f"/v2/repository/models/inner/{what}").status, (403, 404))
        answer = ask("POST", "/v1/completions", b'{"model": "inner", "prompt": "a"}')
        self.assertEqual((answer.status, answer.json()["error"]["code"]), (404, "model_not_found"))

    def test_it_is_the_guests_alone(self):
        server = self.serve_guard('policy.models = ["inner"]', "policy.models = ['m']")
        self.assertEqual(server.request("GET", "/guard").body, b"i")
        self.assertEqual(server.request("GET", "/plain").body, b"m")
        self.expect_hidden(server)
        state = server.request("GET", "/wasinn/state").json()
        self.assertEqual(([model["name"] for model in state["models"]], state["models_left_out"]), (["m"], 0))

    def test_it_counts_in_place_of_the_tenants(self):
        mine = "[tenants.{0}.policy]\nmodels = ['m']"
        server = self.serve_guard('policy.models = ["inner"]', tenant("a", mine.format("a")) + tenant("operator", "operator = true\n" + mine.format("operator")))
        for name in ("a", "operator"):
            self.assertEqual(server.request("GET", "/guard", headers=key(name)).body, b"i")
            self.assertEqual(server.request("GET", "/plain", headers=key(name)).body, b"m")
            self.expect_hidden(server, key(name))
        self.assertNotIn(b"inner", server.request("GET", "/wasinn/state", headers=key("operator")).body)

    def test_only_an_operator_sees_the_servers_state(self):
        """Though the text is kept for a moment."""
        all_of = tenant("all", "operator = true")
        some = tenant("some", "operator = true\n[tenants.some.policy]\nmodels = ['m']")
        server = self.serve_guard("", all_of + some)
        for _ in range(3):
            self.assertIn(b'"inner"', server.request("GET", "/wasinn/state", headers=key("all")).body)
            self.assertNotIn(b"inner", server.request("GET", "/wasinn/state", headers=key("some")).body)

    def test_without_a_policy_a_route_has_the_askers(self):
        server = self.serve_guard("public = true", tenant("a", "[tenants.a.policy]\nmodels = ['m']"))
        self.assertEqual(server.request("GET", "/guard", headers=key("a")).body, b"mi")  # of a public route: the file's
        self.assertEqual(server.request("GET", "/plain", headers=key("a")).body, b"m")

    def test_clients_may_have_no_model_at_all(self):
        server = self.serve_guard('policy.models = ["inner", "m"]', "policy.models = []")
        self.assertEqual(server.request("GET", "/guard").body, b"mi")
        self.check_answer(server.request("POST", INFER, BODY), 404)

    def test_it_is_read_again(self):
        server = self.serve_guard('policy.models = ["inner"]', OPERATOR + "[policy]\nmodels = ['m']")
        self.assertEqual(server.request("GET", "/guard", headers=key("operator")).body, b"i")
        self.reload(server, "limits.max_log_messages = 0\n" + OPERATOR + f'[policy]\nmodels = ["m"]\n[routes."/guard"]\nfile = "asks.wat"\npolicy.models = ["m"]\n')
        self.assertEqual(server.request("GET", "/guard", headers=key("operator")).body, b"m")

    def test_mistakes(self):
        self.file("asks.wat", ASKS)
        for line, why in (("policy.model = ['m']", "unknown configuration key 'routes./guard.policy.model'; did you mean 'models'?"),
                          ("policy = 1", "'routes./guard.policy' must be a table"), ("policy.models = 'm'", "an array of strings"),
                          ("policy.load = 'perhaps'", "'routes./guard.policy.load': ")):
            self.configure(f'[routes."/guard"]\nfile = "asks.wat"\n{line}\n')
            self.check_error(self.wasinn("serve", "--config", "serve.toml"), why)


class Files(ConfiguredTest):
    def test_mistakes(self):
        for text, said in (
            ("[serve]\ncolour = 1\n", "unknown configuration key 'serve.colour'; known are host, http_port"),
            ("[serve]\nhtttp_port = 1\n", "unknown configuration key 'serve.htttp_port'; did you mean 'http_port'?"),
            (tenant("a", "operater = true"), "unknown configuration key 'tenants.a.operater'; did you mean 'operator'?"),
            ("[tenant.a]\n", "serve.toml: unknown configuration key 'tenant'; did you mean 'tenants'?"),
            ("[tenant.a]\nkeys = []\n[tenants.a.policy]\nload = 'deny'\n", "serve.toml: unknown configuration key 'tenant'; did you mean 'tenants'?"),
            ("[serve]\nhttp_port = 65536\n", "'serve.http_port' must be an integer from 0 to 65535"),
            ("[serve]\nhttp_port = '1'\n", "'serve.http_port' must be an integer"),
            ("[serve]\nmetrics = 1\n", "'serve.metrics' must be true or false"),
            ("serve = 1\n", "'serve' must be a table"),
            ("[routes]\na = 1\n", "'routes.a' must be a table"),
            ("[routes.'/a']\n", "'routes./a.file' must be a path"),
            ("[routes.'/a']\nfile = 'no.wasm'\n", "no.wasm"),
            ("[routes.'a']\nfile = 'no.wasm'\n", "the route 'a' does not begin with /"),
            ("[tenants.a]\n", "'tenants.a.keys' must be an array of one or more keys' digests, \"sha256:\" and 64 hexadecimal digits each"),
            ("[tenants.a]\nkeys = []\n", "'tenants.a.keys' must be an array of one or more keys' digests"),
            ("[tenants.a]\nkeys = ['secret']\n", "'tenants.a.keys' must be an array of one or more keys' digests, \"sha256:\""),
            (f"[tenants.a]\nkeys = ['{digest('k')[:-1]}g']\n", "hexadecimal"),
            (f"[tenants.a]\nkeys = ['{digest('k')}', '{digest('k')}']\n", "same key"),
            (tenant("a") + f"[tenants.b]\nkeys = ['{digest('key of a')}']\n", "'a' and 'b' have the same key"),
            (tenant("a", "[tenants.a.limits]\nmax_context = 1"),
             "serve.toml: unknown configuration key 'tenants.a.limits.max_context'; did you mean 'max_contexts'?"),
            (tenant("a", "[tenants.a.policy]\nweight = 0"), "serve.toml: configuration key 'tenants.a.policy.weight' must be an integer from 1 to"),
            (tenant("a", "[tenants.a.policy]\nload = 'perhaps'"), "serve.toml: configuration key 'tenants.a.policy.load': "),
            ("[serve]\ntls_cert = 'a.pem'\n", "serve.toml: configuration key 'serve.tls_cert' needs 'serve.tls_key'"),
            ("[serve]\ntls_key = 'a.pem'\n", "serve.toml: configuration key 'serve.tls_key' needs 'serve.tls_cert'"),
            ("[serve]\ntls_client_ca = 'a.pem'\n", "serve.toml: configuration key 'serve.tls_client_ca' needs 'serve.tls_cert'"),
            ("[serve]\nhost = 'localhost'\n", "'localhost' is not an address to listen on, such as 127.0.0.1 or ::1"),
            ("[serve]\nmax_body_bytes = 2000\nmax_bytes_in_flight = 1000\n", "max_body_bytes (--max-body), 2000, is more than max_bytes_in_flight"),
            *((f"[serve]\n{name} = 0\n", f"serve.toml: configuration key 'serve.{name}' must be a positive integer")
              for name in ("max_body_bytes", "max_json_bytes", "max_bytes_in_flight")),
            *((f"[serve]\n{name} = 0\n", f"serve.toml: configuration key 'serve.{name}' must be an integer from 1 to ")
              for name in ("max_connections", "max_waiting", "wait_timeout_ms", "idle_timeout_ms")),
            ("[serve\n", "serve.toml:2:7: "),
        ):
            with self.subTest(text):
                self.check_error(self.wasinn("serve", "--config", self.configure(text)), said)

    def test_mistakes_in_flags(self):
        for flags, code, said in (
            (("--htp-port", "1"), 2, "unknown flag --htp-port; did you mean '--http-port'?"),
            (("--http-port", "99999"), 2, "'99999' is not an integer from 0 to 65535"),
            (("--grpc-port", "-1"), 2, "'-1' is not an integer from 0 to 65535"),
            (("--metrics-port", "80x"), 2, "'80x' is not an integer from 0 to 65535"),
            (("--max-connections", "0"), 2, "'0' is not an integer from 1 to 1000000"),
            (("--max-waiting", "0"), 2, "'0' is not an integer from 1 to 1000000"),
            (("--max-body", "0"), 2, "'0' is too little"),
            (("--max-memory-in-flight", "0K"), 2, "'0K' is too little"),
            (("--wait-timeout", "0s"), 2, "'0s' is too little"),
            (("--idle-timeout", "0"), 2, "'0' is too little"),
            (("--idle-timeout", "-1"), 2, "'-1' is not a duration"),
            (("--idle-timeout", "soon"), 2, "'soon' is not a duration such as 500ms, 10s, 2m or plain seconds"),
            (("--max-body", "2M", "--max-memory-in-flight", "1M"), 125, "max_body_bytes (--max-body), 2097152, is more than max_bytes_in_flight"),
            (("--host", "localhost"), 125, "'localhost' is not an address to listen on, such as 127.0.0.1 or ::1"),
        ):
            with self.subTest(flags):
                self.check_error(self.wasinn("serve", *flags), said, code=code)

    def test_warnings_about_names_and_open_servers(self):
        self.file("m.gguf", "GGUF\n" + MODEL)
        server = self.serve("--config", self.configure(tenant("a")), "--host", "0.0.0.0", "--model", "m=m.gguf")
        self.assertEqual(self.log_of(server), "")

    def test_what_is_most_likely_forgotten(self):
        route = self.file("r.wat", saying(PLAIN))
        for text, flags, said in (
            ("", (), "there is no model and no route: "),
            (
                "[policy]\nmodels = ['m', 'm:1', 'n']\n",
                ("--model", "m=m.gguf"),
                "warning: policy.models names 'n', which is not a model here",
            ),
            (
                tenant("a", "[tenants.a.policy]\nmodels = ['m:2', 'm']\n"),
                ("--model", "m=m.gguf"),
                "warning: tenants.a.policy.models names 'm:2', which is not a model here",
            ),
            (
                f'[routes."/r"]\nfile = "{route}"\npolicy.models = ["n"]\n',
                ("--model", "m=m.gguf"),
                "warning: routes.\"/r\".policy.models names 'n', which is not a model here",
            ),
            (
                "",
                ("--host", "0.0.0.0", "--model", "m=m.gguf"),
                "warning: any client that reaches 0.0.0.0 can use every model: it needs no key (--api-key, tenants) "
                "and no certificate "
                "(--tls-client-ca)",
            ),
        ):
            with self.subTest(text):
                self.file("m.gguf", "GGUF\n" + MODEL)
                server = self.serve("--config", self.configure(text), *flags)
                err = self.log_of(server)
                self.assertIn(said, err)
                self.assertEqual(err.count("\n"), 1, err)

    def test_secrets_are_not_repeated(self):
        self.assertNotIn("secret", self.wasinn("serve", "--config", self.configure("[tenants.a]\nkeys = ['secret']\n")).err)

    def test_a_file_that_is_not_there(self):
        self.check_error(self.wasinn("serve", "--config", "no.toml"), "cannot read the configuration 'no.toml': No such file or directory")

    def test_flags_beat_the_file(self):
        path = self.configure("[serve]\nmax_body_bytes = 10\nmax_json_bytes = 10\n")
        server = self.serve("--config", path, "--max-body", "1K", models={"m": MODEL})
        self.check_answer(server.request("POST", INFER, BODY), 413, "larger than 10 bytes")
        server = self.serve("--config", path, "--max-body", "1K", "--max-json", "1K", models={"m": MODEL})
        self.check_answer(server.request("POST", INFER, BODY), 200)

    def test_other_commands_read_the_same_file(self):
        path = self.configure("[serve]\nhttp_port = 1\n[routes.'/a']\nfile = 'a'\n" + tenant("a"))
        self.check(self.wasinn("backends", "--config", path))
