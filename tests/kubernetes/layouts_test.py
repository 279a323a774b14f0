"""`wasinn serve` with what packaging/kubernetes gives it, on models as a cluster lays them: the ConfigMap's file, and KServe's /mnt/models."""

import json
import shutil
import subprocess
import unittest

import yaml
from command import WASINN
from manifests import ROOT, of_kind
from server import ServeTest

MODELS = ROOT / "models"
BODY = json.dumps({"inputs": [{"name": "image", "datatype": "FP32", "shape": [1, 1, 8, 8], "data": [0] * 64}]}).encode()


class LayoutsTest(ServeTest):
    def setUp(self):
        super().setUp()
        del self.env["WASINN_CONFIG"]  # what a pod has not

    def check_inference(self, server, versions=("1",)):
        answer = server.request("POST", "/v2/models/digits/infer", BODY)
        self.check_answer(answer, 200)
        self.assertAlmostEqual(sum(answer.json()["outputs"][0]["data"]), 1, places=3)
        self.assertEqual(server.request("GET", "/v2/models/digits").json()["versions"], list(versions))


class Deployed(LayoutsTest):
    def start(self):
        text = of_kind("ConfigMap", "wasinn")["data"]["serve.toml"]
        self.assertIn('"/models/', text)
        self.assertIn('host = "0.0.0.0"', text)
        self.file("serve.toml", text.replace('"/models/', f'"{MODELS}/').replace('host = "0.0.0.0"', ""))
        return self.serve("--config", "serve.toml")

    def test_its_file_is_valid_and_serves(self):
        self.check_inference(self.start())

    def test_there_is_the_metric_that_the_autoscaler_asks_for(self):
        [rule] = yaml.safe_load(of_kind("ConfigMap", "prometheus-adapter")["data"]["config.yaml"])["rules"]
        reported = self.start().metrics()
        self.assertIn(f"{rule['name']['as']} 0", reported)
        self.assertIn(f"# TYPE {rule['name']['as']} gauge", reported)

    def test_probes_are_answered(self):
        server = self.start()
        [container] = of_kind("Deployment")["spec"]["template"]["spec"]["containers"]
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.check_answer(server.request("GET", container[probe]["httpGet"]["path"]), 200)


class Kserve(LayoutsTest):
    def setUp(self):
        super().setUp()
        self.folder = self.dir / "mnt-models"
        self.folder.mkdir()

    def lay(self, source, place):
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(MODELS / source, path)

    def arguments(self, folder=None):
        """As KServe fills them in."""
        [container] = of_kind("ServingRuntime")["spec"]["containers"]
        filled = [argument.replace("{{.Name}}", "digits").replace("/mnt/models", str(folder or self.folder)) for argument in container["args"]]
        self.assertEqual(sum("-port=" in argument for argument in filled), 2)
        return [argument for argument in filled if not argument.startswith(("--http-port", "--grpc-port", "--host"))]

    def check_probes(self, server):
        [container] = of_kind("ServingRuntime")["spec"]["containers"]
        for probe in ("readinessProbe", "livenessProbe"):
            self.check_answer(server.request("GET", container[probe]["httpGet"]["path"].replace("{{.Name}}", "digits")), 200)

    def test_a_folder_with_a_model(self):
        self.lay("digits.onnx", "model.onnx")
        server = self.serve(*self.arguments())
        self.check_probes(server)
        self.check_inference(server)

    def test_a_folder_with_versions(self):
        self.lay("digits.onnx", "1/model.onnx")
        self.lay("digits.onnx", "2/model.onnx")
        self.check_inference(self.serve(*self.arguments()), versions=("1", "2"))

    def test_a_model_in_an_image(self):
        # A container with the image's files runs next to ours, and KServe makes /mnt/models a link into its root.
        self.lay("digits.onnx", "root/models/model.onnx")
        link = self.dir / "models"
        link.symlink_to(self.folder / "root" / "models")
        self.check_inference(self.serve(*self.arguments(link)))

    def test_a_model_of_tensorflow_lite(self):
        self.lay("digits.tflite", "model.tflite")
        self.check_inference(self.serve(*self.arguments()))

    def test_a_file_of_another_name_is_an_error(self):
        self.lay("digits.onnx", "digits.onnx")
        done = subprocess.run([WASINN, "serve", *self.arguments()], cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"folder '{self.folder}' holds no model: looked for model.onnx", done.stderr)


if __name__ == "__main__":
    unittest.main()
