"""A server listens only at the configured addresses."""

import os
import pathlib
import re
import subprocess

from command import WAIT, WASINN
from server import ServeTest

LISTENS = "0A"  # a socket's state, in the kernel's tables


def sockets(pid):
    """Inodes of those that a process has open."""
    links = []
    for one in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            links.append(os.readlink(one))
        except FileNotFoundError:  # closed in the meantime
            pass
    return {link[len("socket:["):-1] for link in links if link.startswith("socket:[")}


def listening(pid):
    """The ports on which a process listens, from the kernel."""
    own, ports = sockets(pid), []
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, _, _, _, _, _, inode, *_ = line.split()
            if state == LISTENS and inode in own:
                ports.append(int(local.rpartition(":")[2], 16))
    return sorted(ports)


class PortsTest(ServeTest):
    def expect(self, what, *flags):
        """The server listens for these alone, and says where."""
        server = subprocess.Popen([WASINN, "serve", *flags], cwd=self.dir, env=self.env, stdout=subprocess.PIPE, text=True)
        with server.stdout:
            try:
                lines = [server.stdout.readline()]  # it says all at once, when all are open
                ports = listening(server.pid)
            finally:
                server.terminate()
                lines += server.stdout.readlines()
                server.wait(timeout=WAIT)
        said = [re.fullmatch(r"serving (\w+) on 127\.0\.0\.1:(\d+)\n", line).groups() for line in lines]
        self.assertEqual([name for name, _ in said], what, flags)
        self.assertEqual(ports, sorted(int(port) for _, port in said), flags)

    def test_grpc_is_there_only_if_its_port_is_named(self):
        any_port = ("--http-port", "0", "--metrics-port", "0")
        self.expect(["HTTP", "metrics"], *any_port)
        self.expect(["HTTP"], *any_port, "--no-metrics")
        self.expect(["HTTP", "gRPC", "metrics"], *any_port, "--grpc-port", "0")

    def test_the_same_of_a_file(self):
        for port, what in (("", ["HTTP"]), ("grpc_port = 0\n", ["HTTP", "gRPC"])):
            self.expect(what, "--config", self.file("serve.toml", f"[serve]\nhttp_port = 0\nmetrics = false\n{port}"))

    def test_what_made_it_go_away_is_unknown(self):
        self.assertIn("unknown flag --no-grpc", self.refused("--no-grpc"))
        for value in ("true", "false"):
            self.assertIn("unknown configuration key 'serve.grpc'", self.refused("--config", self.file("serve.toml", f"[serve]\ngrpc = {value}\n")))
