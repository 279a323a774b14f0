"""TLS: clients' certificates, the server's, and their changes."""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import ssl
import tempfile

from certificates import Authority, client, openssl
from server import BODY, MODEL, RUNNING, WAIT, Server, ServeTest, head, read_all, until

REFUSED = (ssl.SSLError, ConnectionResetError, BrokenPipeError, http.client.RemoteDisconnected)


class TlsServer(Server):
    context = None  # of the clients that the tests' own helpers are

    def connect(self, port=None):
        return http.client.HTTPSConnection("127.0.0.1", port or self.port, timeout=WAIT, context=self.context)


class TlsTest(ServeTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="wasinn-tls-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.authority, cls.other = Authority(cls.folder, "authority"), Authority(cls.folder, "other")
        cls.own, cls.second = cls.authority.sign("server"), cls.authority.sign("second")
        cls.client, cls.stranger = cls.authority.sign("client"), cls.other.sign("client")
        cls.expired = cls.authority.sign("expired", days=-1)

    def place(self, certificate):
        """As the server's, from its next reading on."""
        for name, source in zip(("cert.pem", "key.pem"), certificate):
            shutil.copy(source, self.dir / f"{name}.new")
            os.rename(self.dir / f"{name}.new", self.dir / name)

    def serve_tls(self, *flags, show=None, how="", files=("cert.pem", "key.pem")):
        self.place(self.own)
        path = self.file("m.gguf", "GGUF\n" + MODEL + how)
        flags = ("--tls-cert", files[0], "--tls-key", files[1], "--model", f"m={path}", *flags)
        server = TlsServer(self.dir, self.env, flags)
        server.context = client(self.authority, show)
        self.addCleanup(self.expect_end, server)
        return server

    @contextlib.contextmanager
    def secure(self, server, context=None, port=None):
        """A connection, once both sides have greeted."""
        with socket.create_connection(("127.0.0.1", port or server.port), timeout=WAIT) as plain:
            with (context or server.context).wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False) as it:
                yield it

    def name_of(self, server, port=None):
        """That the server's certificate has."""
        with self.secure(server, port=port) as connection:
            return dict(pair for [pair] in connection.getpeercert()["subject"])["commonName"]

    def ports(self, server):
        return server.port, server.grpc_port, server.metrics_port

    def expect_refused(self, server, context):
        for port in self.ports(server):
            with self.assertRaises(REFUSED), self.secure(server, context, port) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                if not connection.recv(1):  # where the refusal of a client comes with TLS 1.3
                    raise ConnectionResetError


