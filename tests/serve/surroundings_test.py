"""Guests behind paths get the folders and variables that are named for them, and nothing else."""

import os
import signal
import struct
import subprocess

from command import WASINN
from configured import ConfiguredTest
from routes_test import PLAIN, RouteTest, saying
from server import Server

# Opens the file that the body names, in the first folder that it has, and writes WASI's error number and what it read.
OPENS = """(local $n i32) (local $error i32)
  (i32.store (i32.const 0) (i32.const 65536)) (i32.store (i32.const 4) (i32.const 4096))
  (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 12)))
  (local.set $n (i32.load (i32.const 12)))
  (call $say (i32.const 1))
  (local.set $error (call $open (i32.const 3) (i32.const 1) (i32.const 65536) (local.get $n) (i32.const FLAGS)
    (i64.const RIGHTS) (i64.const 0) (i32.const 0) (i32.const 200)))
  (i32.store (i32.const 204) (local.get $error))
  (drop (call $write (i32.const 1) (i32.const 204) (i32.const 4)))
  (if (i32.eqz (local.get $error)) (then
    (i32.store (i32.const 0) (i32.const 65536)) (i32.store (i32.const 4) (i32.const 4096))
    (drop (call $fd_read (i32.load (i32.const 200)) (i32.const 0) (i32.const 1) (i32.const 12)))
    (drop (call $write (i32.const 1) (i32.const 65536) (i32.load (i32.const 12))))))"""
PATH_OPEN = '(import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))'


def opening(flags=0, rights=2):
    text = saying(PLAIN, "").replace('(export "_start") (call $say (i32.const 1)) )', f'(export "_start") {OPENS})')
    text = text.replace("FLAGS", str(flags)).replace("RIGHTS", str(rights))
    return text.replace("(module", f"(module {PATH_OPEN}", 1)


READS, WRITES = opening(), opening(flags=1, rights=2 | 64)
NOT_PERMITTED = (63, 69, 76)  # EPERM, EROFS, ENOTCAPABLE


class SurroundingsTest(RouteTest):
    def setUp(self):
        super().setUp()
        self.make_folder()
        os.symlink("a.txt", self.dir / "data" / "in")
        self.reads, self.writes = self.file("reads.wat", READS), self.file("writes.wat", WRITES)
        self.shows = self.file("shows.wat", saying(PLAIN, "(call $environment)"))

    def opened(self, server, path, name):
        body = server.request("POST", path, name.encode()).body
        return struct.unpack_from("<I", body)[0], body[4:]

    def variables(self, server, path="/t", headers=None):
        return dict(line.split("=", 1) for line in server.request("GET", path, headers=headers or {}).body.decode().split("\0") if line)

    def expect_folder(self, server, path):
        self.assertEqual(self.opened(server, path, "a.txt"), (0, b"of the folder"))
        self.assertEqual(self.opened(server, path, "in"), (0, b"of the folder"))
        for name in ("../secret.txt", "out", "up", str(self.dir / "secret.txt")):
            error, text = self.opened(server, path, name)
            self.assertIn(error, NOT_PERMITTED, name)
            self.assertEqual(text, b"")

    def expect_read_only(self, server, path):
        self.assertIn(self.opened(server, path, "new.txt")[0], NOT_PERMITTED)
        self.assertFalse((self.dir / "data/new.txt").exists())


class Routes(SurroundingsTest):
    def test_no_folder_without_one_being_named(self):
        server = self.serve("--route", f"/r={self.reads}")
        self.assertEqual(self.opened(server, "/r", "a.txt")[0], 8)  # EBADF

    def test_a_folder_by_flag_is_read_only_by_default(self):
        server = self.serve("--route", f"/r={self.reads}", "--route-dir", "/r=data::/data", "--route", f"/w={self.writes}", "--route-dir", "/w=data")
        self.expect_folder(server, "/r")
        self.expect_read_only(server, "/w")
        server = self.serve("--route", f"/w={self.writes}", "--route-dir", "/w=data::/data:rw")
        self.assertEqual(self.opened(server, "/w", "new.txt")[0], 0)
        self.assertTrue((self.dir / "data/new.txt").exists())

    def test_folders_and_variables_of_the_file(self):
        (self.dir / "etc").mkdir()
        os.rename(self.dir / self.configure(f"""[routes."/r"]\nfile = "../{self.reads}"\ndir = ["../data::/data"]
[routes."/w"]\nfile = "../{self.writes}"\ndir = ["../data::/data"]
[routes."/rw"]\nfile = "../{self.writes}"\ndir = ["../data::/data:rw"]
[routes."/t"]\nfile = "../{self.shows}"\nenv = ["A=1", "B=x=y"]
"""), self.dir / "etc/serve.toml")
        server = self.serve("--config", "etc/serve.toml")
        self.expect_folder(server, "/r")
        self.expect_read_only(server, "/w")
        self.assertEqual(self.opened(server, "/rw", "new.txt")[0], 0)
        answer = self.variables(server)
        self.assertEqual((answer["A"], answer["B"]), ("1", "x=y"))

    def test_each_route_has_an_address(self):
        server = self.serve("--route", f"/t={self.reads}", "--route", f"/t/w={self.writes}")
        said = [server.process.stdout.readline().decode() for _ in range(2)]
        self.assertEqual(said, [f"serving {file} on http://127.0.0.1:{server.port}{path}\n" for file, path in ((self.reads, "/t"), (self.writes, "/t/w"))])

    def test_clients_set_no_variable_of_a_route(self):
        self.env["OURS"] = "2"
        server = self.serve(
            "--route",
            f"/t={self.shows}",
            *(word for one in ("A=1", "OURS", "HTTP_PROXY=p", "HTTP_X_A=3") for word in ("--route-env", f"/t={one}")),
        )
        answer = self.variables(server, headers={"X-A": "9", "A": "8"})
        self.assertEqual({name: answer.get(name) for name in ("A", "OURS", "HTTP_PROXY", "HTTP_X_A", "HTTP_A")},
                         {"A": "1", "OURS": "2", "HTTP_PROXY": "p", "HTTP_X_A": "3", "HTTP_A": "8"})
        self.assertFalse({"HOME", "PATH"} & set(answer))


