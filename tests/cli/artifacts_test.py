"""Models and guests out of a registry: pulled once, checked each time, and refused where they are not what their digest says."""

import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess

from command import MODEL, PROBE, WAIT, WASINN, CommandTest
from registry import MODEL_CONFIG, WithRegistry, digest_of, titled, weights

MODEL = MODEL.encode()
OTHER_MODEL = b"GGUF\nin x f32 2,4\n"  # as long as that
SUM = "sum 21"  # the probe's output for MODEL


class ArtifactsTest(WithRegistry, CommandTest):
    def infer(self, *flags, guest=PROBE, err=None):
        self.check(self.wasinn("run", *flags, guest, "infer", "m"), out=SUM, err=err)

    def pull(self, *references, flags=()):
        result = self.wasinn("models", "pull", *references, "--json", *flags)
        self.check(result)
        return json.loads(result.out)

    def refuse(self, text, *references):
        """One line on stderr."""
        result = self.wasinn("models", "pull", *references)
        self.check(result, code=125, out="", err=text)
        self.assertEqual(len(result.err.splitlines()), 1, result)


class PulledTest(ArtifactsTest):
    def test_a_model_and_a_guest(self):
        model = self.push_model("team/model:1", MODEL)
        guest = self.push_guest("team/guest:1", pathlib.Path(PROBE).read_bytes())
        tags = self.registry.reference("team/model:1"), self.registry.reference("team/guest:1")
        pinned = self.registry.reference("team/model", model), self.registry.reference("team/guest", guest)
        result = self.wasinn("run", "--model", f"m={tags[0]}", tags[1], "infer", "m")
        self.check(result, out=SUM)
        self.assertEqual(sorted(result.err.splitlines()), sorted(f"wasinn: info: {tag} is {pin}" for tag, pin in zip(tags, pinned)))
        self.infer("--model", f"m={pinned[0]}", guest=pinned[1], err="")

    def test_the_guest_is_called_as_its_file(self):
        self.push_guest("guest:1", pathlib.Path(PROBE).read_bytes())
        self.check(self.wasinn("run", self.registry.reference("guest:1"), "args"), out="guest.wasm")

    def test_without_a_registry(self):
        """A pulled artifact with a digest needs neither a registry nor skopeo; a tag needs both."""
        digest = self.push_model("model:1", MODEL)
        pinned = self.registry.reference("model", digest)
        self.assertTrue(self.pull(pinned)[0]["pulled"])
        self.registry.stop()
        self.infer("--model", f"m={pinned}", err="")
        self.check_error(self.wasinn("run", "--model", f"m={self.registry.reference('model:1')}", PROBE), "refused")
        self.env["PATH"] = "/nonexistent:relative"
        self.infer("--model", f"m={pinned}", err="")
        self.check_error(self.wasinn("run", "--model", f"m={self.registry.reference('model:1')}", PROBE), "`apt install skopeo` installs it")

    def test_the_configuration(self):
        model, guest = self.push_model("model:1", MODEL), self.push_guest("guest:1", b"\0asm\1\0\0\0")
        text = self.dir.joinpath("echo.toml").read_text()
        self.file("pinned.toml", text + f"[models.\"m\"]\npath = '{self.registry.reference('model', model)}'\n"
                                        f"[routes.'/g']\nfile = '{self.registry.reference('guest:1', guest)}'\n")
        pulled = self.pull(flags=["--config", "pinned.toml"])
        self.assertEqual([one["digest"] for one in pulled], [model, guest])
        self.registry.stop()
        self.infer("--config", "pinned.toml", err="")
        listed = json.loads(self.wasinn("models", "--config", "pinned.toml", "--json").out)
        self.assertEqual(listed[0]["path"], str(self.kept(model) / "model.gguf"))
        # A tag may stand for something else tomorrow.
        for key in ("[models.m]\npath", "[routes.'/g']\nfile", "[guest_models.m]\nfile"):
            self.file("tag.toml", text + f"{key} = 'oci://localhost/m:1'\n")
            result = self.run_probe("args", flags=["--config", "tag.toml"])
            self.check_error(result, "has no digest, and a tag may change: `wasinn models pull oci://localhost/m:1` prints it")

    def test_the_output_of_pull(self):
        digest = self.push_model("model:1", MODEL)
        reference, pinned = self.registry.reference("model:1"), self.registry.reference("model", digest)
        path = str(self.kept(digest) / "model.gguf")
        report = {
            "reference": reference,
            "pinned": pinned,
            "digest": digest,
            "path": path,
            "pulled": True,
            "bytes": len(MODEL) + 2,
            "files": [{"path": "model.gguf", "digest": digest_of(MODEL), "bytes": len(MODEL)}],
        }
        self.assertEqual(self.pull(reference), [report])
        self.assertEqual(self.pull(pinned), [{**report, "reference": pinned, "pulled": False}])
        result = self.wasinn("models", "pull", pinned)
        self.check(result, out=f"{pinned}\n  was here, {len(MODEL) + 2} bytes\n  {path}\n", err="")
        self.check_error(self.wasinn("models", "pull"), "nothing is to be pulled")

    def test_inspect_compile_and_check(self):
        self.push_model("echo:1", MODEL)
        self.push_guest("guest:1", pathlib.Path(PROBE).read_bytes())
        model, guest = self.registry.reference("echo:1"), self.registry.reference("guest:1")
        self.check(self.wasinn("inspect", model), out=f"{model} (ggml)")
        self.check(self.wasinn("check", model, guest, "infer", "echo"), out="\nfits: ")
        self.check(self.wasinn("check", f"m={model}", guest, "infer", "m"), out="\nfits: ")
        self.check(self.wasinn("compile", guest), out="")
        self.infer("--allow-precompiled", "--model", f"m={model}", guest="guest.cwasm")

    def test_several_files(self):
        """OpenVINO's pair is one model; else the folder is, or what #FILE names."""
        digest = self.push("pair:1", [(titled("net.bin"), b"weights"), (titled("net.xml"), b"<net/>")])
        self.assertEqual(self.pull(self.registry.reference("pair:1"))[0]["path"], str(self.kept(digest) / "net.xml"))
        layers = [(titled("1/model.gguf"), MODEL), (titled("notes.txt"), b"notes"), (titled("copy of notes.txt"), b"notes")]
        digest = self.push("folder:1", layers)
        reference = self.registry.reference("folder:1")
        self.assertEqual(self.pull(reference)[0]["path"], str(self.kept(digest)))
        self.infer("--model", f"m={reference}")
        self.infer("--model", f"m={reference}#1")
        self.infer("--model", f"m={reference}#1/model.gguf")
        self.assertEqual((self.kept(digest) / "copy of notes.txt").read_bytes(), b"notes")
        self.check_error(self.wasinn("models", "pull", f"{reference}#2"), "it has no file '2'; it has 1/model.gguf, notes.txt, copy of notes.txt")
        self.check(self.wasinn("run", reference), code=125, err="has several files: name the guest's by #FILE")
        # Other files next to the weights do not matter.
        config = "application/vnd.cncf.model.weight.config.v1.raw"
        layers = [(weights("w/m.gguf"), MODEL), (weights("config.json", config), b"{}"), (weights("README", "application/vnd.cncf.model.doc.v1.tar"), b"doc")]
        digest = self.push("modelpack:1", layers, config=(MODEL_CONFIG, b"{}"))
        self.infer("--model", f"m={self.registry.reference('modelpack', digest)}")
        self.assertEqual(sorted(path.name for path in self.kept(digest).iterdir()), ["config.json", "w"])

    def test_prune(self):
        digests = [self.push_model(f"model:{i}", MODEL + b"in y%d f32 1\n" % i) for i in range(2)]
        self.pull(*(self.registry.reference("model", digest) for digest in digests))
        self.check(self.wasinn("models", "prune", "1h"), out="", err="")
        os.utime(self.kept(digests[0]).parent, (0, 0))
        self.check(self.wasinn("models", "prune", "1h"), out=f"removed {digests[0]}\n", err="")
        self.assertEqual(json.loads(self.wasinn("models", "prune", "--json", "0").out), [digests[1]])
        self.assertEqual(list(self.store.iterdir()), [])


