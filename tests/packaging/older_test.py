"""Packages in two bare trees: Debian 12, and one of an older C and C++ library. The latter are Debian 12's, in which newer versions of symbols have
other names, so that the loader refuses every file that needs one."""

import os
import shutil
import struct
import subprocess
import sys
import tarfile

from packages import SOURCE, PackageTest, elf_files, run

sys.path += [str(SOURCE / ".deps" / "wheel-tools" / "python"), str(SOURCE / "scripts" / "package")]
import symbol_versions  # noqa: E402

NEWER = ("GLIBC_2.35", "GLIBC_2.36", "GLIBCXX_3.4.30", "GCC_12.0.0")  # which glibc 2.34 and GCC 11 have not
WAITS = """#include <condition_variable>
#include <thread>
int main() {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_set = false;
  std::unique_lock lock(mutex);
  std::thread other([&] {
    std::lock_guard guard(mutex);
    is_set = true;
    changed.notify_one();
  });
  changed.wait(lock, [&] { return is_set; });
  lock.unlock();
  other.join();
}
"""


def rename_versions(library):
    """Renames the versions that the library defines, and those that it needs of another one."""
    data = library.read_bytes()
    for name in NEWER:
        other = "X" + name[1:]
        data = data.replace(f"\0{name}\0".encode(), f"\0{other}\0".encode())
        data = data.replace(*(struct.pack("<I", symbol_versions.hash_of(one)) for one in (name, other)))
    library.write_bytes(data)


class OlderTest(PackageTest):
    KIND = "wheel tarball"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.allowed = symbol_versions.allowed_versions(f"manylinux_2_34_{os.uname().machine}")
        cls.trees = {name: cls.dir / name for name in ("debian", "older")}
        for tree in cls.trees.values():
            with tarfile.open(os.environ["BARE_DEBIAN"]) as archive:
                archive.extractall(tree, [member for member in archive if not member.isdev()])
            cls.install(tree / "opt")
        for library in elf_files(cls.trees["older"] / "usr" / "lib"):
            rename_versions(library)

    @classmethod
    def install(cls, folder):
        (tarball,) = (cls.dir / "dist").glob("*.tar.gz")
        (wheel,) = (cls.dir / "dist").glob("*.whl")
        with tarfile.open(tarball) as archive:
            archive.extractall(folder)
        (folder / tarball.name.removesuffix(".tar.gz")).rename(folder / "unpacked")
        run(sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--target", folder / "packages", wheel)
        (folder / "packages" / "onnxruntime" / "capi").mkdir(parents=True)
        for library in (SOURCE / ".deps" / "lib").glob("libonnxruntime.so.*.*"):
            shutil.copy2(library, folder / "packages" / "onnxruntime" / "capi")

    def enter(self, tree, program, *arguments):
        """Runs a program with the tree as its root, in which a system has /dev and /proc."""
        enter = 'mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        command = ["unshare", "--map-root-user", "--mount", "--pid", "--fork", "sh", "-c", enter, self.trees[tree], program, *arguments]
        env = {"HOME": "/tmp", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, check=False)

    def compile(self, name, code):
        program = self.trees["older"] / "opt" / name
        run(os.environ["CXX"], "-x", "c++", "-", "-o", program, stdin=code)
        return program

    def test_demo(self):
        for tree in self.trees:
            for prefix in ("/opt/unpacked", "/opt/packages/wasinn/_prefix"):
                with self.subTest(tree=tree, prefix=prefix):
                    done = self.enter(tree, f"{prefix}/bin/wasinn", "demo")
                    self.assertIn("97.9 %", done.stdout, done.stderr)

    def test_a_program_runs_once_it_is_bound(self):
        program = self.compile("waits", WAITS)
        self.assertIn("version `GLIBCXX_3.4.30' not found", self.enter("older", "/opt/waits").stderr)
        self.assertEqual(symbol_versions.bind(program, self.allowed), [])
        self.assertEqual(self.enter("older", "/opt/waits").returncode, 0)

    def test_what_no_older_version_has_is_reported(self):
        program = self.compile("random", "#include <cstdlib>\nint main() { return arc4random() == 1; }\n")
        self.assertEqual(symbol_versions.bind(program, self.allowed), [f"{program}: arc4random@GLIBC_2.36"])
