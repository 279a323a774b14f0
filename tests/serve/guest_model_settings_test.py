"""Guests that are models: which files are, and what a configuration says of them."""

import json
import signal

from command import PROBE as MODULE
from command import longer_and_longer
from compiling import doubling
from configured import ConfiguredTest, key, tenant
from guest_model_probe import HOST, PROBE, GuestModelTest, await_loop, request
from server import until


class Files(GuestModelTest):
    def expect_failure(self, flags, text):
        done = self.serve_in_vain(*flags)
        self.assertEqual(done.code, 125, done)
        self.assertIn(text, done.err)
        self.assertLess(len(done.err), 2000)

    def test_descriptions(self):
        for name, text in (
            ("describes_trap", "unreachable"),
            ("describes_exit", "describes no output"),
            ("describes_huge", "too much data"),
            ("describes_many", "more than 4096 inputs or outputs"),
            ("describes_twice", "'label' is described twice"),
            ("describes_rank", "dimensions"),
        ):
            with self.subTest(name):
                self.expect_failure(["--guest-model", f"{name}={PROBE}"], text)
        for name in ("describes_loop", "describes_sleep"):
            with self.subTest(name):
                self.expect_failure(["--guest-model", f"{name}={PROBE}", "--timeout", "300ms"], "run_timeout_ms")

    def test_what_is_no_model(self):
        self.file("empty.wat", "(component)")
        self.file("other.wat", """(component (core module $m (func (export "f"))) (core instance $i (instantiate $m))
            (func $f (canon lift (core func $i "f"))) (instance $model (export "describe" (func $f)) (export "infer" (func $f)))
            (export "wasinn:serve/model@0.1.0" (instance $model)))""")
        self.file("text.wasm", "no module")
        for flags, text in (
            (["--guest-model", "g"], "is not NAME=FILE"),
            (["--guest-model", f"g:1={PROBE}"], "the guest model 'g:1': a colon"),
            (["--guest-model", "g=nowhere.wasm"], "nowhere.wasm"),
            (["--guest-model", f"g={MODULE}"], "only components can be models"),
            (["--guest-model", "g=empty.wat"], "exports no wasinn:serve/model@0.1.0"),
            (["--guest-model", "g=other.wat"], "type"),
            (["--guest-model", "g=text.wasm"], "text.wasm"),
            (["--guest-model", f"={PROBE}"], "name"),
        ):
            with self.subTest(flags):
                done = self.serve_in_vain(*flags)
                self.assertNotEqual(done.code, 0, done)
                self.assertIn(text, done.err)

    def test_what_takes_much_to_compile(self):
        self.file("doubling.wat", doubling(24))
        self.expect_failure(["--guest-model", "g=doubling.wat", "--max-compile-memory", "300M"], "compiling it took more than 300 MiB of memory")
        self.expect_failure(["--route", "/r=doubling.wat", "--compile-timeout", "100ms"], "compiling it took longer than 100 ms")

    def test_a_name_that_a_model_has(self):
        self.file("m.gguf", "GGUF\n" + HOST)
        self.expect_failure(["--model", "m=m.gguf", "--guest-model", f"m={PROBE}"], "the guest model 'm': a model has this name already")