class RefusedTest(ArtifactsTest):
    def test_a_blob_that_the_registry_changed(self):
        digest = self.push_model("model:1", MODEL)
        self.registry.blob(digest_of(MODEL)).write_bytes(OTHER_MODEL)
        for reference in (self.registry.reference("model:1"), self.registry.reference("model", digest)):
            self.refuse("Digest did not match", reference)
        self.assertEqual(list(self.store.iterdir()), [])

    def test_a_manifest_that_the_registry_changed(self):
        digest, other = self.push_model("model:1", MODEL), self.push_model("model:2", OTHER_MODEL)
        shutil.copy(self.registry.blob(other), self.registry.blob(digest))
        self.refuse(f"oci://{self.registry.host}/model@{digest}", self.registry.reference("model", digest))

    def test_a_tag_that_moved(self):
        """The digest stays what it was."""
        first = self.push_model("model:1", MODEL)
        self.assertEqual(self.pull(self.registry.reference("model:1"))[0]["digest"], first)
        second = self.push_model("model:1", OTHER_MODEL)
        self.assertEqual(self.pull(self.registry.reference("model:1"))[0]["digest"], second)
        self.infer("--model", f"m={self.registry.reference('model', first)}", err="")

    def test_what_is_not_there(self):
        self.push_model("model:1", MODEL)
        self.refuse("manifest unknown", self.registry.reference("model:2"))
        self.refuse("manifest unknown", self.registry.reference("model", "sha256:" + "0" * 64))
        self.refuse("manifest unknown", self.registry.reference("nothing:1"))

    def test_what_is_neither_a_guest_nor_a_model(self):
        for (kind, notes), text in (
            (("application/vnd.oci.image.layer.v1.tar+gzip", {}), "no guest, no model and no named file"),
            (weights("m", "application/vnd.cncf.model.weight.v1.tar"), "no archive is unpacked here: `modctl build --raw` leaves files as they are"),
            (("application/vnd.oci.image.layer.v1.tar+gzip", {"org.opencontainers.image.title": "m", "io.deis.oras.content.unpack": "true"}), "is a packed folder"),
            (titled("../m.gguf"), "is called '../m.gguf', which is no path in a folder of its own"),
            (titled("/m.gguf"), "is called '/m.gguf'"),
            (weights("a/../../m.gguf"), "is called 'a/../../m.gguf'"),
        ):
            with self.subTest(text):
                self.push("odd:1", [((kind, notes), b"odd")])
                self.refuse(text, self.registry.reference("odd:1"))

    def test_without_tls_only_where_skopeos_settings_say_so(self):
        self.push_model("model:1", MODEL)
        (self.dir / ".config/containers/registries.conf").unlink()
        self.refuse("server gave HTTP response to HTTPS client", self.registry.reference("model:1"))

    def test_references(self):
        for reference, text in (("oci://localhost/m", "has neither a tag nor a digest"), ("oci://m:1", "it names no repository"),
                                ("oci://ghcr/m:1", "has neither a dot nor a port"), ("oci://localhost/m@sha256:1", "is not a digest"),
                                ("m.onnx", "'m.onnx' does not begin with oci://")):
            self.check_error(self.wasinn("models", "pull", reference), text)
        self.check_error(self.wasinn("run", "--model", "m=oci://localhost/M:1", PROBE), "model m: 'oci://localhost/M:1' is not oci://")

    def test_a_guest_may_not_have_the_folder(self):
        digest = self.push_model("model:1", MODEL)
        pinned = self.registry.reference("model", digest)
        self.pull(pinned)
        self.check_error(self.wasinn("run", "--no-cache", "--dir", ".", "--model", f"m={pinned}", PROBE), "the guest may use the folder .")
        inner = str(self.kept(digest)) + "::/models:ro"
        self.check_error(self.wasinn("run", "--no-cache", "--dir", inner, "--model", f"m={pinned}", PROBE), "the guest may use the folder")
        self.check_error(self.wasinn("run", "--no-cache", "--dir", ".", pinned), "the guest may use the folder .")


