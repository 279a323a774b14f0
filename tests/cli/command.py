"""Runs the wasinn command for the tests.

WASINN names it, WASINN_ECHO the folder of the echo backend, WASINN_PROBE the guest. Each test case has a working folder of
its own, and an environment in which nothing of the user's is left."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

WASINN = os.environ["WASINN"]
KEPT = ("PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TBB_ENABLE_SANITIZERS", "QEMU_LD_PREFIX")
ECHO = os.environ["WASINN_ECHO"]
PROBE = os.environ["WASINN_PROBE"]
WAIT = 600  # seconds, for what takes much less, even on a busy machine
SANITIZED = b"__asan_init" in pathlib.Path(WASINN).read_bytes()

# Tests of unusual file systems need the right to mount.
MOUNTS = shutil.which("unshare") is not None and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0

# A model for the echo backend: what goes in comes out.
MODEL = "GGUF\nin x f32 2,3\n"


# The settings of most tests: the echo backend alone, for frameworks take their time. More may follow, or replace %s.
FRAMEWORKS = ("llama", "onnx", "openvino", "tensorflow", "tflite", "torch")
SETTINGS = f"backend_dirs = ['{ECHO}']\n%s" + "".join(f'[backends.{name}]\nlibrary = "/nonexistent"\n' for name in FRAMEWORKS)


def longer_and_longer(milliseconds=200):
    """Deadlines for a test in which something must happen before the deadline strikes: a test that finds that it did not tries the next one."""
    while milliseconds < WAIT * 1000:
        yield milliseconds
        milliseconds *= 2
    raise AssertionError("it does not happen, however long the deadline is")


def until(happens):
    """Asks until it does, and returns the answer."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if answer := happens():
            return answer
    raise AssertionError("it does not happen")


def refused_port(test):
    """A port that no other program gets while the test runs. A server of the test's may listen there, later."""
    held = socket.socket()
    test.addCleanup(held.close)
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        held.setsockopt(socket.SOL_SOCKET, option, 1)
    held.bind(("127.0.0.1", 0))
    return held.getsockname()[1]


class Result:
    def __init__(self, done):
        self.code = done.returncode
        self.out = (done.stdout or b"").decode()  # none where it went elsewhere
        self.err = done.stderr.decode()

    def __repr__(self):
        return f"exit code {self.code}\nstdout:\n{self.out}\nstderr:\n{self.err}"


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-cli-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.env["HOME"] = str(self.dir)
        # The compiled guest, once for all tests of a run.
        self.env["XDG_CACHE_HOME"] = os.path.join(os.path.dirname(PROBE), "cache")
        self.file("echo.toml", SETTINGS % "")
        self.env["WASINN_CONFIG"] = "echo.toml"

    def file(self, name, content):
        """Writes a file into the working folder; returns its path, relative to it."""
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    def wasinn(self, *args, env=None, input=b"", stdout=subprocess.PIPE, prepare=None, program=WASINN):
        """`prepare` is called in the new OS process, before the command."""
        env = {**self.env, **(env or {})}
        done = subprocess.run([program, *args], cwd=self.dir, env=env, input=input, stdout=stdout, stderr=subprocess.PIPE,
                              preexec_fn=prepare, timeout=WAIT)
        return Result(done)

    def run_probe(self, *args, flags=(), **more):
        """wasinn run FLAGS probe.wasm ARGS"""
        return self.wasinn("run", *flags, PROBE, *args, **more)

    def check(self, result, code=0, out=None, err=None):
        """`out` and `err`: texts that must occur, or "" for nothing at all."""
        self.assertEqual(result.code, code, result)
        for text, actual in ((out, result.out), (err, result.err)):
            if text == "":
                self.assertEqual(actual, "", result)
            elif text is not None:
                self.assertIn(text, actual, result)

    def check_error(self, result, text, code=125):
        """One line, "wasinn: error: ...text...", and nothing on stdout; a usage error has a second line with a hint."""
        self.check(result, code=code, out="", err=text)
        lines = result.err.splitlines()
        self.assertTrue(lines[0].startswith("wasinn: error: "), result)
        self.assertEqual(len(lines), 2 if code == 2 else 1, result)
