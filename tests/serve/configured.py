"""A server with a configuration file, and with tenants there."""

import hashlib

from command import ECHO
from server import MODEL, ServeTest


def digest(key):
    return "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def key(name):
    """Headers with a tenant's key."""
    return {"Authorization": f"Bearer key of {name}"}


def tenant(name, more=""):
    return f'[tenants.{name}]\nkeys = ["{digest("key of " + name)}"]\n{more}\n'


OPERATOR = tenant("operator", "operator = true")


class ConfiguredTest(ServeTest):
    def configure(self, text, name="serve.toml"):
        """Writes the file, whole at once, and tells its name."""
        self.file(name + ".new", f"backend_dirs = ['{ECHO}']\n{text}")
        (self.dir / (name + ".new")).rename(self.dir / name)
        return name

    def serve_file(self, text, *flags, models=None):
        return self.serve("--config", self.configure(text), *flags, models={"m": MODEL} if models is None else models)