class KeptTest(ArtifactsTest):
    def setUp(self):
        super().setUp()
        self.digest = self.push_model("model:1", MODEL)
        self.pinned = self.registry.reference("model", self.digest)
        self.pull(self.pinned)
        self.model = self.kept(self.digest) / "model.gguf"

    def test_it_is_the_users_alone(self):
        self.assertEqual(stat.S_IMODE(self.store.stat().st_mode), 0o700)
        self.store.chmod(0o755)
        self.refuse("must be this user's own, and closed to all others", self.pinned)

    def check_mended(self, what):
        """A changed file is pulled again, or refused if there is no registry."""
        self.infer("--model", f"m={self.pinned}", err=what)
        self.assertEqual(self.model.read_bytes(), MODEL)
        self.infer("--model", f"m={self.pinned}", err="")
        self.assertEqual([path.name for path in self.store.iterdir()], [self.digest.replace(":", "-")])

    def test_a_changed_file(self):
        self.model.write_bytes(OTHER_MODEL)
        os.utime(self.model, ns=(0, 0))
        self.check_mended(f"the digest of {digest_of(MODEL)} is {digest_of(OTHER_MODEL)}: pulling it again")
        self.model.write_bytes(OTHER_MODEL)
        self.registry.stop()
        result = self.run_probe("infer", "m", flags=["--model", f"m={self.pinned}"])
        self.check(result, code=125, out="", err="pulling it again")
        self.assertIn("connection refused", result.err)

    def test_other_changes(self):
        def replace_by_link():
            os.rename(self.model, self.dir / "model.gguf")
            self.model.symlink_to(self.dir / "model.gguf")

        manifest = self.model.parents[1] / "manifest.json"
        for change, what in (
            (lambda: self.model.write_bytes(MODEL + b"\n"), f"has {len(MODEL) + 1} bytes, and should have {len(MODEL)}"),
            (self.model.unlink, "is not there, or is no file"),
            (replace_by_link, "is not there, or is no file"),
            (lambda: (self.model.parent / "model.bin").touch(), "'model.bin' is no file of it"),
            (lambda: manifest.write_bytes(manifest.read_bytes() + b" "), "its manifest is not what its digest says"),
            (lambda: shutil.rmtree(self.model.parents[1]) or self.model.parents[1].mkdir(), "its manifest is not what its digest says"),
        ):
            with self.subTest(what):
                change()
                self.check_mended(what)

    def test_a_file_that_was_only_touched(self):
        os.utime(self.model)
        self.infer("--model", f"m={self.pinned}", err="")
        self.registry.stop()
        self.infer("--model", f"m={self.pinned}", err="")

    def test_two_at_once(self):
        shutil.rmtree(self.store)
        command = [WASINN, "models", "pull", self.pinned, "--json"]
        both = [subprocess.Popen(command, cwd=self.dir, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
        for one in both:
            out, err = one.communicate(timeout=WAIT)
            self.assertEqual((one.returncode, err), (0, b""))
            self.assertEqual(json.loads(out)[0]["path"], str(self.model))
        self.assertEqual([path.name for path in self.store.iterdir()], [self.digest.replace(":", "-")])


class EndedTest(ArtifactsTest):
    """A registry that never answers."""

    def setUp(self):
        super().setUp()
        self.silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.silent.close)
        self.host = f"127.0.0.1:{self.silent.getsockname()[1]}"
        self.file(".config/containers/registries.conf", f'[[registry]]\nlocation = "{self.host}"\ninsecure = true\n')

    def test_skopeo_ends_with_the_command(self):
        for end in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(end):
                command = subprocess.Popen([WASINN, "models", "pull", f"oci://{self.host}/m:1"], cwd=self.dir, env=self.env, stderr=subprocess.PIPE)
                connection = self.silent.accept()[0]
                self.addCleanup(connection.close)
                command.send_signal(end)
                self.assertEqual(command.wait(timeout=WAIT), -end)
                command.stderr.close()
                while connection.recv(4096):  # until its end
                    pass

    def test_what_a_killed_one_left_goes(self):
        left = self.store / ".arrival-left"
        (left / "layout").mkdir(parents=True)
        self.store.chmod(0o700)
        self.file(".config/containers/registries.conf", f'[[registry]]\nlocation = "{self.registry.host}"\ninsecure = true\n')
        self.push_model("model:1", MODEL)
        self.pull(self.registry.reference("model:1"))
        self.assertFalse(left.exists())
