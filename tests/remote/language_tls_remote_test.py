"""Guests whose language model is at a server with a certificate, over https."""

import tempfile

from certificates import Authority
from language import COUNT, COUNTED
from language_remote_test import COMPLETION, GREEDY, LOCAL, LanguageRemoteTest
from server import Server


class Tls(LanguageRemoteTest):
    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="wasinn-tls-"))
        self.authority, self.other = Authority(folder, "authority"), Authority(folder, "other")
        certificate, key = self.authority.sign("server")
        server = self.serve_tiny("--tls-cert", str(certificate), "--tls-key", str(key))
        self.path = self.address(server, "tiny").replace("http:", "https:")

    def completion_of(self, prompt, config, authority):
        return self.text(self.path, prompt, COMPLETION, config=config, lines=[f"ca = '{authority.pem}'"])

    def test_texts_and_chats(self):
        prompt = "GNU General Public"
        self.assertEqual(
            self.completion_of(prompt, GREEDY, self.authority),
            self.text(LOCAL["tiny"], prompt, COMPLETION, config=GREEDY),
        )
        self.assertEqual(self.completion_of(COUNT, {"chat": True, "temp": 0}, self.authority), [COUNTED])

    def test_a_gateway_passes_requests_on(self):
        for authority, status in ((self.authority, 200), (self.other, 503)):
            front = Server(self.dir, self.env, ("--config", self.configure(self.path, f"ca = '{authority.pem}'")))
            self.addCleanup(front.process.kill)
            answer = self.ask(front, "chat/completions", model="m", messages=COUNT, temperature=0)
            self.assertEqual(answer.status, status, answer)
            log = self.log_of(front)
            self.assertEqual("comes from an authority that is not trusted" in log, status == 503, log)

    def test_a_certificate_of_another_authority(self):
        [reported] = self.completion_of("x", GREEDY, self.other)
        self.assertRegex(reported, "comes from an authority that is not trusted")