class Tls(TlsTest):
    def test_all_ports(self):
        server = self.serve_tls()
        self.expect_service(server)
        self.assertIn(f"{RUNNING} 0", server.metrics())
        for port in self.ports(server):
            self.assertEqual(self.name_of(server, port), "server")

    def test_versions(self):
        server = self.serve_tls()
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with self.secure(server, client(self.authority, minimum_version=version, maximum_version=version)) as connection:
                self.assertEqual(connection.version(), {771: "TLSv1.2", 772: "TLSv1.3"}[version.value])
                self.assertIsNone(connection.compression())
        old = client(self.authority, minimum_version=ssl.TLSVersion.TLSv1_1, maximum_version=ssl.TLSVersion.TLSv1_1)
        old.set_ciphers("DEFAULT:@SECLEVEL=0")
        self.expect_refused(server, old)

    def test_protocols(self):
        server = self.serve_tls()
        both, other = client(self.authority), client(self.authority)
        both.set_alpn_protocols(["h2", "http/1.1"])
        with self.secure(server, both) as connection:
            self.assertEqual(connection.selected_alpn_protocol(), "http/1.1")
        other.set_alpn_protocols(["h2"])
        with self.assertRaises(REFUSED), self.secure(server, other):
            pass
        with self.secure(server, other, server.grpc_port) as connection:
            self.assertEqual(connection.selected_alpn_protocol(), "h2")

    def test_large_bodies(self):
        path = self.file("wide.gguf", "GGUF\nin x u8 -1\n")
        server = self.serve_tls("--model", f"wide={path}")
        data = os.urandom(3 << 20)
        tensor = {"name": "x", "datatype": "UINT8", "shape": [len(data)], "parameters": {"binary_data_size": len(data)}}
        answer = server.infer("wide", {"inputs": [tensor], "parameters": {"binary_data_output": True}}, data)
        self.assertEqual((answer.status, answer.body[-len(data):]), (200, data))

    def test_the_end_of_a_response_is_marked(self):
        server = self.serve_tls()
        for request in (head(len(BODY), "Connection: close\r\n") + BODY, b"nonsense\r\n\r\n"):
            with self.secure(server) as connection:
                connection.sendall(request)
                self.assertTrue(read_all(connection).startswith(b"HTTP/1.1 "))  # which raises where TLS does not end

    def test_the_server_ends_with_connections_that_rest(self):
        server = self.serve_tls()
        with self.secure(server) as connection, self.secure(server, port=server.metrics_port) as other:
            connection.sendall(head(len(BODY)) + BODY)
            self.assertTrue(connection.recv(65536))
            self.assertEqual(server.stop(), (0, ""))
            self.assertEqual((read_all(connection), read_all(other)), (b"", b""))

    def test_a_client_that_hangs_up_waits_for_nothing(self):
        server = self.serve_tls(how="turns 8\ndelay 60000\n")
        with self.secure(server) as connection:
            connection.sendall(head(len(BODY)) + BODY)
            server.await_metrics(f"{RUNNING} 1")
        server.await_metrics(f"{RUNNING} 0")

    def test_plain_requests(self):
        server = self.serve_tls()
        for port in self.ports(server):
            with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as plain:
                plain.sendall(b"GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n")
                self.assertNotIn(b"HTTP/1.1 200", read_all(plain))
        self.expect_service(server)

    def test_handshakes_that_do_not_come(self):
        server = self.serve_tls("--client-timeout", "500ms")
        for begun in (b"", b"\x16\x03\x01\x02\x00\x01"):
            connections = [socket.create_connection(("127.0.0.1", port), timeout=WAIT) for port in self.ports(server) * 20]
            for connection in connections:
                connection.sendall(begun)
            self.expect_service_in_time(server)  # while they stand
            for connection in connections:
                read_all(connection)  # until the server hangs up
                connection.close()
        self.expect_service_in_time(server)


class Clients(TlsTest):
    def serve_known(self, *flags, authority=None):
        shutil.copy((authority or self.authority).pem, self.dir / "clients.pem")
        return self.serve_tls("--tls-client-ca", "clients.pem", *flags, show=self.client)

    def test_others(self):
        server = self.serve_known()
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for shown in (None, self.stranger, self.expired):
                with self.subTest(shown=shown, version=version):
                    self.expect_refused(server, client(self.authority, shown, maximum_version=version))
        self.expect_service(server)

    def test_an_authority_that_is_taken_away(self):
        server = self.serve_known()
        with self.secure(server) as before:
            shutil.copy(self.other.pem, self.dir / "clients.pem")
            server.process.send_signal(signal.SIGHUP)
            until(lambda: self.is_refused(server))
            before.sendall(head(len(BODY)) + BODY)
            self.assertTrue(before.recv(65536).startswith(b"HTTP/1.1 200"))
        self.expect_refused(server, server.context)
        server.context = client(self.authority, self.stranger)
        self.expect_service(server)

    def is_refused(self, server):
        try:
            return server.request("GET", "/v2").status != 200
        except REFUSED:
            return True


