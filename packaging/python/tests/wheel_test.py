"""The wheel: its name, its contents, and their requirements on a machine.

WASINN_DIST has it, WASINN_SOURCE is the source tree, WASINN_BUILD the build that it was made of."""

import email
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE, BUILD = pathlib.Path(os.environ["WASINN_SOURCE"]), pathlib.Path(os.environ["WASINN_BUILD"])
(WHEEL,) = pathlib.Path(os.environ["WASINN_DIST"]).glob("*.whl")
# Libraries that each Linux of its policy has.
SYSTEM = re.compile(r"(libc|libm|libgcc_s|libstdc\+\+|ld-linux-[\w-]+)\.so\.\d+")
PYTORCH = ["libtorch_cpu.so", "libc10.so"]


def readelf(option, path):
    return subprocess.run(["readelf", "--wide", option, path], check=True, capture_output=True, text=True).stdout


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="wasinn-wheel-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        with zipfile.ZipFile(WHEEL) as archive:
            cls.names = archive.namelist()
            archive.extractall(cls.root)
        cls.binaries = [path for path in cls.root.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]

    def test_its_name_has_the_version_and_the_glibc(self):
        version = re.search(r'WASINN_VERSION "(.*)"', (SOURCE / "include/wasinn/types.h").read_text())[1]
        machine = os.uname().machine
        self.assertEqual(WHEEL.name, f"wasinn-{version}-py3-none-manylinux_2_34_{machine}.whl")

    def test_it_needs_what_its_name_says(self):
        tools = str(SOURCE / ".deps" / "wheel-tools" / "python")
        done = subprocess.run(
            [sys.executable, "-m", "auditwheel", "show", WHEEL],
            env={**os.environ, "PYTHONPATH": tools},
            check=True,
            capture_output=True,
            text=True,
        )
        self.assertIn(
            f'This constrains the platform tag to "manylinux_2_34_{os.uname().machine}"', " ".join(done.stdout.split())
        )

    def test_all_that_is_needed_is_inside(self):
        inside = {path.name for path in self.binaries}
        for path in self.binaries:
            needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))
            missing = [name for name in needed if name not in inside and not SYSTEM.fullmatch(name)]
            if "torch" in path.name:
                missing = [name for name in missing if name not in PYTORCH]
            self.assertEqual(missing, [], path)

    def test_libraries_are_looked_for_beside_it_alone(self):
        for path in self.binaries:
            for folder in re.findall(r"\((?:RUN|R)PATH\).*\[(.*)\]", readelf("-d", path)):
                for part in folder.split(":"):
                    self.assertRegex(part, r"^\$ORIGIN(/|$)", path)

    def test_the_library_shows_the_c_api_alone(self):
        (library,) = (path for path in self.binaries if path.name.startswith("libwasinn.so"))
        symbols = re.findall(r"\S+@@(\S+)", readelf("--dyn-syms", library))
        self.assertEqual(set(symbols), {"WASINN_0.1"})

    def test_it_has_the_headers_and_licences(self):
        for name in ("include/wasinn/wasinn.h", "include/wasinn/backend.h", "include/wasinn-guest/wasi_nn.h"):
            self.assertIn("wasinn/_prefix/" + name, self.names)
        for library in (self.root / "wasinn.libs").iterdir():
            stem = re.match(r"lib([a-z]+)", library.name)[1]
            self.assertTrue(
                [name for name in self.names if re.search(rf"licenses/lib{stem}\w*[\d.]*/copyright$", name)], library
            )

    def test_extras_are_what_backends_run_with(self):
        (metadata,) = (name for name in self.names if name.endswith("dist-info/METADATA"))
        requires = email.message_from_bytes((self.root / metadata).read_bytes()).get_all("Requires-Dist")
        version = re.search(r"WASINN_TORCH_VERSION=\\?\"(\d+\.\d+)", (BUILD / "build.ninja").read_text())
        if version is not None:  # the build has that backend
            self.assertIn(f"torch=={version[1]}.*; extra == 'torch'", requires)
        version = re.search(r"^LLAMA_SDIST=(\S+)", (SOURCE / "scripts/manifest.sh").read_text(), re.MULTILINE)[1]
        self.assertIn(f"llama-cpp-python=={version}; extra == 'llama'", requires)


if __name__ == "__main__":
    unittest.main()
