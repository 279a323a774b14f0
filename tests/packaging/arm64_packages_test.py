"""Packages for ARM64, made on another machine: their files are for ARM64, and they work in the emulator, as those of this machine do here."""

import os
import subprocess
import sys

import deb_test
import tarball_test
from packages import SOURCE, PackageTest, elf_files, run

DEPS = SOURCE / ".deps" / "aarch64-linux-gnu"
os.environ["PATH"] = f"{DEPS}/bin:{os.environ['PATH']}"  # whose ldd is for ARM64
ABSENT = "openvino (frameworks): it is not here; scripts/deps.sh openvino fetches what it is built with, then build wasinn again"
API = """
import sys, unittest
class Loader(unittest.TestLoader):
    def getTestCaseNames(self, case):
        return [name for name in super().getTestCaseNames(case) if name not in sys.argv[1:]]
unittest.main(None, argv=["", "api_test", "abi_test"], testLoader=Loader())
"""
# The emulator has no sandbox for workers, and no openat2, by which a file in a guest's folder is opened.
NOT_IN_THE_EMULATOR = ("test_bytes_are_loaded_in_a_worker", "test_it_is_reported_whatever_folders_the_guest_has")


class Arm64Test:
    def check_package(self, folder, command, hint):
        self.check_command(command)
        for path in elf_files(folder):
            self.assertIn("AArch64", run("readelf", "--file-header", path), path)
        (worker,) = folder.rglob("wasinn-worker")
        self.assertIn("seccomp_load", run("readelf", "--wide", "--dyn-syms", worker))  # not the build folder's, which has no sandbox
        for name in ("libwasinn_backend_*.so", "digits.onnx", "wasinn.h", "wasi_nn.h"):
            self.assertTrue(list(folder.rglob(name)), name)
        env = {**os.environ, "LD_LIBRARY_PATH": "", "HOME": str(self.dir)}
        said = subprocess.run([command, "doctor"], env=env, capture_output=True, text=True, check=False).stdout
        for ok in (r"engines +Wasmtime", r"WAMR", r"frameworks.*\n(.*\n)* +onnx", r"tflite", r"system +Linux .* on aarch64\n.*processors"):
            self.assertRegex(said, ok + r" +ok ")
        self.assertIn("this is missing: seccomp filters for all threads", said)  # in the emulator
        self.assertIn(hint, said)
        self.assertIn(ABSENT, said)


class TarballTest(Arm64Test, tarball_test.TarballTest):
    KIND = "--arm64 tarball"

    def test_hints(self):
        hint = f"pip install --target '{self.prefix}/lib/wasinn/frameworks' 'llama-cpp-python=="
        self.check_package(self.prefix, self.prefix / "bin" / "wasinn", hint)


class DebTest(Arm64Test, deb_test.DebTest):
    KIND = "--arm64 deb"
    FORCE = [*deb_test.DebTest.FORCE, "--force-architecture"]
    CHECKED = ("libwasinn0.", "wasinn", "libwasinn-dev", "wasinn-serve", "wasinn-backend-onnx", "wasinn-iwasm")
    test_overrides_are_for_packages_that_exist = None  # some are for packages that only this machine's build has

    def test_hints(self):
        usr = self.root / "usr"
        hint = f"apt-get install wasinn-backend-llama && pip install --target '{usr}/lib/wasinn/frameworks' 'llama-cpp-python=="
        self.check_package(self.root, usr / "bin" / "wasinn", hint)

    def test_they_are_for_arm64(self):
        self.assertEqual({self.field(package, "Architecture") for package in self.debs}, {"arm64", "all"})


class WheelTest(Arm64Test, PackageTest):
    KIND = "--arm64 wheel"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (wheel,) = (cls.dir / "dist").glob("wasinn-*-py3-none-manylinux_2_34_aarch64.whl")
        python = DEPS / "debian" / "usr" / "bin" / "python3.11"
        environment = cls.dir / "environment"
        cls.python = environment / "bin" / "python"
        cls.python.parent.mkdir(parents=True)
        cls.python.symlink_to(python)
        (environment / "pyvenv.cfg").write_text(f"home = {python.parent}\n")
        cls.packages = environment / "lib" / "python3.11" / "site-packages"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--only-binary=:all:"]
        run(*pip, "--platform=manylinux_2_34_aarch64", "--target", cls.packages, wheel)
        capi = cls.packages / "onnxruntime" / "capi"
        capi.mkdir(parents=True)
        for library in (DEPS / "lib").glob("libonnxruntime.so.*.*"):
            (capi / library.name).symlink_to(library)

    def test_the_command_runs(self):
        self.check_package(self.packages, self.packages / "wasinn" / "_prefix" / "bin" / "wasinn", "pip install 'wasinn[llama]'")

    def test_it_runs_on_older_systems(self):
        self.check_versions(self.packages)

    def test_the_api(self):
        debian = DEPS / "debian"
        env = {
            "LD_LIBRARY_PATH": ":".join(str(debian / folder / "lib" / "aarch64-linux-gnu") for folder in ("", "usr")),
            "WASINN_DIST": str(self.dir),
            "WASINN_GUESTS": os.environ["WASINN_GUESTS"],
        }
        tests = SOURCE / "packaging" / "python" / "tests"
        run(self.python, "-B", "-c", API, *NOT_IN_THE_EMULATOR, env={**env, "PYTHONPATH": str(tests)}, cwd=tests)
