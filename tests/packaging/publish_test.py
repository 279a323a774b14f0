"""scripts/publish.sh: what it gives to which client, where clients are programs that write down what they are asked, and git's remote a folder."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from packages import SOURCE, run

# Each writes its words down. Those that ask a registry find what an earlier call has given to it.
CLIENT = """\
#!/bin/sh
case "$(basename "$0") $1 $2" in
  "gh release view") asks="gh release create" ;;
  "npm view "*) asks="npm publish" ;;
  "cargo info "*) asks="cargo publish .*/${3%@*}-[0-9]" ;;
  *) echo "$(basename "$0") $*" >>"$CALLS"; exit ;;
esac
grep "^$asks" "$CALLS"
"""


class PublishTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-publish-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.checkout, self.home = self.dir / "checkout", self.dir / "home.git"
        for name in ("scripts/publish.sh", "scripts/lib/common.sh"):
            (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, self.checkout / name)
        (self.checkout / "packaging").mkdir()
        self.set_home(self.home)
        (self.checkout / "guest/go").mkdir(parents=True)
        (self.checkout / "guest/go/go.mod").write_text("module wasinn\n")
        run("git", "init", "-q", "--bare", self.home)
        run("git", "init", "-q", self.checkout)
        run("git", "add", ".", cwd=self.checkout)
        run("git", "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-qm", "x", cwd=self.checkout)
        self.commit = run("git", "rev-parse", "HEAD", cwd=self.checkout).strip()
        self.release = self.checkout / "dist" / "7.1.0"
        self.make_release()
        (self.dir / "bin").mkdir()
        for client in ("gh", "python3", "npm", "cargo", "skopeo", "wkg"):
            (self.dir / "bin" / client).write_text(CLIENT)
            (self.dir / "bin" / client).chmod(0o755)
        self.calls = self.dir / "calls"
        self.calls.touch()

    def set_home(self, url):
        (self.checkout / "packaging/home.toml").write_text(f'url="{url}"\nmaintainer="M"\nemail="m@b.example"\nregistry="r.example/w"\n')

    def make_release(self):
        self.release.mkdir(parents=True)
        run("git", "archive", "--format=tar.gz", "-o", self.release / "wasinn-7.1.0-source.tar.gz", "HEAD", cwd=self.checkout)
        for archive, file, text in (("wasinn-guest-go-7.1.0.tar.gz", "guest/go/go.mod", "module home.example/go\n"),
                                    ("wasinn-7.1.0-site.tar.gz", "site/index.html", "<p>"),
                                    *((f"{crate}-7.1.0.crate", f"{crate}-7.1.0/Cargo.toml.orig", "[package]\n")
                                      for crate in ("wasinn-guest", "wasinn-sys", "wasinn"))):  # fmt: skip
            path = self.dir / "made" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            run("tar", "-czf", self.release / archive, "-C", self.dir / "made", file.split("/")[0])
        for name in ("wasinn-7.1.0-py3-none-any.whl", "wasinn-7.1.0.tgz", "wasinn-7.1.0-notes.md", "wasinn-7.1.0-runtime-cpu-x86_64.oci.tar",
                     "wasinn-ext-7.1.0.wit.wasm", "wasinn-serve-7.1.0.wit.wasm"):  # fmt: skip
            (self.release / name).touch()
        sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(self.release.iterdir())]
        (self.release / "SHA256SUMS").write_text("".join(sums))

    def publish(self, *arguments):
        env = {**os.environ, "PATH": f"{self.dir}/bin:{os.environ['PATH']}", "CALLS": str(self.calls)}
        return subprocess.run([self.checkout / "scripts/publish.sh", "7.1.0", *arguments], capture_output=True, text=True, env=env, check=False)

    def refs(self):
        return dict(reversed(line.split()) for line in run("git", "--git-dir", self.home, "for-each-ref", "--format=%(objectname) %(refname)").splitlines())

    def show(self, what):
        return run("git", "--git-dir", self.home, "show", what)

    def test_without_upload_nothing_is_done(self):
        done = self.publish()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\npython3 -m twine upload --skip-existing ./wasinn-7.1.0-py3-none-any.whl\n", done.stdout)
        self.assertEqual((self.calls.read_text(), self.refs()), ("", {}))

    def test_each_client_gets_its_files_once(self):
        done = self.publish("--upload")
        self.assertEqual((done.returncode, done.stderr.count("error")), (0, 0), done.stderr)
        calls = [line.split(str(self.dir))[0] for line in self.calls.read_text().splitlines()]
        self.assertEqual([call.split(" ./")[0].split(" /tmp")[0] for call in calls], [
            "gh release create v7.1.0 --repo ",
            "python3 -m twine upload --skip-existing",
            "npm publish --access public",
            *3 * ["cargo publish --no-verify --manifest-path"],
            "skopeo copy oci-archive:wasinn-7.1.0-runtime-cpu-x86_64.oci.tar docker://r.example/w/runtime-cpu:7.1.0",
            "wkg oci push r.example/w/wit/ext:7.1.0 wasinn-ext-7.1.0.wit.wasm",
            "wkg oci push r.example/w/wit/serve:7.1.0 wasinn-serve-7.1.0.wit.wasm",
        ])  # fmt: skip
        (created,) = (line for line in self.calls.read_text().splitlines() if line.startswith("gh "))
        self.assertIn(" ./SHA256SUMS ", created)
        self.assertNotIn(".oci.tar", created)
        refs = self.refs()
        self.assertEqual(set(refs), {"refs/tags/v7.1.0", "refs/tags/guest/go/v7.1.0", "refs/heads/gh-pages"})
        self.assertEqual(refs["refs/tags/v7.1.0"], self.commit)
        self.assertEqual(self.show("guest/go/v7.1.0^").split()[1], self.commit)
        self.assertEqual(self.show("guest/go/v7.1.0:guest/go/go.mod"), "module home.example/go\n")
        self.assertIn("publish.sh", self.show("guest/go/v7.1.0:scripts"))
        self.assertEqual(self.show("gh-pages:index.html"), "<p>")
        again = self.publish("--upload")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.refs(), refs)
        first, second = self.calls.read_text().splitlines()[: len(calls)], self.calls.read_text().splitlines()[len(calls) :]
        self.assertTrue(second[0].startswith("gh release upload v7.1.0 "), second)
        self.assertEqual([call.split()[0] for call in second[1:]], ["python3", "skopeo", "wkg", "wkg"], (first, second))

    def check_refused(self, why, *arguments):
        done = self.publish(*arguments)
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (1, f"error: {why}"))
        self.assertEqual((self.calls.read_text(), self.refs()), ("", {}))

    def test_a_release_that_was_changed_is_refused(self):
        (self.release / "wasinn-7.1.0.tgz").write_text("x")
        self.check_refused(f"{self.release} is not as scripts/release.sh has made it", "--upload")

    def test_without_a_home_nothing_is_uploaded(self):
        self.set_home("https://example.com/wasinn/wasinn")
        self.check_refused("packaging/home.toml names no home yet: https://example.com/wasinn/wasinn", "--upload")

    def test_an_unknown_step_is_refused(self):
        self.check_refused("there is no step 'pipy'", "--upload", "npm", "pipy")