class Reload(TlsTest):
    def test_a_new_certificate(self):
        server = self.serve_tls()
        with self.secure(server) as before:
            self.place(self.second)
            self.assertEqual(self.name_of(server), "server")
            server.process.send_signal(signal.SIGHUP)
            for port in self.ports(server):
                until(lambda port=port: self.name_of(server, port) == "second")
            before.sendall(head(len(BODY)) + BODY)
            self.assertTrue(before.recv(65536).startswith(b"HTTP/1.1 200"))
        self.expect_service(server)

    def test_what_is_broken_changes_nothing(self):
        server = self.serve_tls()
        broken = [(self.second[0], self.own[1]), (self.file("junk", "junk"), self.own[1])]
        for pair in [tuple(self.dir / one for one in pair) for pair in broken]:
            self.place(pair)
            server.process.send_signal(signal.SIGHUP)
            server.await_line("wasinn: error: certificates: ")
            for port in self.ports(server):
                self.assertEqual(self.name_of(server, port), "server")
        os.remove(self.dir / "key.pem")
        server.process.send_signal(signal.SIGHUP)
        server.await_line("cannot open 'key.pem'")
        self.expect_service(server)
        self.place(self.second)
        server.process.send_signal(signal.SIGHUP)
        until(lambda: self.name_of(server) == "second")

    def test_one_file_for_certificate_and_key_is_read_once(self):
        """Between two reads it could change. A pipe in its place gives its bytes once: a second read would wait forever."""
        path = self.dir / "both.pem"

        def give(certificate):
            path.write_bytes(b"".join(one.read_bytes() for one in certificate))

        give(self.own)
        server = self.serve_tls(files=("both.pem", "both.pem"))
        self.assertEqual(self.name_of(server), "server")
        path.unlink()
        os.mkfifo(path)
        for certificate, name in ((self.second, "second"), (self.own, "server"), (self.second, "second")):
            server.process.send_signal(signal.SIGHUP)
            give(certificate)
            until(lambda name=name: self.name_of(server) == name)
        self.expect_service(server)

    def test_a_server_that_has_nothing_to_read_again(self):
        server = self.serve(models={"m": MODEL})
        for _ in range(8):
            server.process.send_signal(signal.SIGHUP)
            self.expect_service(server)


class Refusals(TlsTest):
    def expect_error(self, text, *flags, code=125):
        self.check_error(self.serve_in_vain(*flags), text, code)

    def pair(self, certificate, key):
        return "--tls-cert", certificate, "--tls-key", key

    def test_files(self):
        certificate, key = self.own
        encrypted = self.dir / "encrypted.pem"
        openssl("pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", encrypted)
        junk, empty = self.file("junk", "-----BEGIN CERTIFICATE-----\njunk"), self.file("empty", "")
        self.expect_error("cannot open 'missing'", *self.pair("missing", key))
        self.expect_error("cannot open 'missing'", *self.pair(certificate, "missing"))
        self.expect_error("'junk' has no certificate", *self.pair(junk, key))
        self.expect_error("'empty' is empty", *self.pair(empty, key))
        self.expect_error("has no private key", *self.pair(certificate, certificate))
        self.expect_error("is not the key of the certificate", *self.pair(certificate, self.second[1]))
        self.expect_error("is an encrypted key", *self.pair(certificate, encrypted))
        self.expect_error("'.' is empty, or cannot be read", *self.pair(".", key))
        self.expect_error("'/dev/zero' is larger", *self.pair("/dev/zero", key))
        clients = *self.pair(certificate, key), "--tls-client-ca"
        self.expect_error("'empty' is empty", *clients, empty)
        self.expect_error("'junk' has no certificates", *clients, junk)
        self.expect_error("has no certificates", *clients, key)
        half = self.file("half", self.authority.pem.read_bytes() + b"-----BEGIN CERTIFICATE-----\njunk\n-----END CERTIFICATE-----\n")
        self.expect_error("'half' has no certificates", *clients, half)

    def test_flags(self):
        self.expect_error("--tls-key", "--tls-cert", self.own[0], code=2)
        self.expect_error("--tls-cert", "--tls-key", self.own[1], code=2)
        self.expect_error("--tls-cert", "--tls-client-ca", self.authority.pem, code=2)
