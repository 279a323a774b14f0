"""The Debian packages, unpacked by dpkg into a folder: all is in one of them, nothing in two, and they work."""

import os
import pathlib
import subprocess

from packages import CMAKE, SOURCE, PackageTest, run


class DebTest(PackageTest):
    KIND = "deb"
    ARGUMENTS = ["-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"]  # a fifth of the time
    FORCE = ["--force-not-root", "--force-depends"]  # their dependencies are in this machine's root
    CHECKED = ("libwasinn0.", "wasinn", "libwasinn-dev", "wasinn-backend-openvino", "wasinn-iwasm", "wasinn-wasmedge-plugin")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.debs = {path.name.split("_")[0]: path for path in sorted((cls.dir / "dist").glob("*.deb"))}
        cls.root = cls.dir / "root"
        database = cls.root / "var" / "lib" / "dpkg"
        for folder in ("updates", "info"):
            (database / folder).mkdir(parents=True)
        (database / "status").touch()
        # dpkg refuses a file that two of them have.
        dpkg = ["dpkg", f"--root={cls.root}", *cls.FORCE, f"--log={cls.dir}/log", "--unpack"]
        run(*dpkg, *cls.debs.values(), env={"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})

    def field(self, package, name):
        return run("dpkg-deb", "--field", self.debs[package], name).strip()

    def test_the_command_runs(self):
        self.check_command(self.root / "usr" / "bin" / "wasinn")

    def test_hints(self):
        hint = f"apt-get install wasinn-backend-openvino && pip install --target '{self.root}/usr/lib/wasinn/frameworks' 'openvino>="
        self.check_hints(self.root / "usr" / "bin" / "wasinn", hint)

    def test_each_backend_of_a_package_has_a_hint(self):
        hints = (self.root / "usr" / "lib" / "wasinn" / "install-hints").read_text().splitlines()
        backends = sorted(name.removeprefix("wasinn-backend-") for name in self.debs if name.startswith("wasinn-backend-"))
        hint_of = dict(line.split(" ", 1) for line in hints)
        self.assertEqual(sorted(hint_of), sorted([*backends, "serve", "bench", "wamr", "worker", "smollm2"]))
        for name in backends:
            self.assertTrue(hint_of[name].startswith(f"apt-get install wasinn-backend-{name}"), hint_of[name])

    def test_a_program_that_is_not_installed(self):
        program = self.root / "usr" / "bin" / "wasinn-bench"
        aside = program.rename(program.with_suffix(".aside"))
        self.addCleanup(aside.rename, program)
        done = subprocess.run([program.with_name("wasinn"), "bench", "x"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"there is no {program}; to get it: apt-get install wasinn-bench\n", done.stderr)

    def test_cmake_finds_the_development_package(self):
        self.build_with(self.root / "usr")

    def test_all_that_is_installed_is_in_a_package(self):
        prefix = self.dir / "installed"
        for component in ([], ["--component", "bench"]):
            run(CMAKE, "--install", os.environ["WASINN_BUILD"], "--prefix", prefix, *component)
        for path in prefix.rglob("*"):
            if not path.is_dir():
                packed = self.root / "usr" / path.relative_to(prefix)
                compressed = packed.with_name(packed.name + ".gz")
                self.assertTrue(os.path.lexists(packed) or compressed.exists(), packed)

    def test_what_they_depend_on(self):
        version = self.field("wasinn", "Version")
        (library,) = (name for name in self.debs if name.startswith("libwasinn0."))
        soname = (self.root / "usr" / "lib" / f"libwasinn.so.{library.removeprefix('libwasinn')}").resolve(strict=True)
        self.assertEqual(soname.parent, self.root / "usr" / "lib")
        self.assertIn("libfmt9", self.field(library, "Depends"))
        for package in self.debs.keys() - {library, "wasinn-doc", "wasinn-guest"}:
            depends = self.field(package, "Depends").split(", ")
            if package.startswith("wasinn-backend-") or package in ("wasinn", "wasinn-iwasm", "libwasinn-dev"):
                self.assertIn(f"{library} (= {version})", depends)
        self.assertIn(f"wasinn (= {version})", self.field("wasinn-serve", "Depends").split(", "))

    def test_lintian_finds_no_error(self):
        # One of each kind: all of them take long. The publisher names their maintainer.
        debs = [path for name, path in self.debs.items() if name in self.CHECKED or name.startswith(self.CHECKED[0])]
        self.assertEqual(len(debs), len(self.CHECKED))
        unsaid = "bogus-mail-host,bogus-mail-host-in-debian-changelog"
        command = ["lintian", "--allow-root", "--fail-on", "error", "--display-level", "error", "--suppress-tags", unsaid, *debs]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_overrides_are_for_packages_that_exist(self):
        lines = (SOURCE / "packaging" / "debian" / "overrides").read_text().splitlines()
        for line in lines:
            if not line.startswith("#"):
                self.assertIn(line.split(" | ")[0], self.debs)
        self.assertTrue(pathlib.Path(self.root / "usr/share/lintian/overrides/wasinn-iwasm").exists())
