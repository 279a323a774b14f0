"""A server whose models and guests lie in a registry."""

import signal

from configured import OPERATOR, ConfiguredTest, key
from registry import WithRegistry
from routes_test import PLAIN, saying
from server import BODY, MODEL, WAIT


class ArtifactsTest(WithRegistry, ConfiguredTest):
    def push_echo(self, name):
        return self.push_model(name, b"GGUF\n" + MODEL.encode())

    def push_saying(self, name, text):
        """A program in text, which Wasmtime takes, too."""
        return self.push_guest(name, saying(PLAIN + text).encode())

    def route_at(self, reference):
        return f"[routes.'/g']\nfile = '{reference}'\n"

    def infer(self, server):
        return server.request("POST", "/v2/models/m/infer", BODY, key("operator"))

    def said(self, server):
        return server.request("GET", "/g", headers=key("operator")).body

    def test_flags(self):
        self.push_echo("model:1")
        self.push_saying("guest:1", b"one")
        model, guest = (self.registry.reference(name) for name in ("model:1", "guest:1"))
        server = self.serve("--model", f"m={model}", "--route", f"/g={guest}")
        self.check_answer(self.infer(server), 200)
        self.assertEqual(self.said(server), b"one")
        log = self.log_of(server)
        self.assertEqual(log.count("wasinn: info: "), 2, "what the two tags stand for: " + log)

    def test_settings_are_read_again(self):
        guests = [self.registry.reference("guest", self.push_saying(f"guest:{text.decode()}", text)) for text in (b"one", b"two")]
        text = f"[models.m]\npath = '{self.registry.reference('model', self.push_echo('model:1'))}'\n" + OPERATOR
        server = self.serve_file(text + self.route_at(guests[0]), models={})
        self.check_answer(self.infer(server), 200)
        self.assertEqual(self.said(server), b"one")
        self.reload(server, text + self.route_at(guests[1]))
        self.assertEqual(self.said(server), b"two")
        # A failed pull changes nothing.
        self.ask(server, text + self.route_at(self.registry.reference("guest", "sha256:" + "0" * 64)))
        server.await_line("manifest unknown")
        self.assertEqual(self.said(server), b"two")
        # A pulled artifact needs no registry.
        self.registry.stop()
        self.reload(server, text + self.route_at(guests[0]))
        self.assertEqual(self.said(server), b"one")
        self.check_answer(self.infer(server), 200)
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(WAIT), 0)
        server.process.stdout.close()
        server.process.stderr.close()

    def test_what_cannot_be_pulled(self):
        nothing = self.registry.reference("nothing:1")
        for flags, text in ((["--model", f"m={nothing}"], "serve: model m: cannot pull "), (["--route", f"/g={nothing}"], "serve: the route '/g': cannot pull "),
                            (["--guest-model", f"g={nothing}"], "serve: the guest model 'g': cannot pull "),
                            (["--config", self.configure(self.route_at("oci://localhost/g:1"))], "has no digest")):
            self.check_error(self.wasinn("serve", "--http-port", "0", *flags), text)
