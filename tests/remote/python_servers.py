"""Servers that others made, with the digits' model on ONNX Runtime: Triton's, kserve's and mlserver's."""

import json
import os
import pathlib
import subprocess
import sys
import sysconfig

TRITON = pathlib.Path(os.environ["WASINN_TRITONSERVER"])
SERVERS = pathlib.Path(os.environ["WASINN_INFERENCE_SERVERS"])
MODEL = str(pathlib.Path(os.environ["WASINN_MODELS"]) / "digits.onnx")

# One thread, wasinn's default.
SESSION = f"""
import onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession({MODEL!r}, options, providers=["CPUExecutionProvider"])
"""

TRITON_CONFIG = """backend: "python"
max_batch_size: 0
input [{ name: "image" data_type: TYPE_FP32 dims: [1, 1, 8, 8] }]
output [{ name: "probabilities" data_type: TYPE_FP32 dims: [1, 10] }]
instance_group [{ count: 1 kind: KIND_CPU }]
"""
TRITON_MODEL = f"""import sys
sys.path.insert(0, {str(TRITON / "python")!r})
import triton_python_backend_utils as triton
{SESSION}
class TritonPythonModel:
    def execute(self, requests):
        answers = []
        for request in requests:
            image = triton.get_input_tensor_by_name(request, "image").as_numpy()
            answers.append(triton.InferenceResponse([triton.Tensor("probabilities", session.run(None, {{"image": image}})[0])]))
        return answers
"""

KSERVE = SESSION + """
import sys
from kserve.model import Model
from kserve.model_server import ModelServer
from kserve.protocol.infer_type import InferOutput, InferResponse


class Digits(Model):
    def __init__(self):
        super().__init__("digits")
        self.ready = True

    async def get_input_types(self):
        return [{"name": "image", "datatype": "FP32", "shape": [-1, 1, 8, 8]}]

    async def get_output_types(self):
        return [{"name": "probabilities", "datatype": "FP32", "shape": [-1, 10]}]

    def predict(self, request, headers=None, response_headers=None):
        computed = session.run(None, {"image": request.inputs[0].as_numpy()})[0]
        output = InferOutput("probabilities", list(computed.shape), "FP32")
        output.set_data_from_numpy(computed, binary_data=BINARY)
        return InferResponse(request.id, self.name, [output])


http, grpc = map(int, sys.argv[1:])
ModelServer(http_port=http, grpc_port=grpc, workers=1).start([Digits()])
"""

MLSERVER_MODEL = SESSION + """
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse


class Digits(MLModel):
    async def load(self):
        return True

    async def predict(self, payload):
        computed = session.run(None, {"image": NumpyCodec.decode_input(payload.inputs[0])})[0]
        return InferenceResponse(model_name=self.name, outputs=[NumpyCodec.encode_output("probabilities", computed)])
"""
MLSERVER_SETTINGS = {
    "name": "digits",
    "implementation": "digits_runtime.Digits",
    "inputs": [{"name": "image", "datatype": "FP32", "shape": [-1, 1, 8, 8]}],
    "outputs": [{"name": "probabilities", "datatype": "FP32", "shape": [-1, 10]}],
}


def start(command, log, **environment):
    return subprocess.Popen(command, env={**os.environ, **environment}, stdout=log, stderr=log)


def python_path():
    return f"{TRITON / 'python'}:{SERVERS}"


def start_triton(folder, log, ports):
    model = folder / "digits"
    (model / "1").mkdir(parents=True)
    (model / "config.pbtxt").write_text(TRITON_CONFIG)
    (model / "1/model.py").write_text(TRITON_MODEL)
    command = [TRITON / "bin/tritonserver", f"--model-repository={folder}", f"--backend-directory={TRITON / 'backends'}",
               "--allow-gpu-metrics=false", *(f"--{what}-port={port}" for what, port in ports.items())]
    return start(command, log, LD_LIBRARY_PATH=f"{TRITON / 'lib'}:{sysconfig.get_config_var('LIBDIR')}")


def start_kserve(folder, log, ports, binary=True):
    (folder / "serve.py").write_text(KSERVE.replace("BINARY", str(binary)))
    return start([sys.executable, folder / "serve.py", str(ports["http"]), str(ports["grpc"])], log, PYTHONPATH=python_path())


def start_mlserver(folder, log, ports):
    (folder / "digits_runtime.py").write_text(MLSERVER_MODEL)
    (folder / "model-settings.json").write_text(json.dumps(MLSERVER_SETTINGS))
    settings = {"debug": False, "parallel_workers": 0, "host": "127.0.0.1", **{f"{what}_port": port for what, port in ports.items()}}
    (folder / "settings.json").write_text(json.dumps(settings))
    command = [sys.executable, "-c", "import sys; from mlserver.cli import main; sys.argv = ['mlserver', 'start', '.']; main()"]
    return subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": python_path()}, stdout=log, stderr=log)