class Configured(ConfiguredTest):
    def section(self, name, more=""):
        return f"[guest_models.{name}]\nfile = '{PROBE}'\n{more}\n"

    def test_a_file(self):
        server = self.serve_file(self.section("g"))
        self.check_answer(server.infer("g", request()), 200)
        for text, wrong in ((self.section("g", "public = true"), "unknown configuration key 'guest_models.g.public'"),
                            ("[guest_models.g]\n", "'guest_models.g.file' must be a path")):
            done = self.wasinn("serve", "--config", self.configure(text))
            self.assertEqual(done.code, 125, done)
            self.assertIn(wrong, done.err)

    def test_limits_are_those_of_the_asking_tenant(self):
        few = "[tenants.few.limits]\nmax_fuel = 100000000\nrun_timeout_ms = 3600000\n"
        for timeout in longer_and_longer():
            short = f"[tenants.any.limits]\nrun_timeout_ms = {timeout}\n"
            server = self.serve_file(self.section("g") + tenant("few", few) + tenant("any", short))

            def ask(name, what):
                return server.request("POST", "/v2/models/g/infer", json.dumps(request(what)), key(name))

            self.check_answer(ask("few", "double"), 200)
            self.check_answer(ask("few", "loop"), 500, "ended in a trap")
            self.check_answer(ask("any", "loop"), 504, f"was not done within {timeout} ms")
            in_time = ask("any", "double").status == 200
            self.assertEqual(server.stop()[0], 0)
            if in_time:
                break

    def test_memories_of_a_pool(self):
        server = self.serve_file(self.section("g") + "[engine]\npool_instances = 2\npool_memory_bytes = 67108864\n")
        for _ in range(5):  # each gives its place back
            self.check_answer(server.infer("g", request()), 200)
            self.check_answer(server.infer("g", request("trap")), 500)
        self.assertNotIn("pool", self.log_of(server))

    def test_it_is_read_again(self):
        """With its file, and what it runs by then ends as it began."""
        server = self.serve_file(self.section("g") + "[limits]\nrun_timeout_ms = 600000\n")
        connection = server.connect()
        connection.request("POST", "/v2/models/g/infer", json.dumps(request("loop")))
        await_loop(server)
        self.configure(self.section("types"))
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.request("GET", "/v2/models/g").status == 404)
        self.assertEqual(server.request("GET", "/v2/models/types").json()["inputs"][0]["name"], "BOOL")
        self.configure(self.section("describes_twice"))
        server.process.send_signal(signal.SIGHUP)
        until(lambda: b"described twice" in server.process.stderr.readline())
        self.assertEqual(server.request("GET", "/v2/models/types").status, 200)
        connection.close()
        self.assertEqual(server.stop()[0], 0)

    def test_what_is_unloaded_stays_so(self):
        """However often the settings are read."""
        server = self.serve_file(self.section("g"))
        self.check_answer(server.request("POST", "/v2/repository/models/g/unload"), 200)
        self.reload(server, self.section("g"))
        self.check_answer(server.infer("g", request()), 503, "unloaded")
        self.check_answer(server.request("POST", "/v2/repository/models/g/load"), 200)
        self.check_answer(server.infer("g", request()), 200)

    def test_tenants_see_what_they_may(self):
        text = self.section("g") + tenant("a") + tenant("b", "[tenants.b.policy]\nmodels = ['m']") + tenant("c", "[tenants.c.policy]\nmodels = ['g']")
        server = self.serve_file(text, models={"m": "in x f32 1\n", "host": HOST})

        def ask(name, path, body=None):
            return server.request("POST" if body else "GET", path, body, key(name))

        body = json.dumps(request()).encode()
        self.check_answer(server.request("POST", "/v2/models/g/infer", body), 401)
        for name, status in (("a", 200), ("b", 404), ("c", 200)):
            self.check_answer(ask(name, "/v2/models/g/infer", body), status)
            for path in ("", "/ready", "/config", "/stats"):
                self.assertEqual(ask(name, "/v2/models/g" + path).status, status)
            index = ask(name, "/v2/repository/index", b"{}").json()
            self.assertEqual("g" in [one["name"] for one in index], status == 200)
        self.assertEqual(ask("b", "/v2/models/stats").json(), {"model_stats": []})
        # The guest has the policy of the asking tenant.
        body = json.dumps(request("host")).encode()
        self.check_answer(ask("a", "/v2/models/g/infer", body), 200)
        self.check_answer(ask("c", "/v2/models/g/infer", body), 500, "the guest 'g': ")
        self.check_answer(ask("a", "/v2/repository/models/g/unload", b"{}"), 403)
        self.check_answer(ask("a", "/v2/repository/models/g/load", b"{}"), 403)

    def test_a_policy_of_its_own(self):
        """The host's model is the guest's alone."""
        text = "policy.models = ['g', 'm']\n" + self.section("g") + "policy.models = ['host']\n"
        server = self.serve_file(text, models={"m": "in x f32 1\n", "host": HOST})
        self.check_answer(server.infer("g", request("host")), 200)
        self.check_answer(server.request("GET", "/v2/models/host"), 404)
        self.assertNotIn(b"host", server.request("POST", "/v2/repository/index").body)
