"""Servers with certificates."""

import concurrent.futures
import shutil
import socket
import ssl
import tempfile
import unittest

from certificates import Authority
from http_fake import Handler
from remote import MODEL, OverHttp, RemoteTest, request, sum_of


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
        without = self.serve_tls().replace(f"{self.secure}:", f"{self.scheme}:")
        self.expect_failure(self.infer_in_guest(without), 5, ".")

    def test_keys_of_tls_need_it(self):
        address = self.address(self.serve(models={"m": MODEL}))
        self.assertIn("key 'ca' is for connections with TLS", self.infer(address).err)
        self.assertIn("key 'server_name' is for connections with TLS", self.infer_in_guest(address, "server_name = 'a'").err)


class Forging(Handler):
    """Sends two answers to one request, at once: in records of their own within one segment."""

    def answer(self, status, body, behind=b""):
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        super().answer(status, body, behind)
        if self.command == "POST":
            super().answer(status, body, bytes(len(behind)))
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)


class HttpTls(OverHttp, Tls):
    def test_what_tls_has_read_ahead_is_no_other_guests(self):
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*map(str, self.own))
        fake = self.fake(handler=Forging, tls=tls)
        front = self.front(self.address(fake, scheme=self.secure), f"ca = '{self.authority.pem}'", "max_connections = 1")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: front.infer("m", request()), range(12)))
        self.assertEqual([(one.status, sum_of(one)) for one in answers], [(200, 21)] * 12)


if __name__ == "__main__":
    unittest.main()
