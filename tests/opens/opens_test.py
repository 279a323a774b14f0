"""Whatever a framework does, it opens code from its own folder and the system's only, reaches no network, and writes no file."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

WASINN, GUEST, MODELS = os.environ["WASINN"], os.environ["GUEST"], pathlib.Path(os.environ["MODELS"])
FRAMEWORKS = os.environ["FRAMEWORKS"].split()
KEPT = ("PATH", "UBSAN_OPTIONS", "TBB_ENABLE_SANITIZERS")

# For each framework: a model, wasi-nn's number of its encoding, and the files of it that a guest can bring along.
CASES = {
    "onnx": ("digits.onnx", 1, ["digits.onnx"]),
    "openvino": ("digits.xml", 0, ["digits.xml", "digits.bin"]),
    "tflite": ("digits.tflite", 4, ["digits.tflite"]),
    "torch": ("digits.pt", 3, ["digits.pt"]),
    "tensorflow": ("digits.pb", 2, ["digits.pb"]),
    "llama": ("tiny.gguf", 5, ["tiny.gguf"]),
}

LOOKS = {"open", "openat", "openat2", "execve", "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"}
CHANGES = {"mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "link", "linkat", "symlink",
           "symlinkat", "creat", "truncate", "mknod", "mknodat", "chmod", "fchmodat", "chown", "fchownat", "bind"}
# The names of threads.
WRITABLE = re.compile(r"/dev/null|/proc/self/oom_score_adj|/proc/self/task/\d+/comm|/proc/\d+/task/\d+/comm")


class Call:
    """One line of strace's."""

    def __init__(self, line):
        match = re.match(r"\d+ +(\w+)\((.*)", line)
        self.line, self.name, self.rest = line.strip(), match and match[1], match[2] if match else ""
        path = re.search(r'"((?:[^"\\]|\\.)*)"', self.rest)
        self.path = path[1] if path else ""
        # One relative to a folder that is open: the guest's.
        self.is_guests = re.match(r"\d+, ", self.rest) is not None

    def opens_to_write(self):
        return self.name in ("open", "openat", "openat2") and re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)", self.rest)


class OpensTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-opens-"))
        self.addCleanup(shutil.rmtree, self.dir)
        for name in ("working", "home", "temporary", "given"):
            (self.dir / name).mkdir()
        (self.dir / "given" / "names").write_text("")

    def trace(self, *args):
        """The command's output, and what it and all of its threads asked the system."""
        env = {name: os.environ[name] for name in KEPT if name in os.environ}
        env |= {"HOME": str(self.dir / "home"), "TMPDIR": str(self.dir / "temporary"), "ASAN_OPTIONS": "detect_leaks=0"}
        log = self.dir / "log"
        command = ["strace", "-f", "-qq", "-s", "4096", "-e", "trace=%file,%network", "-o", log, WASINN, *map(str, args)]
        done = subprocess.run(command, cwd=self.dir / "working", env=env, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        calls = [call for line in log.read_text(errors="replace").splitlines() if (call := Call(line)).name]
        self.assertGreater(len(calls), 100)
        return done.stdout, calls

    def check(self, calls):
        working = str(self.dir / "working")
        code = [call.line for call in calls if call.name in LOOKS and re.search(r"\.so\b", call.path)
                and (not call.path.startswith("/") or call.path.startswith(working))]
        self.assertEqual(code, [], "looks for code in the working folder")
        # A message without an address goes to the socket's peer, which connect names, or socketpair made.
        network = [call.line for call in calls if call.name in ("socket", "connect", "sendto", "sendmsg")
                   and not re.match(r"AF_UNIX|\d+, \{(sa_family=AF_UNIX|msg_name=NULL)|.*, NULL, 0\b", call.rest)]
        self.assertEqual(network, [], "reaches for the network")
        writes = [call.line for call in calls if (call.name in CHANGES or call.opens_to_write())
                  and not call.is_guests and not WRITABLE.fullmatch(call.path)]
        self.assertEqual(writes, [], "writes what the host did not name")
        for name in ("working", "home", "temporary"):
            self.assertEqual(list((self.dir / name).iterdir()), [], name)

    def test_a_guest(self):
        for framework in FRAMEWORKS:
            model, encoding, files = CASES[framework]
            with self.subTest(framework=framework):
                guests = ",".join(["m", str(encoding), *(f"/models/{file}" for file in files)])
                dirs = ["--dir", ".", "--dir", f"{self.dir}/given::/given", "--dir", f"{MODELS}::/models"]
                out, calls = self.trace("run", "--no-cache", "--model", f"m={MODELS / model}", *dirs, GUEST, "/given/names", "/given/names", guests)
                self.assertIn("m by name: success", out)
                self.assertIn("m from bytes: success", out)
                self.check(calls)

    def test_inspect(self):
        for framework in FRAMEWORKS:
            with self.subTest(framework=framework):
                self.check(self.trace("inspect", MODELS / CASES[framework][0])[1])

    def test_backends(self):
        out, calls = self.trace("backends")
        for framework in FRAMEWORKS:
            self.assertRegex(out, rf"(?m)^{framework}\b")
        self.check(calls)
