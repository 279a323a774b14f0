"""The npm package, installed by npm without a network; its own tests (packaging/npm/test) run with what npm has unpacked."""

import shutil

from packages import SOURCE, PackageTest, run


class NpmTest(PackageTest):
    KIND = "npm"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (package,) = (cls.dir / "dist").iterdir()
        shutil.copytree(SOURCE / "packaging" / "npm" / "test", cls.dir / "test")
        run("npm", "install", "--offline", "--no-audit", "--no-fund", package, cwd=cls.dir)
        cls.modules = cls.dir / "node_modules"

    def test_its_own_tests(self):
        env = {"WASINN_SOURCE": str(SOURCE), "WASINN_MODULES": str(self.modules), "LD_LIBRARY_PATH": "", "HOME": str(self.dir)}
        tests = sorted((self.dir / "test").glob("*.test.js"))
        self.assertGreaterEqual(len(tests), 2)
        out = run("node", "--test", *tests, env=env, cwd=self.dir)
        self.assertRegex(out, r"(?m)^. pass (1[5-9]|[2-9]\d)$")

    def test_its_types(self):
        tsc = SOURCE / ".deps" / "npm-tools" / "typescript" / "bin" / "tsc"
        options = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--lib", "es2022,dom", "--module", "nodenext"]
        run("node", tsc, *options, self.dir / "test" / "types.ts", cwd=self.dir)

    def test_the_command_runs(self):
        self.check_command(self.modules / "wasinn" / "prefix" / "bin" / "wasinn")

    def test_it_runs_on_older_systems(self):
        self.check_versions(self.modules / "wasinn")

    def test_hints(self):
        prefix = self.modules / "wasinn" / "prefix"
        self.check_hints(prefix / "bin" / "wasinn", f"pip install --target '{prefix}/lib/wasinn/frameworks' 'openvino>=")
