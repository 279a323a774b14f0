"""scripts/sbom.py, on a prefix that this build is installed to."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
import unittest.mock

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
sys.path += [str(SOURCE / "scripts"), str(SOURCE / ".deps" / "sbom")]

import sbom  # noqa: E402
from bom import crates, fetched, system, thing  # noqa: E402
from spdx_tools.spdx.model import RelationshipType as Is, SpdxNoAssertion  # noqa: E402
from spdx_tools.spdx.parser.json import json_parser  # noqa: E402
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document  # noqa: E402

COMPONENT = SOURCE / "src" / "engines" / "wasmtime" / "component"


def regular_files(prefix):
    return {path for path in prefix.rglob("*") if path.is_file() and not path.is_symlink()}


class SbomTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-sbom-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.prefix = cls.dir / "prefix"
        install = [os.environ["CMAKE"], "--install", os.environ["WASINN_BUILD"], "--prefix", cls.prefix]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL, timeout=60)
        command = [sys.executable, "-B", SOURCE / "scripts" / "sbom.py", cls.prefix, "-o", cls.dir / "wasinn.spdx.json"]
        subprocess.run(command, check=True, timeout=60)
        cls.document = json_parser.parse_from_file(str(cls.dir / "wasinn.spdx.json"))
        cls.packages = {package.spdx_id: package for package in cls.document.packages}

    def related(self, relation):
        return {(one.spdx_element_id, one.related_spdx_element_id) for one in self.document.relationships if one.relationship_type == relation}

    def named(self, name):
        (found,) = (package for package in self.document.packages if package.name == name)
        return found

    def purl(self, name):
        return [reference.locator for reference in self.named(name).external_references]

    def test_it_is_valid(self):
        self.assertEqual(validate_full_spdx_document(self.document), [])
        self.assertIn(("SPDXRef-DOCUMENT", self.named("wasinn").spdx_id), self.related(Is.DESCRIBES))

    def test_each_file_is_listed_with_its_hashes_and_one_package(self):
        listed = {file.name: file for file in self.document.files}
        self.assertEqual(set(listed), {f"./{path.relative_to(self.prefix)}" for path in regular_files(self.prefix)})
        holders = [file for package, file in self.related(Is.CONTAINS) if package in self.packages and file not in self.packages]
        self.assertEqual(sorted(holders), sorted(file.spdx_id for file in self.document.files))
        for name, file in listed.items():
            content = (self.prefix / name).read_bytes()
            hashes = {checksum.algorithm.name: checksum.value for checksum in file.checksums}
            self.assertEqual(hashes, {"SHA1": hashlib.sha1(content).hexdigest(), "SHA256": hashlib.sha256(content).hexdigest()}, name)

    def test_versions_are_those_of_the_header_and_the_manifest(self):
        header = (SOURCE / "include" / "wasinn" / "types.h").read_text()
        self.assertEqual(self.named("wasinn").version, re.search(r'WASINN_VERSION "(.*)"', header)[1])
        manifest = (SOURCE / "scripts" / "manifest.sh").read_text()
        if (SOURCE / ".deps" / ".stamps" / "onnxruntime").exists():
            version, hashes = re.search(r'wheel onnxruntime (\S+) "([^"]*)"', manifest).groups()
            self.assertEqual(self.purl("ONNX Runtime"), [f"pkg:pypi/onnxruntime@{version}"])
            self.assertIn(self.named("ONNX Runtime").checksums[0].value, hashes.split())

    def test_a_licence_is_no_guess(self):
        for package in self.document.packages:
            self.assertTrue(package.license_comment, package.name)
            if not isinstance(package.license_declared, SpdxNoAssertion):
                self.assertRegex(package.license_comment, "text is|Cargo.toml says|copyright file says", package.name)
        self.assertEqual(str(self.named("wasinn").license_declared), "Apache-2.0 WITH LLVM-exception")

    def test_crates_are_those_of_the_lock_with_their_own_licences(self):
        ours = [package.spdx_id for package in self.document.packages if package.name == "wasinn-wasmtime"]
        if not ours:
            self.assertEqual([p.name for p in self.document.packages if "pkg:cargo/wasmtime@" in str(p.external_references)], [])
            return
        locked = {(crate["name"], crate["version"]): crate.get("checksum") for crate in tomllib.loads((COMPONENT / "Cargo.lock").read_text())["package"]}
        linked = [self.packages[crate] for library, crate in self.related(Is.STATIC_LINK) if library == ours[0]]
        linked = [crate for crate in linked if crate.name != "Rust standard library"]
        self.assertGreater(len(linked), 50)
        for crate in linked:
            self.assertEqual(crate.checksums[0].value, locked[crate.name, crate.version])
            self.check_licence(crate)

    def check_licence(self, crate):
        """As cargo unpacked it, if it did."""
        home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
        for manifest in home.glob(f"registry/src/*/{crate.name}-{crate.version}/Cargo.toml"):
            declared = tomllib.loads(manifest.read_text())["package"].get("license")
            if declared and "/" not in declared:
                self.assertEqual(str(crate.license_declared), str(thing.SPDX.parse(declared)), crate.name)

    def test_what_the_system_has_is_named(self):
        needed = {self.packages[other].name for one, other in self.related(Is.DEPENDS_ON) if one == self.named("wasinn").spdx_id}
        self.assertTrue({"libc6", "libc.so.6", "libc6:amd64"} & needed, needed)
        compiled_in = {self.packages[other].name for one, other in self.related(Is.STATIC_LINK) if one == self.named("wasinn").spdx_id}
        self.assertTrue({"nlohmann-json3-dev", "JSON for Modern C++"} & compiled_in, compiled_in)
        self.assertTrue(all(not package.files_analyzed for package in self.packages.values() if package.name in needed | compiled_in))

    def test_what_nothing_claims_is_an_error(self):
        copy = self.dir / "copy"
        shutil.copytree(self.prefix, copy, symlinks=True, copy_function=os.link)
        (copy / "lib" / "wasinn").mkdir(parents=True, exist_ok=True)
        unknown = [copy / "lib" / "wasinn" / "libother.so", copy / "share" / "doc" / "wasinn" / "docs" / "other.bin"]
        # A library with one bit changed is not what the manifest says.
        unknown += [path for path in copy.rglob("*") if path.name in ("libonnxruntime.so.1", "libwasmtime.so")]
        for path in unknown:
            content = path.read_bytes() if path.exists() else b"\x7fELF"
            path.unlink(missing_ok=True)
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with self.assertRaises(SystemExit) as ended:
            sbom.Prefix(copy).claim(fetched.Deps(SOURCE))
        expected = {f"error: {path.relative_to(copy)}: of no known package (scripts/sbom.py, scripts/bom/fetched.toml)" for path in unknown}
        self.assertEqual(set(ended.exception.code.splitlines()), expected)

    def test_a_link_out_of_the_prefix_is_an_error(self):
        (self.dir / "linked").mkdir()
        (self.dir / "linked" / "link").symlink_to("/etc/passwd")
        with self.assertRaisesRegex(SystemExit, "link leads to /etc/passwd, which is no file of"):
            sbom.Prefix(self.dir / "linked")


class PartsTest(unittest.TestCase):
    def test_licences_as_manifests_spell_them(self):
        self.assertEqual(thing.licence_of("MIT/Apache-2.0"), "MIT OR Apache-2.0")
        self.assertEqual(thing.licence_of("Apache-2.0 WITH LLVM-exception"), "Apache-2.0 WITH LLVM-exception")
        for word in ("", "BSD-ish", "MIT OR", "see LICENSE"):
            self.assertIsNone(thing.licence_of(word), word)

    def test_a_text_of_another_licence_is_reported(self):
        ours = "Apache-2.0 WITH LLVM-exception"
        self.assertTrue(thing.has_text(ours, SOURCE / "LICENSE"))
        for other in set(thing.TEXTS) - {ours}:
            self.assertFalse(thing.has_text(other, SOURCE / "LICENSE"), other)
        self.assertFalse(thing.has_text("MIT", SOURCE / "no such file"))

    def test_licences_of_the_table_have_their_texts(self):
        deps = fetched.Deps(SOURCE)
        for entry in deps.table:
            if entry["recipe"] in deps.fetches and "licence" in entry:
                self.assertTrue(thing.has_text(entry["licence"], deps.dir / entry["licence_text"]), entry["name"])

    def test_what_the_manifest_no_longer_says_is_an_error(self):
        with unittest.mock.patch.object(fetched.Deps, "_filled", return_value={"onnxruntime": "onnxruntime-0.1-0123"}):
            with self.assertRaisesRegex(SystemExit, r"\.deps has onnxruntime-0\.1-0123, .* has onnxruntime-.*: run scripts/deps.sh onnxruntime"):
                fetched.Deps(SOURCE)

    def test_without_manifests_licences_of_crates_are_not_known(self):
        with unittest.mock.patch.dict(os.environ, CARGO="/nonexistent"), unittest.mock.patch("sys.stderr"):
            linked = crates.root(COMPONENT).links
        self.assertGreater(len(linked), 50)
        self.assertEqual({(crate.licence, crate.licence_comment) for crate in linked}, {(None, "Its manifest is not in cargo's cache.")})

    def test_an_unknown_library(self):
        found = system.libraries({"libno-such.so.1"})["libno-such.so.1"]
        self.assertEqual((found.name, found.version, found.licence), ("libno-such.so.1", None, None))

    def test_debians_names_of_licences(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "copyright"
            for name, spdx in {"Expat": "MIT", "GPL-2+ or Expat": "GPL-2.0-or-later OR MIT", "Expat with exception": None, "own": None}.items():
                path.write_text(f"Format: x\n\nFiles: a\nLicense: ISC\n\nFiles:  *\nCopyright: y\nLicense: {name}\n text\n")
                read = thing.Thing("x")
                system.read_licence(read, path)
                self.assertEqual(read.licence, spdx, name)
            path.write_text("It is under the GPL.\n")
            read = thing.Thing("x")
            system.read_licence(read, path)
            self.assertIsNone(read.licence)
