"""packaging/home.toml is in what a release has for guests' authors, for hosts in Rust and for clusters. (The other packages' tests look at theirs.)"""

import os
import pathlib
import shutil
import tarfile
import tempfile
import tomllib
import unittest

from packages import SOURCE, run

HOME = tomllib.loads((SOURCE / "packaging" / "home.toml").read_text())


class HomeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-home-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        run(SOURCE / "scripts" / "package.sh", "guests", "crates", "kubernetes", env={"WASINN_DIST": str(cls.dir)})
        for archive in (*cls.dir.glob("*.tar.gz"), *cls.dir.glob("*.crate")):
            with tarfile.open(archive) as tar:
                tar.extractall(cls.dir / "all", filter="data")

    def test_the_crates_name_their_home(self):
        for name in ("wasinn-guest", "wasinn-sys", "wasinn"):
            (crate,) = (self.dir / "all").glob(f"{name}-[0-9]*")
            manifest = tomllib.loads((crate / "Cargo.toml").read_text())
            package = manifest["package"]
            self.assertEqual((package["repository"], package["homepage"]), (HOME["url"], HOME["site"]))
            self.assertNotIn("publish", package)
            self.assertTrue({"LICENSE", "README.md"} <= {path.name for path in crate.iterdir()})
        self.assertEqual(manifest["dependencies"]["wasinn-sys"], {"version": package["version"], "default-features": False})

    def test_the_go_module_has_the_path_of_its_home(self):
        folder = self.dir / "all" / "guest" / "go"
        env = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOCACHE": str(self.dir / "go")}
        listed = run(os.environ["GO"], "list", "-f", "{{.ImportPath}} {{.Imports}}", "./examples/digits", env=env, cwd=folder)
        module = HOME["url"].removeprefix("https://") + "/guest/go"
        self.assertIn(f"{module}/examples/digits [", listed)
        self.assertIn(f" {module} ", listed.replace("[", " ").replace("]", " "))

    def test_the_interfaces_are_packages_of_wit(self):
        names = {path.name.split("-")[1] for path in self.dir.glob("*.wit.wasm")}
        self.assertEqual(names, {"ext", "serve"})
        for path in self.dir.glob("*.wit.wasm"):
            self.assertEqual(path.read_bytes()[:8], b"\0asm\x0d\0\1\0", path)

    def test_the_cluster_s_images_are_those_of_the_registry(self):
        images = [line.split("image: ")[1] for path in (self.dir / "all" / "kubernetes").rglob("*.yaml") for line in path.read_text().splitlines() if "image: " in line]
        self.assertTrue(images)
        for image in images:
            self.assertTrue(image.startswith(HOME["registry"] + "/runtime-"), image)