class OnePort(Server):
    """One that is there already, and has no other ports."""

    def __init__(self, port):
        self.port, self.headers = port, {}


class AsWasmtimeHasIt(SurroundingsTest):
    def serve_program(self, *words):
        """`wasinn serve --addr WORDS`, and its port."""
        process = subprocess.Popen([WASINN, "serve", "--addr", "127.0.0.1:0", *words], cwd=self.dir, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.send_signal, signal.SIGTERM)
        line = process.stdout.readline().decode()
        self.assertRegex(line, r"^serving HTTP on 127\.0\.0\.1:\d+$")
        return OnePort(int(line.rsplit(":", 1)[1]))

    def test_a_file_is_the_guest_of_the_root(self):
        self.expect_folder(self.serve_program("-Shttp", "-S", "nn,cli", "--dir", "data::/data", self.reads), "/x/y")
        self.expect_read_only(self.serve_program("--dir", "data", self.writes), "/")
        self.assertEqual(self.opened(self.serve_program(self.writes, "--dir=data::data:rw"), "/", "new.txt")[0], 0)

    def test_its_environment(self):
        self.env["OURS"] = "2"
        answer = self.variables(self.serve_program("--env", "A=1", "--env", "OURS", self.shows), "/")
        self.assertEqual((answer["A"], answer["OURS"], "HOME" in answer), ("1", "2", False))
        answer = self.variables(self.serve_program("-S", "inherit-env", "--env", "OURS=3", self.shows), "/")
        self.assertEqual((answer["OURS"], answer["HOME"]), ("3", str(self.dir)))

    def test_two_of_them_need_no_other_ports(self):
        for one in [self.serve_program(self.shows) for _ in range(2)]:
            self.assertEqual(one.request("GET", "/").status, 200)


class Mistakes(ConfiguredTest):
    def test_flags(self):
        good = self.file("good.wat", saying(PLAIN))
        (self.dir / "d").mkdir()
        for flags, why in (
            (("--route-dir", "/a=d"), "there is no route '/a': --route /a=FILE makes it"),
            (("--route-env", "/a=B=1"), "there is no route '/a'"),
            (("--route", f"/a={good}", "--route-dir", "d"), "'d' is not /PATH=HOST[::GUEST][:rw]"),
            (("--route", f"/a={good}", "--route-dir", "/a=d::x:RW"), "'RW' is neither ro nor rw"),
            (("--route", f"/a={good}", "--route-dir", "/a=none"), "there is no folder 'none'"),
            (("--route", f"/a={good}", "--route-dir", "/a=good.wat::/x"), "there is no folder 'good.wat'"),
            (
                ("--route", f"/a={good}", "--route-env", "/a=NONE_OF_THIS_NAME"),
                "the environment has no NONE_OF_THIS_NAME",
            ),
            (
                ("--route", f"/a={good}", "--route-dir", "/a=d:rw", "--access-log", "d/log"),
                "the access log 'd/log' is in d, where a guest may write",
            ),
            (("--dir", "d"), "--dir requires FILE"),
            (("--env", "A=1"), "--env requires FILE"),
            (("-S", "inherit-env"), "-S inherit-env is for FILE"),
            (("-S", "inherit-network", good), "--allow-outbound"),
            (("--route", f"/={good}", good), "/ can have only one guest"),
            (("--addr", "localhost", good), "is not ADDRESS:PORT"),
            (("--addr", "127.0.0.1:x", good), "is not ADDRESS:PORT"),
            (("--addr", "127.0.0.1:70000", good), "is not ADDRESS:PORT"),
        ):
            with self.subTest(flags=flags):
                self.assertIn(why, self.refused(*flags))

    def test_keys(self):
        good = self.file("good.wat", saying(PLAIN))
        for keys, why in (("dir = 'd'", "routes./a.dir' must be an array of strings"), ("dir = ['none']", "there is no folder"),
                          ("dir = ['a::']", "routes./a.dir': 'a::' is not"), ("env = ['=x']", "routes./a.env': '=x' is not NAME=VALUE"),
                          ("dirs = []", "dirs")):
            with self.subTest(keys=keys):
                self.assertIn(why, self.refused("--config", self.configure(f"[routes.'/a']\nfile = '{good}'\n{keys}")))
