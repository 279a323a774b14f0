"""Compiled modules that are kept: their folder, its owner, and changed ones."""

import os
import pathlib
import resource
import stat
import subprocess

from command import MOUNTS, PROBE, WAIT, WASINN, CommandTest


GUEST = '(module (memory (export "memory") 1) (func (export "_start")))'


class CacheTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("guest.wat", GUEST)
        self.cache = pathlib.Path(self.dir / "cache")
        self.env["XDG_CACHE_HOME"] = str(self.cache)
        self.ours = self.cache / "wasinn-code"

    def compiled(self):
        return sorted((self.ours / "modules").iterdir()) if (self.ours / "modules").exists() else []

    def inodes(self):
        return {path.name: path.stat().st_ino for path in self.compiled()}

    def run_well(self, *flags, warning=""):
        self.check(self.wasinn("run", *flags, "guest.wat"), out="", err=warning)

    def check_warning(self, text, *flags):
        result = self.wasinn("run", *flags, "guest.wat")
        self.check(result, out="", err="wasinn: warning: compiled modules are not cached: ")
        self.assertIn(text, result.err)
        self.assertEqual(len(result.err.splitlines()), 1, result)


class KeptTest(CacheTest):
    def expect_kept(self):
        self.run_well()
        first = self.inodes()
        self.assertTrue(first)
        self.run_well()
        self.assertEqual(self.inodes(), first)
        return first

    def test_compiled_modules_are_kept(self):
        self.assertEqual(len(self.expect_kept()), 1)

    def test_they_are_the_users_alone(self):
        previous = os.umask(0)
        self.addCleanup(os.umask, previous)
        self.run_well()
        modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (self.ours, self.ours / "modules", self.ours / "key", *self.compiled())}
        self.assertEqual(set(modes.values()), {0o700, 0o600}, modes)
        self.assertEqual((self.ours / "key").stat().st_size, 32)

    def test_no_cache(self):
        self.run_well("--no-cache")
        self.assertFalse(self.cache.exists())

    def test_what_is_compiled_differently_is_kept_beside(self):
        for count, flags in enumerate(([], ["--timeout", "1h"], ["--fuel", "1000000000"]), start=1):
            self.run_well(*flags)
            self.run_well(*flags)
            self.assertEqual(len(self.compiled()), count)

    def test_in_the_home_folder(self):
        del self.env["XDG_CACHE_HOME"]
        self.run_well()
        self.assertTrue((self.dir / ".cache" / "wasinn-code" / "key").exists())

    def test_modules_with_threads_and_text(self):
        self.file("guest.wat", '(module (import "env" "memory" (memory 1 1 shared)) (func (export "_start")))')
        self.expect_kept()


class ChangedTest(CacheTest):
    def check_replaced(self, change):
        self.run_well()
        (path,) = self.compiled()
        right = path.read_bytes()
        change(path)
        self.run_well()
        (path,) = self.compiled()
        return right, path.read_bytes()

    def test_a_byte_anywhere(self):
        for at in (0, 31, 32, 63, 64, 1000, -1):
            with self.subTest(at=at):
                def change(path):
                    content = bytearray(path.read_bytes())
                    content[at] ^= 1
                    path.write_bytes(content)
                right, now = self.check_replaced(change)
                self.assertEqual(now, right)

    def test_lengths(self):
        for size in (0, 1, 63, 64, 5000):
            with self.subTest(size=size):
                right, now = self.check_replaced(lambda path, size=size: os.truncate(path, size))
                self.assertEqual(now, right)

    def test_the_code_of_another_module(self):
        self.file("other.wat", '(module (func (export "_start") unreachable))')
        self.check(self.wasinn("run", "other.wat"), code=134)
        (other,) = self.compiled()
        code = other.read_bytes()
        other.unlink()
        right, now = self.check_replaced(lambda path: path.write_bytes(code))
        self.assertEqual(now, right)

    def test_another_key(self):
        right, now = self.check_replaced(lambda path: (self.ours / "key").write_bytes(bytes(32)))
        self.assertEqual(now[32:], right[32:])
        self.assertNotEqual(now[:32], right[:32])

    def test_a_folder_or_a_link_in_its_place(self):
        self.run_well()
        (path,) = self.compiled()
        content = path.read_bytes()
        (self.dir / "elsewhere").write_bytes(content)
        path.unlink()
        path.symlink_to(self.dir / "elsewhere")
        self.run_well()
        self.assertFalse(path.is_symlink(), "it is replaced, and not followed")
        path.unlink()
        path.mkdir()
        self.run_well(warning="wasinn: warning: a compiled module is not cached: ")


