"""scripts/release.sh: whether a checkout is one to release, and all that a release has."""

import datetime
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from packages import SOURCE, run

FILES = ["scripts/release.sh", "scripts/lib/common.sh", "scripts/lib/package.sh", "packaging/home.toml"]


NINJA = """\
rule copy
  command = cp $in $out
build lib: copy ../source
"""


class CheckTest(unittest.TestCase):
    """A checkout and a build of the little that --check looks at."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-release-"))
        self.addCleanup(shutil.rmtree, self.dir)
        for name in FILES:
            (self.dir / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, self.dir / name)
        self.write("include/wasinn/types.h", '#define WASINN_VERSION "7.1.0"\n')
        self.write("CHANGELOG.md", f"# Changelog\n\n## Unreleased\n\n## 7.1.0 - {datetime.date.today()}\n\n### Added\n\n- A thing.\n\n## 7.0.0\n\n- Old.\n")
        self.write("CMakeLists.txt", "")
        self.write("source", "")
        self.write(".gitignore", "/build/\n/source\n")
        for folder in ("cmake", "src", "backends"):
            (self.dir / folder).mkdir()
        self.write("build/build.ninja", NINJA)
        self.write("build/CMakeCache.txt", "CMAKE_PROJECT_VERSION:STATIC=7.1.0\n")
        run("ninja", "-C", self.dir / "build")
        self.write("build/arm64/build.ninja", "")
        self.write("build/arm64/CMakeCache.txt", "CMAKE_PROJECT_VERSION:STATIC=7.1.0\n")
        self.git("init", "-q")
        self.git("add", ".")
        self.commit()

    def write(self, name, text):
        (self.dir / name).parent.mkdir(parents=True, exist_ok=True)
        (self.dir / name).write_text(text)

    def git(self, *arguments):
        run("git", "-c", "user.name=a", "-c", "user.email=a@b.example", *arguments, cwd=self.dir)

    def commit(self):
        self.git("commit", "-qam", "x")
        head = run("git", "rev-parse", "HEAD", cwd=self.dir)
        self.write("build/passed", f"{head.strip()}\nall\n")

    def release(self, mode):
        env = {**os.environ, "WASINN_DIST": str(self.dir / "dist"), "WASINN_BUILD": str(self.dir / "build")}
        return subprocess.run([self.dir / "scripts" / "release.sh", mode], capture_output=True, text=True, env=env, check=False)

    def check_refused(self, why):
        done = self.release("--check")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.splitlines(), [f"error: {why}"])

    def test_one_to_release(self):
        done = self.release("--check")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse((self.dir / "dist").exists())

    def test_no_mode_goes_on_without_a_version(self):
        kept = self.dir / "dist" / "1.0.0" / "kept"
        kept.parent.mkdir(parents=True)
        kept.touch()
        self.write("include/wasinn/types.h", "")
        self.commit()
        for mode in ("--check", "--dry-run"):
            done = self.release(mode)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("WASINN_VERSION is no version: ''", done.stderr)
            self.assertTrue(kept.exists())

    def test_the_changelog_knows_the_version(self):
        self.write("CHANGELOG.md", (self.dir / "CHANGELOG.md").read_text().replace("7.1.0 -", "7.1.0"))
        self.commit()
        done = self.release("--check")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("error: CHANGELOG.md has no '## 7.1.0 - YYYY-MM-DD'\n", done.stderr)

    def test_nothing_is_unreleased(self):
        self.write("CHANGELOG.md", (self.dir / "CHANGELOG.md").read_text().replace("## Unreleased\n", "## Unreleased\n\n- Later.\n"))
        self.commit()
        self.check_refused("CHANGELOG.md has entries under 'Unreleased'")

    def test_the_changelog_has_an_entry(self):
        self.write("CHANGELOG.md", (self.dir / "CHANGELOG.md").read_text().replace("- A thing.\n", ""))
        self.commit()
        self.check_refused("CHANGELOG.md has no entry under '7.1.0'")

    def test_all_tests_have_passed_on_the_commit(self):
        passed = (self.dir / "build/passed").read_text()
        for text in passed.replace("\nall", ""), passed.replace(passed[0], "x", 1):
            self.write("build/passed", text)
            self.check_refused("scripts/test.sh --all has not passed on this commit")

    def test_all_is_committed(self):
        self.write("CHANGELOG.md", (self.dir / "CHANGELOG.md").read_text() + "\n")
        self.check_refused("there are changes that are not committed")

    def test_the_build_is_of_the_version(self):
        self.write("build/CMakeCache.txt", "CMAKE_PROJECT_VERSION:STATIC=7.0.0\n")
        self.check_refused("the build is of version '7.0.0', the sources of 7.1.0")

    def test_the_build_is_of_the_sources(self):
        earlier = (self.dir / "source").stat().st_mtime - 1
        os.utime(self.dir / "build" / "lib", (earlier, earlier))
        self.check_refused("the build is older than its sources; build it again")
        run("ninja", "-C", self.dir / "build")
        self.assertEqual(self.release("--check").returncode, 0)

    def test_the_build_is_of_what_cmake_reads(self):
        later = (self.dir / "build" / "build.ninja").stat().st_mtime + 1
        self.write("src/CMakeLists.txt", "")
        for path in ("src/CMakeLists.txt", "build/arm64/build.ninja"):
            os.utime(self.dir / path, (later, later))
        self.check_refused("the build is older than src/CMakeLists.txt; build it again")

    def test_there_is_a_build(self):
        (self.dir / "build/build.ninja").unlink()
        self.check_refused(f"{self.dir}/build is no build")

    def test_the_build_for_arm64_is_of_the_version(self):
        self.write("build/arm64/CMakeCache.txt", "CMAKE_PROJECT_VERSION:STATIC=7.0.0\n")
        self.check_refused("the build is of version '7.0.0', the sources of 7.1.0")

    def test_the_tag_of_the_version_is_of_this_commit(self):
        self.git("tag", "v7.1.0")
        self.assertEqual(self.release("--check").returncode, 0)
        self.write("CHANGELOG.md", (self.dir / "CHANGELOG.md").read_text() + "\n")
        self.commit()
        self.check_refused("another commit has the tag v7.1.0")


class ReleaseTest(unittest.TestCase):
    def test_a_dry_run(self):
        dist = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-release-"))
        self.addCleanup(shutil.rmtree, dist)
        env = {"WASINN_DIST": str(dist), "WASINN_BUILD": os.environ["WASINN_BUILD"]}
        run(SOURCE / "scripts" / "release.sh", "--dry-run", "tarball", env=env)
        (release,) = dist.iterdir()
        name = f"wasinn-{release.name}"
        machine = os.uname().machine
        wanted = {"SHA256SUMS", f"{name}-linux-{machine}.tar.gz", f"{name}-source.tar.gz", f"{name}.spdx.json", f"{name}-notes.md"}
        self.assertEqual({path.name for path in release.iterdir()}, wanted)
        sums = dict(reversed(line.split()) for line in (release / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(sums, {file: hashlib.sha256((release / file).read_bytes()).hexdigest() for file in wanted - {"SHA256SUMS"}})
        packages = json.loads((release / f"{name}.spdx.json").read_text())["packages"]
        self.assertIn("ONNX Runtime", {package["name"] for package in packages})
        self.assertIn("\n- ", (release / f"{name}-notes.md").read_text())
