"""The image runtime-cpu, in containers that are run as Kubernetes would run those of packaging/kubernetes: by runc, as a user without rights, with a
read-only root and RuntimeDefault's filter. It serves, and workers have their own sandboxes inside."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

import container
import numpy as np
import tritonclient.grpc
from container import PORTS, USER, Container, status_of
from manifests import ROOT, of_kind

LOAD = """(module (import "wasi_ephemeral_nn" "load" (func $load (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 0) "\\20\\01\\00\\00SIZE")
  (data (i32.const 16) "Content-Type: text/plain\\n\\n0")
  (data (i32.const 288) "MODEL")
  (func (export "_start")
    (i32.store8 (i32.const 42) (i32.add (i32.const 48) (call $load (i32.const 0) (i32.const 1) (i32.const 1) (i32.const 0) (i32.const 64))))
    (i32.store (i32.const 128) (i32.const 16))
    (i32.store (i32.const 132) (i32.const 27))
    (drop (call $write (i32.const 1) (i32.const 128) (i32.const 1) (i32.const 136)))))"""  # answers with the error's number


def text_of(data):
    """The bytes as text in a module."""
    return "".join(f"\\{byte:02x}" for byte in data)


class ImageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-image-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "storage.conf").write_text(f'[storage]\ndriver = "overlay"\ngraphroot = "{cls.folder}/store"\nrunroot = "{cls.folder}/run"\n')
        env = {**os.environ, "CONTAINERS_STORAGE_CONF": str(cls.folder / "storage.conf"), "BUILDAH_ISOLATION": "chroot", "WASINN_DIST": str(cls.folder)}
        subprocess.run([ROOT / "scripts" / "package.sh", "images", "--", "--base", os.environ["BARE_DEBIAN"], "runtime-cpu"], check=True, env=env)
        subprocess.run(["buildah", "rmi", "--all", "--force"], check=True, env=env, capture_output=True)
        [cls.archive] = cls.folder.glob("*.oci.tar")
        cls.image = container.unpack(cls.archive, cls.folder)
        cls.pixels = [float(number % 17) for number in range(64)]

    def make(self, pod, spec, *arguments):
        made = Container(self.folder / "rootfs", self.image, pod, spec, [*PORTS, *arguments])
        self.addCleanup(made.remove)
        return made

    def deployed(self, more="", arguments=()):
        """The Deployment's container, before its start, with the ConfigMap's file and `more` at its end."""
        pod = of_kind("Deployment")["spec"]["template"]["spec"]
        made = self.make(pod, pod["containers"][0], *arguments)
        (made.volumes["config"] / "serve.toml").write_text(of_kind("ConfigMap", "wasinn")["data"]["serve.toml"] + more)
        shutil.copy(ROOT / "models" / "digits.onnx", made.volumes["models"])
        return made

    def infer(self, made, model="digits"):
        request = {"inputs": [{"name": "image", "datatype": "FP32", "shape": [1, 1, 8, 8], "data": self.pixels}]}
        status, reported = made.ask("POST", f"/v2/models/{model}/infer", json.dumps(request))
        self.assertEqual(status, 200, reported)
        return json.loads(reported)["outputs"][0]["data"]

    def check_rights(self, status):
        self.assertEqual(set(status["Uid"].split()) | set(status["Gid"].split()), {str(USER)})
        self.assertEqual({status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}, {"0" * 16})
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))

    def test_the_image_has_what_serves_and_no_more(self):
        root = self.folder / "rootfs"
        names = {path.name for path in root.rglob("*") if path.is_file()}
        self.assertLessEqual({"wasinn", "wasinn-serve", "wasinn-worker", "libonnxruntime.so.1", "ca-certificates.crt"}, names)
        self.assertEqual(names & {"sh", "bash", "dash", "apt", "dpkg", "perl", "python3"}, set())
        self.assertEqual([path for path in root.rglob("*") if not path.is_symlink() and path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)], [])
        self.assertEqual(self.image["User"], f"{USER}:{USER}")
        known = {path.name for path in (root / "var/lib/dpkg/status.d").iterdir()}
        self.assertLessEqual({"libc6", "libstdc++6", "libgcc-s1", "ca-certificates", "libssl3"}, known)
        for package in ("libc6", "libssl3"):
            self.assertRegex((root / "var/lib/dpkg/status.d" / package).read_text(), rf"(?m)^Package: {package}$[^\0]*^Version: ")

    def test_it_serves_over_http_and_grpc(self):
        made = self.deployed()
        made.start()
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            status, reported = made.ask("GET", made.spec[probe]["httpGet"]["path"])
            self.assertEqual(status, 200, reported)
        scores = self.infer(made)
        self.assertAlmostEqual(sum(scores), 1, places=3)
        with tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{made.grpc_port}") as client:
            tensor = tritonclient.grpc.InferInput("image", [1, 1, 8, 8], "FP32")
            tensor.set_data_from_numpy(np.array(self.pixels, np.float32).reshape(1, 1, 8, 8))
            reported = client.infer("digits", [tensor]).as_numpy("probabilities")
        self.assertEqual([round(score, 5) for score in scores], [round(float(score), 5) for score in reported[0]])
        status, reported = made.ask("GET", "/metrics", port=made.metrics_port)
        self.assertIn("\nwasinn_inferences_waiting 0\n", reported.decode())
        self.assertEqual(made.stop(), 0)

    def test_it_may_do_nothing_that_it_need_not(self):
        made = self.deployed()
        made.start()
        [server] = made.pids()
        self.check_rights(status_of(server))
        mounts = pathlib.Path(f"/proc/{server}/mountinfo").read_text().splitlines()
        options = {line.split()[4]: line.split()[5].split(",") for line in mounts}
        self.assertEqual({place for place in ("/", "/models", "/etc/wasinn", "/sys", "/tmp", "/var/cache/wasinn") if "ro" in options[place]},
                         {"/", "/models", "/etc/wasinn", "/sys"})

    def test_doctor_finds_nothing_wrong_inside(self):
        made = self.deployed()
        made.start()
        done = made.run("/opt/wasinn/bin/wasinn", "doctor", "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = {(entry["area"], entry["what"]): entry for entry in json.loads(done.stdout)}
        for what in ("kernel", "onnx", "tflite"):
            self.assertEqual(found["workers", what]["state"], "ok", found["workers", what])
        self.assertIn("seccomp yes", found["workers", "kernel"]["found"])
        self.assertEqual({entry["what"] for entry in found.values() if entry["state"] == "missing"}, {"llama", "openvino", "tensorflow", "torch"})

    def test_workers_have_their_wall_inside(self):
        made = self.deployed("[models.apart]\npath = '/models/digits.onnx'\nisolate = true\n")
        made.start()
        self.assertEqual(self.infer(made, "apart"), self.infer(made))
        status = {pid: status_of(pid) for pid in made.pids()}
        workers = [reported for reported in status.values() if reported["Name"].startswith("wasinn-worker")]
        [server] = [reported for reported in status.values() if reported["Name"] == "wasinn-serve"]
        self.assertGreater(len(workers), 0)
        for reported in workers:
            self.check_rights(reported)
        self.assertGreater(
            max(int(reported["Seccomp_filters"]) for reported in workers), int(server["Seccomp_filters"])
        )

    def test_a_model_that_a_guest_brings_is_in_a_worker(self):
        made = self.deployed(arguments=["--route", "/load=/etc/wasinn/load.wat"])
        model = (ROOT / "models" / "digits.onnx").read_bytes()
        guest = LOAD.replace("SIZE", text_of(len(model).to_bytes(4, "little"))).replace("MODEL", text_of(model))
        (made.volumes["config"] / "load.wat").write_text(guest)
        made.start()
        self.assertEqual(made.ask("GET", "/load"), (200, b"0"))
        status, reported = made.ask("GET", "/metrics", port=made.metrics_port)
        self.assertIn("\nwasinn_workers_started_total 1\n", reported.decode())
        self.assertTrue(any(made.volumes["cache"].rglob("*")), "compiled guests are kept")

    def test_without_arguments_it_serves_the_folders_of_models(self):
        pod = of_kind("Deployment")["spec"]["template"]["spec"]
        spec = {key: value for key, value in pod["containers"][0].items() if key != "args"}
        made = self.make(pod, spec)
        (made.volumes["models"] / "digits").mkdir()
        shutil.copy(ROOT / "models" / "digits.onnx", made.volumes["models"] / "digits" / "model.onnx")
        made.start()
        self.infer(made)

    def test_kserves_runtime(self):
        [spec] = of_kind("ServingRuntime")["spec"]["containers"]
        spec = json.loads(json.dumps(spec).replace("{{.Name}}", "digits"))
        spec["volumeMounts"] = [{"name": "model", "mountPath": "/mnt/models", "readOnly": True}]  # as its storage-initializer leaves it
        spec["args"] = [argument for argument in spec["args"] if "-port=" not in argument]
        made = self.make({}, spec)
        shutil.copy(ROOT / "models" / "digits.onnx", made.volumes["model"] / "model.onnx")
        made.start()
        self.assertEqual(made.ask("GET", spec["readinessProbe"]["httpGet"]["path"])[0], 200)
        self.assertAlmostEqual(sum(self.infer(made)), 1, places=3)
        self.assertEqual(made.stop(), 0)


if __name__ == "__main__":
    if reason := container.why_not():
        print(f"SKIPPED: {reason}")
    else:
        unittest.main()
