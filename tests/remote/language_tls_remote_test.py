"""Guests whose language model is at a server with a certificate, over https."""

import tempfile
import unittest

from certificates import Authority
from language import COUNT, COUNTED
from language_remote_test import COMPLETION, GREEDY, LOCAL, LanguageRemoteTest


class Tls(LanguageRemoteTest):
    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="wasinn-tls-"))
        self.authority, self.other = Authority(folder, "authority"), Authority(folder, "other")
        certificate, key = self.authority.sign("server")
        server = self.serve_tiny("--tls-cert", str(certificate), "--tls-key", str(key))
        self.path = self.address(server, "tiny").replace("http:", "https:")

    def told(self, prompt, config, authority):
        return self.text(self.path, prompt, COMPLETION, config=config, lines=[f"ca = '{authority.pem}'"])

    def test_texts_and_chats(self):
        prompt = "GNU General Public"
        self.assertEqual(self.told(prompt, GREEDY, self.authority), self.text(LOCAL["tiny"], prompt, COMPLETION, config=GREEDY))
        self.assertEqual(self.told(COUNT, {"chat": True, "temp": 0}, self.authority), [COUNTED])

    def test_a_certificate_of_another_authority(self):
        [told] = self.told("x", GREEDY, self.other)
        self.assertRegex(told, "comes from an authority that is not trusted")


if __name__ == "__main__":
    unittest.main()
