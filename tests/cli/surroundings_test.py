"""Models in workers where little is allowed: each run works, for nothing of a worker needs what is missing."""

import ctypes
import os
import resource
import stat
import subprocess

from command import MODEL, MOUNTS, PROBE, WAIT, WASINN, CommandTest, Result

NOBODY = 65534
PR_SET_NO_NEW_PRIVS = 38


def become_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    if ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError("prctl")


def nobody_reads(path):
    """Whether all may read it, and look through all folders that lead to it."""
    while path != "/":
        if not os.stat(path).st_mode & (stat.S_IXOTH if os.path.isdir(path) else stat.S_IROTH):
            return False
        path = os.path.dirname(path)
    return True


class SurroundingsTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("m.gguf", MODEL)
        self.command = [WASINN, "run", "--model", "m=m.gguf,isolate=true", PROBE, "infer", "m", "load"]

    def infer(self, command=None, **more):
        done = subprocess.run(command or self.command, cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=WAIT, **more)
        return Result(done)

    def check_infers(self, result):
        self.check(result, out="infer m errno 0 sum 21\nload errno 0", err="")

    def test_as_usual(self):
        self.check_infers(self.infer())

    def test_without_standard_files(self):
        done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *self.command], cwd=self.dir, env=self.env, timeout=WAIT)
        self.assertEqual(done.returncode, 0)

    def test_without_input_alone(self):
        self.check_infers(self.infer(["sh", "-c", 'exec "$@" <&-', "sh", *self.command]))

    def test_ignored_children(self):
        self.check_infers(self.infer(["sh", "-c", 'trap "" CHLD; exec "$@"', "sh", *self.command]))

    def test_small_files(self):
        self.file("m.gguf", MODEL + 10000 * "padding\n")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        result = self.infer(preexec_fn=limit)
        self.check(result, out="infer m errno 5", err="RLIMIT_FSIZE: File too large")
        self.assertIn("load errno 0", result.out)

    if os.geteuid() == 0 and nobody_reads(WASINN) and nobody_reads(PROBE):

        def test_as_nobody(self):
            os.chown(self.dir, NOBODY, NOBODY)
            self.env["XDG_CACHE_HOME"] = str(self.dir / "cache")
            self.check_infers(self.infer(preexec_fn=become_nobody))

    if MOUNTS:

        def infer_within(self, mounts):
            return self.infer(["unshare", "-m", "sh", "-ec", mounts + '\nexec "$@"', "sh", *self.command])

        def test_where_nothing_may_be_run(self):
            (self.dir / "tmp").mkdir()
            self.env["TMPDIR"] = str(self.dir / "tmp")
            self.check_infers(self.infer_within("mount -t tmpfs -o noexec,nosuid,nodev none tmp\nmount -t tmpfs -o noexec none /dev/shm || true"))

        def test_where_nothing_may_be_written(self):
            self.check_infers(self.infer_within("mount -o bind . .\nmount -o remount,bind,ro ."))

        def test_without_temporary_folders(self):
            self.env["TMPDIR"] = "/nowhere"
            self.check_infers(self.infer_within("mount -t tmpfs -o ro none /dev/shm || true"))
