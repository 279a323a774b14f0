"""A registry of Debian's docker-registry on a port of its own, and artifacts in it that skopeo pushed."""

import hashlib
import json
import re
import shutil
import subprocess
import threading

from command import WAIT

SKOPEO = shutil.which("skopeo")
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
EMPTY = "application/vnd.oci.empty.v1+json"
WASM_CONFIG = "application/vnd.wasm.config.v0+json"
MODEL_CONFIG = "application/vnd.cncf.model.config.v1+json"
MODEL_TYPE = "application/vnd.cncf.model.manifest.v1+json"
RAW_WEIGHTS = "application/vnd.cncf.model.weight.v1.raw"


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def titled(name, media_type="application/octet-stream"):
    """A layer as `oras push` makes it of a file."""
    return media_type, {"org.opencontainers.image.title": name}


def weights(path, media_type=RAW_WEIGHTS):
    """A layer of a model as ModelPack has it."""
    return media_type, {"org.cncf.model.filepath": path}


GUEST = ("application/wasm", {})


class Layout:
    """An OCI layout in a folder, with one manifest."""

    def __init__(self, folder, layers, config=(EMPTY, b"{}"), **more):
        """`layers`: (media type and annotations, content)."""
        self.folder = folder
        self.blobs = folder / "blobs" / "sha256"
        self.blobs.mkdir(parents=True)
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, **more,
                    "config": {"mediaType": config[0], **self.add(config[1])},
                    "layers": [{"mediaType": kind, **self.add(content), "annotations": notes} for (kind, notes), content in layers]}
        self.manifest = json.dumps(manifest).encode()
        described = {"mediaType": MANIFEST, **self.add(self.manifest)}
        self.digest = described["digest"]
        (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [described]}))
        (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')

    def add(self, content):
        digest = digest_of(content)
        (self.blobs / digest.removeprefix("sha256:")).write_bytes(content)
        return {"digest": digest, "size": len(content)}


class Registry:
    """Until stop()."""

    def __init__(self, folder):
        """`folder`: it is made, and has all that it stores."""
        folder.mkdir()
        self.folder = folder
        self.port = 0
        self.start()

    def start(self):
        """On the same port, if it had one."""
        config = {"version": "0.1", "log": {"level": "info"}, "storage": {"filesystem": {"rootdirectory": str(self.folder / "storage")}},
                  "http": {"addr": f"127.0.0.1:{self.port}"}}
        (self.folder / "config.yml").write_text(json.dumps(config))  # JSON is YAML, too
        self.process = subprocess.Popen(["docker-registry", "serve", str(self.folder / "config.yml")], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        said = []
        for line in self.process.stderr:
            said.append(line)
            if found := re.search(r"listening on 127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                break
        else:
            raise AssertionError(f"the registry has ended: {said}")
        self.host = f"127.0.0.1:{self.port}"
        self.reader = threading.Thread(target=self.process.stderr.read)  # what it logs must go somewhere
        self.reader.start()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()

    def push(self, layout, name):
        """Under `name`, REPOSITORY:TAG."""
        command = [SKOPEO, "copy", "--quiet", "--preserve-digests", "--dest-tls-verify=false", f"oci:{layout.folder}", f"docker://{self.host}/{name}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.stderr}")

    def blob(self, digest):
        """The file in which the registry keeps it."""
        hexadecimal = digest.removeprefix("sha256:")
        return self.folder / "storage/docker/registry/v2/blobs/sha256" / hexadecimal[:2] / hexadecimal / "data"

    def reference(self, name, digest=None):
        return f"oci://{self.host}/{name}" + (f"@{digest}" if digest else "")


class WithRegistry:
    """A registry for a CommandTest, which skopeo may use without TLS, by its own settings."""

    def setUp(self):
        super().setUp()
        self.registry = Registry(self.dir / "registry")
        self.addCleanup(lambda: self.registry.stop())
        self.file(".config/containers/registries.conf", f'[[registry]]\nlocation = "{self.registry.host}"\ninsecure = true\n')
        self.cache = self.dir / "cache"
        self.env["XDG_CACHE_HOME"] = str(self.cache)
        self.store = self.cache / "wasinn-artifacts"
        self.layouts = 0

    def layout(self, layers, **more):
        self.layouts += 1
        return Layout(self.dir / f"layout{self.layouts}", layers, **more)

    def push(self, name, layers, **more):
        """The digest of what is there then."""
        layout = self.layout(layers, **more)
        self.registry.push(layout, name)
        return layout.digest

    def push_guest(self, name, content):
        return self.push(name, [(GUEST, content)], config=(WASM_CONFIG, b'{"architecture": "wasm", "os": "wasip1"}'))

    def push_model(self, name, content, path="model.gguf"):
        return self.push(name, [(weights(path), content)], config=(MODEL_CONFIG, b"{}"), artifactType=MODEL_TYPE)

    def kept(self, digest):
        """The folder of its files."""
        return self.store / digest.replace(":", "-") / "files"
