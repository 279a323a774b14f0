"""Servers with certificates."""

import shutil
import tempfile
import unittest

from certificates import Authority
from remote import MODEL, OverHttp, RemoteTest


class Tls(RemoteTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="wasinn-tls-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.authority, cls.other = Authority(cls.folder, "authority"), Authority(cls.folder, "other")
        cls.own, cls.client, cls.stranger = cls.authority.sign("server"), cls.authority.sign("client"), cls.other.sign("client")

    def serve_tls(self, *flags):
        server = self.serve("--tls-cert", str(self.own[0]), "--tls-key", str(self.own[1]), *flags, models={"m": MODEL})
        return self.address(server, scheme=self.secure)

    def infer(self, address, *lines, ca=None, shown=None):
        keys = [f"{key} = '{path}'" for key, path in zip(("ca", "cert", "key"), ((ca or self.authority).pem, *(shown or ())))]
        return self.infer_in_guest(address, *keys, *lines)

    def test_a_server_with_the_right_certificate(self):
        self.expect_sums(self.infer(self.serve_tls()))

    def test_a_certificate_of_another_authority(self):
        self.expect_failure(self.infer(self.serve_tls(), ca=self.other), 5, "CERTIFICATE_VERIFY_FAILED|handshake failed|certificate verify failed")

    def test_a_certificate_for_another_name(self):
        address = self.serve_tls()
        self.expect_sums(self.infer(address, "server_name = 'localhost'"))
        self.expect_failure(self.infer(address, "server_name = 'elsewhere'"), 5, "not match|[Hh]ostname|peer|failed to connect")

    def test_who_must_show_a_certificate(self):
        address = self.serve_tls("--tls-client-ca", str(self.authority.pem))
        self.expect_sums(self.infer(address, shown=self.client))
        for shown in (None, self.stranger):
            self.assertIn("errno 5 ", self.infer(address, shown=shown).out)

    def test_a_server_that_speaks_the_other_way(self):
        plain = self.serve(models={"m": MODEL})
        self.expect_failure(self.infer(self.address(plain, scheme=self.secure)), 5, "failed to connect|handshake")
        self.expect_failure(self.infer(self.serve_tls().replace(f"{self.secure}:", f"{self.scheme}:")), 5, ".")


class HttpTls(OverHttp, Tls):
    pass


if __name__ == "__main__":
    unittest.main()