class NotUsedTest(CacheTest):
    def test_a_cache_that_cannot_be_made(self):
        self.file("cache", "a file, not a folder")
        self.check_warning("Not a directory")

    def test_a_folder_that_others_may_use(self):
        self.run_well()
        before = self.inodes()
        for folder in (self.ours, self.ours / "modules"):
            for mode in (0o770, 0o707, 0o755, 0o777):
                folder.chmod(mode)
                self.check_warning(f"{folder} must be this user's own, and closed to all others (mode 0700)")
                self.assertEqual(self.inodes(), before)
            folder.chmod(0o700)

    if os.geteuid() == 0:

        def test_a_folder_and_a_key_of_another_user(self):
            self.run_well()
            os.chown(self.ours / "key", 65534, 65534)
            self.check_warning("key: must be a file of this user's own")
            os.chown(self.ours, 65534, 65534)
            self.check_warning("must be this user's own")

    def test_a_folder_elsewhere(self):
        self.run_well()
        self.ours.rename(self.dir / "moved")
        self.ours.symlink_to(self.dir / "moved")
        self.check_warning("cannot open the folder")

    def test_keys_that_are_none(self):
        self.run_well()
        key = self.ours / "key"
        key.chmod(0o644)
        self.check_warning("key: must be a file of this user's own, and closed to all others (mode 0600)")
        key.chmod(0o600)
        for content in (b"", bytes(31), bytes(33)):
            key.write_bytes(content)
            self.check_warning("is not a key: 32 bytes")
        key.unlink()
        key.symlink_to("/dev/zero")
        self.check_warning("key: cannot open it")

    def test_folders_that_guests_may_use(self):
        self.run_well()
        before = self.inodes()
        (self.dir / "link").symlink_to(self.cache)
        for folder in (".", "cache", "cache/wasinn-code::/x", "cache/wasinn-code/modules", "link", "link/wasinn-code:ro", "/"):
            with self.subTest(folder=folder):
                self.check_warning("a guest may use the folder", "--dir", folder)
                self.assertEqual(self.inodes(), before)
        self.file("data/x", "")
        self.run_well("--dir", "data")

    def test_no_place(self):
        del self.env["XDG_CACHE_HOME"], self.env["HOME"]
        self.check_warning("neither XDG_CACHE_HOME nor HOME names a folder")
        self.env["XDG_CACHE_HOME"] = "relative"
        self.check_warning("neither XDG_CACHE_HOME nor HOME names a folder")


class FullTest(CacheTest):
    """Without room the run works, and leaves no entry."""

    def test_files_that_must_be_small(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        result = self.run_probe("args", prepare=limit)
        self.check(result, out="arg args", err="wasinn: warning: a compiled module is not cached: cannot write into the folder: File too large")
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertEqual(self.compiled(), [])
        self.check(self.run_probe("args"), err="")
        self.assertEqual(len(self.compiled()), 1)

    if MOUNTS:

        def test_a_full_disk(self):
            """A disk of 4, 16, 64 … KiB, until a module has room."""
            pages = 1
            while self.run_on_disk(pages):
                pages *= 4
            self.assertGreater(pages, 4)

        def run_on_disk(self, pages):
            """Whether it was too small."""
            script = f"""mkdir -p cache
                         mount -t tmpfs -o size={4096 * pages} none cache
                         "$@"
                         ls -A cache/wasinn-code/modules > left 2> nothing || true
                         mount -o remount,size=64m cache
                         "$@" 2> again
                         ls -A cache/wasinn-code/modules > then"""
            done = subprocess.run(["unshare", "-m", "sh", "-ec", script, "sh", WASINN, "run", PROBE, "args"], cwd=self.dir, env=self.env,
                                  capture_output=True, timeout=WAIT)
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(done.stdout.decode().split("\n")[1::2], ["arg args"] * 2, done)
            left, again, then = ((self.dir / name).read_text() for name in ("left", "again", "then"))
            self.assertEqual(again, "", "with room it is kept")
            self.assertEqual(len(then.split()), 1)
            if not done.stderr:
                self.assertEqual(left, then)
                return False
            self.assertIn(b"No space left on device", done.stderr)
            self.assertEqual(left, "")
            return True
