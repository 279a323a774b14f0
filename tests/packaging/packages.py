"""Shared by the tests of packages, which are made of this build, into a folder of their own."""

import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
CMAKE = os.environ["CMAKE"]
COMPILERS = shlex.split(os.environ["COMPILERS"])
MODEL = SOURCE / "models" / "digits.onnx"
AFFINE = b"AFF1" + struct.pack("<2fI", 2, 0.5, 3)  # a model for backends/template
# Every Debian has these: packages may need them without including them.
BASE = re.compile(r"(linux-vdso|ld-linux[-\w]*|lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s))\.so\.\d+")
# The libraries of RHEL 9 and Amazon Linux 2023, the oldest systems that packages for any Linux run on.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (7, 0, 0)}


def run(*command, env=None, cwd=None, stdin=None):
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **(env or {})}, cwd=cwd, input=stdin)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def elf_files(folder):
    return [path for path in sorted(folder.rglob("*")) if not path.is_symlink() and path.is_file() and is_elf(path)]


class PackageTest(unittest.TestCase):
    """Makes the packages of KIND, one or several, in self.dir / "dist"."""

    KIND = None
    ARGUMENTS = []

    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        env = {"WASINN_BUILD": os.environ["WASINN_BUILD"], "WASINN_DIST": str(cls.dir / "dist")}
        run(SOURCE / "scripts" / "package.sh", *cls.KIND.split(), "--", *cls.ARGUMENTS, env=env)

    def check_command(self, command):
        """It runs a guest, and knows a model's inputs, with nothing but what came along."""
        env = {"LD_LIBRARY_PATH": "", "HOME": str(self.dir), "PATH": "/nonexistent"}
        self.assertRegex(run(command, "--version", env=env), r"^wasinn \d")
        self.assertIn("image", run(command, "inspect", MODEL, env=env))
        guest = self.dir / "guest.wat"
        guest.write_text('(module (func (export "_start")))')
        run(command, "run", guest, env=env)
        self.assertIn("97.9 %", run(command, "demo", env=env))

    def check_versions(self, folder):
        """No file needs a version of a symbol that an older system lacks."""
        found = 0
        for path in elf_files(folder):
            for name, number in re.findall(r" Name: (GLIBC|GLIBCXX|CXXABI|GCC)_(\S+) ", run("readelf", "--wide", "--version-info", path)):
                self.assertLessEqual(tuple(map(int, number.split("."))), NEWEST[name], path)
                found += 1
        self.assertGreater(found, 50)

    def check_hints(self, command, hint):
        """The error names the missing part, and the command that gets it with a package, not in a checkout."""
        env = {"LD_LIBRARY_PATH": "", "HOME": str(self.dir)}
        said = run(command, "backends", env=env)
        self.assertIn(hint, said)
        said += subprocess.run([command, "doctor"], env=env, capture_output=True, text=True, check=False).stdout
        self.assertNotIn("deps.sh", said)
        self.assertNotIn("{folder}", said)

    def build_with(self, prefix):
        """A program and a backend, by find_package(wasinn)."""
        source = self.dir / "found"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\n"
            "project(found LANGUAGES CXX)\n"
            "find_package(wasinn REQUIRED COMPONENTS backend)\n"
            f"wasinn_add_backend(template {SOURCE}/backends/template/template.cc)\n"
            f"add_executable(consumer {SOURCE}/tests/packaging/subproject/main.cc)\n"
            "target_link_libraries(consumer PRIVATE wasinn::wasinn)\n"
        )
        build = self.dir / "found-build"
        run(CMAKE, "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", *COMPILERS)
        self.assertIn(str(prefix), (build / "CMakeCache.txt").read_text().split("wasinn_DIR:PATH=")[1].splitlines()[0])
        run(CMAKE, "--build", build)
        model = self.dir / "m.affine"
        model.write_bytes(AFFINE)
        self.assertEqual(run(build / "consumer", build, model, env={"LD_LIBRARY_PATH": ""}), "1 input, 1 output\n")
