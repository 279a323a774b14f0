"""A server with a configuration file, and with tenants there."""

import hashlib
import signal

from command import ECHO
from server import MODEL, ServeTest, until


def digest(key):
    return "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def key(name):
    """Headers with a tenant's key."""
    return {"Authorization": f"Bearer key of {name}"}


def tenant(name, more=""):
    return f'[tenants.{name}]\nkeys = ["{digest("key of " + name)}"]\n{more}\n'


OPERATOR = tenant("operator", "operator = true")


HURRIED = key("hurried")


class ConfiguredTest(ServeTest):
    def for_two(self, serve, *flags, **more):
        """A server whose requests are one tenant's, unless they have the headers HURRIED: that tenant's guests have 200 ms."""
        limits = "[tenants.hurried.limits]\nrun_timeout_ms = 200"
        server = serve("--config", self.configure(tenant("a") + tenant("hurried", limits)), *flags, **more)
        server.headers = key("a")
        return server

    def configure(self, text, name="serve.toml"):
        """Writes the file, whole at once, and returns its name."""
        self.file(name + ".new", f"backend_dirs = ['{ECHO}']\n{text}")
        (self.dir / (name + ".new")).rename(self.dir / name)
        return name

    def serve_file(self, text, *flags, models=None):
        return self.serve("--config", self.configure(text), *flags, models={"m": MODEL} if models is None else models)

    def ask(self, server, text):
        self.configure(text)
        server.process.send_signal(signal.SIGHUP)

    def generation(self, server):
        return server.request("GET", "/wasinn/state", headers=key("operator")).json()["server"]["generation"]

    def reload(self, server, text):
        """Waits until it is done. If there are tenants, one must be allowed to see that."""
        before = self.generation(server)
        self.ask(server, text)
        until(lambda: self.generation(server) == before + 1)
