"""Certificates for the tests of TLS, made by the command openssl."""

import pathlib
import ssl
import subprocess

DAY = ["-days", "2"]
EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def openssl(*args):
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True)


class Authority:
    """An authority; `pem` is its own certificate."""

    def __init__(self, folder, name):
        self.folder, self.name = pathlib.Path(folder), name
        self.pem, self.key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        openssl("req", "-x509", *EC, "-keyout", self.key, "-out", self.pem, *DAY, "-subj", f"/CN={name}")

    def sign(self, name, days=2):
        """The certificate's file, and its key's."""
        pem, key, asked = (self.folder / f"{self.name}-{name}.{end}" for end in ("pem", "key", "csr"))
        more = self.folder / "san"
        more.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("req", *EC, "-keyout", key, "-out", asked, "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", asked, "-CA", self.pem, "-CAkey", self.key, "-CAcreateserial", "-days", days,
                "-extfile", more, "-out", pem)
        return pem, key


def client(authority, own=None, **settings):
    """The authority that a client trusts, and its own certificate."""
    context = ssl.create_default_context(cafile=str(authority.pem))
    for name, value in settings.items():
        setattr(context, name, value)
    if own:
        context.load_cert_chain(*map(str, own))
    return context
