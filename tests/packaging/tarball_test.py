"""The tarball, unpacked in an unusual folder: everything is found, and nothing outside of it is needed."""

import os
import re
import subprocess
import tarfile

from packages import BASE, PackageTest, elf_files, run


class TarballTest(PackageTest):
    KIND = "tarball"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (tarball,) = (cls.dir / "dist").iterdir()
        with tarfile.open(tarball) as opened:
            opened.extractall(cls.dir / "un packed")
        (cls.prefix,) = (cls.dir / "un packed").iterdir()

    def test_the_command_runs(self):
        self.check_command(self.prefix / "bin" / "wasinn")

    def test_hints(self):
        frameworks = self.prefix / "lib" / "wasinn" / "frameworks"
        self.check_hints(self.prefix / "bin" / "wasinn", f"pip install --target '{frameworks}' 'openvino>=")

    def test_nothing_of_the_system_is_needed(self):
        found = 0
        for path in elf_files(self.prefix):
            done = subprocess.run(["ldd", path], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, check=False)
            for name, place in re.findall(r"^\t(\S+) => (.+?)(?: \(0x[0-9a-f]+\))?$", done.stdout, re.MULTILINE):
                if place == "not found":  # what the user's framework or engine brings
                    self.assertRegex(f"{path.name} {name}", r"^libwasinn_torch_runtime\.so lib(torch.*|c10)\.so$")
                elif not place.startswith(str(self.prefix)):
                    self.assertRegex(name, BASE, path)
                else:
                    found += 1
        self.assertGreater(found, 10)

    def test_it_runs_on_older_systems(self):
        self.check_versions(self.prefix)

    def test_cmake_and_pkg_config_find_it(self):
        self.build_with(self.prefix)
        env = {"PKG_CONFIG_PATH": str(self.prefix / "lib" / "pkgconfig")}
        folder = run("pkg-config", "--variable=backenddir", "wasinn", env=env).strip().replace("\\", "")
        self.assertTrue(list((self.prefix / "lib" / "wasinn").glob("libwasinn_backend_onnx.so")))
        self.assertTrue((self.prefix / "lib" / "wasinn").samefile(folder), folder)

    def test_licences_of_what_goes_along(self):
        folder = self.prefix / "share" / "doc" / "wasinn" / "licences"
        names = {path.name for path in folder.iterdir()}
        self.assertLessEqual({"onnxruntime", "libfmt9", "libsodium23"}, names)
