"""Servers with certificates."""

import concurrent.futures
import shutil
import socket
import ssl
import tempfile

from certificates import Authority
from http_fake import Handler
from remote import MODEL, OverHttp, RemoteTest, request, sum_of


class Tls(RemoteTest):
    # The errors about a server's certificate: gRPC has words of its own.
    untrusted = other_name = "CERTIFICATE_VERIFY_FAILED|handshake failed|not match|[Hh]ostname|peer|failed to connect"
    plain_text = "failed to connect|handshake"
    wants_tls = wants_certificate = "Socket closed: it may want"

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
        self.expect_failure(self.infer(self.serve_tls(), ca=self.other), 5, self.untrusted)

    def test_a_certificate_for_another_name(self):
        address = self.serve_tls()
        self.expect_sums(self.infer(address, "server_name = 'localhost'"))
        self.expect_failure(self.infer(address, "server_name = 'elsewhere'"), 5, self.other_name)

    def test_a_server_may_require_a_client_certificate(self):
        address = self.serve_tls("--tls-client-ca", str(self.authority.pem))
        self.expect_sums(self.infer(address, shown=self.client))
        for shown in (None, self.stranger):
            self.expect_failure(self.infer(address, shown=shown), 5, self.wants_certificate)

    def test_errors_hint_at_the_other_scheme(self):
        plain = self.serve(models={"m": MODEL})
        self.expect_failure(self.infer(self.address(plain, scheme=self.secure)), 5, self.plain_text)
        without = self.serve_tls().replace(f"{self.secure}:", f"{self.scheme}:")
        self.expect_failure(self.infer_in_guest(without), 5, self.wants_tls)


class Forging(Handler):
    """Sends two answers to one request, at once: in records of their own within one segment."""

    def answer(self, status, body, behind=b""):
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        super().answer(status, body, behind)
        if self.command == "POST":
            super().answer(status, body, bytes(len(behind)))
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)


class HttpTls(OverHttp, Tls):
    untrusted = r"comes from an authority that is not trusted \(key 'ca'\)"
    other_name = r"the server's certificate is not for 'elsewhere' \(key 'server_name'\)"
    plain_text = "the server seems not to use TLS; http://[?]"
    wants_tls = "the server ended the connection before it answered; https://[?]"
    wants_certificate = "the connection was lost: .*certificate|unknown ca"

    def test_bytes_that_tls_read_ahead_reach_no_other_guest(self):
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*map(str, self.own))
        fake = self.fake(handler=Forging, tls=tls)
        front = self.front(self.address(fake, scheme=self.secure), f"ca = '{self.authority.pem}'", "max_connections = 1")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: front.infer("m", request()), range(12)))
        self.assertEqual([(one.status, sum_of(one)) for one in answers], [(200, 21)] * 12)
