"""The frameworks that have builds for GPUs, and where these lie.

WASINN_SOURCE is the source tree and WASINN_BUILD a build of it. WASINN_GPU_BUILDS names folders, separated by colons, in which the frameworks lie as in a
Python's site-packages; without it a test uses the build's own, which are for CPUs. WASINN_GPU_API: "cuda", which is the default, or "vulkan", over which ONNX Runtime has WebGPU.
WASINN_FRAMEWORKS: which of them. Run as a program it prints those that are there."""

import dataclasses
import os
import pathlib

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
BUILD = pathlib.Path(os.environ["WASINN_BUILD"])
FOLDERS = [pathlib.Path(folder).resolve() for folder in os.environ.get("WASINN_GPU_BUILDS", "").split(":") if folder]

WAIT = 600  # seconds, for all that a program does
API = os.environ.get("WASINN_GPU_API", "cuda")
# From all that uses the API. ggml's library for Vulkan takes numbers that are there alone.
NO_DRIVER = "/nonexistent/icd.json"
HIDDEN = {
    "cuda": {"CUDA_VISIBLE_DEVICES": "-1"},
    "vulkan": {"GGML_VK_VISIBLE_DEVICES": "99", "VK_DRIVER_FILES": NO_DRIVER, "VK_ICD_FILENAMES": NO_DRIVER},
}[API]


@dataclasses.dataclass(frozen=True)
class Framework:
    name: str
    library: str  # below a folder
    of_api: dict  # what lies next to it in a build for this API alone, or bytes that are in it
    models: dict  # the shape of the input, by file
    device: str  # what `describe` calls the GPU
    not_there: str  # settings of the model: a GPU that no machine has
    missing: str  # what an error says where there is no GPU: a regular expression
    memory: str = ""  # what a pipeline's `describe` calls the memory where tensors stay between two models; "": they do not
    config: str = ""  # more settings of the model
    bench: dict = dataclasses.field(default_factory=dict)  # flags of the bench, by model
    not_its_tests: str = ""  # of the backend's own, where there is no GPU: a filter for GoogleTest

    def found(self):
        """(folder, library) of the first build for the API; None where there is none."""
        for folder in FOLDERS:
            for path in sorted(folder.glob(self.library)):
                if self.has_api(path):
                    return folder, path
        return None

    def has_api(self, library):
        sign = self.of_api.get(API)
        if isinstance(sign, bytes):
            return sign in library.read_bytes()
        return sign is not None and (library.parent / sign).exists()

    def environment(self):
        """In which the dynamic linker finds NVIDIA's libraries next to the framework."""
        if not FOLDERS:
            return dict(os.environ)
        folder, path = self.found()
        folders = [path.parent, *sorted(folder.glob("nvidia/*/lib")), *filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))]
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, folders))}

    def settings(self, model, target, cpu_fallback=False, config=None, isolated_gpu=False):
        lines = [f"[backends.{self.name}]"]
        if FOLDERS:
            lines.append(f'library = "{self.found()[1]}"')
        # A driver may compile a framework's kernels at their first use.
        lines += ["[limits]", f"compute_timeout_ms = {WAIT * 1000}", f"load_timeout_ms = {WAIT * 1000}"]
        lines += ["[policy]", f"cpu_fallback = {str(cpu_fallback).lower()}", f"isolated_gpu = {str(isolated_gpu).lower()}"]
        lines += ["[models.model]", f'path = "{SOURCE / model}"', f'backend = "{self.name}"', f'target = "{target}"']
        return "\n".join([*lines, "[models.model.config]", self.config if config is None else config]) + "\n"


FRAMEWORKS = {
    framework.name: framework
    for framework in (
        Framework(
            name="onnx",
            library="onnxruntime/capi/libonnxruntime.so.*",
            of_api={"cuda": "libonnxruntime_providers_cuda.so", "vulkan": b"WebGPU EP context ID"},
            models={"models/digits.onnx": (1, 1, 8, 8), "tests/models/tiny/mean.onnx": (1, 3, 8, 8)},
            device={"cuda": "cuda,cpu", "vulkan": "webgpu,cpu"}[API],
            memory={"cuda": "cuda:0", "vulkan": "webgpu:0"}[API],
            not_there={"cuda": 'providers = [{name = "cuda", device_id = 63}]', "vulkan": ""}[API],
            # That is, of a build without CUDA; without a driver, or of a number that is none's; with a driver and no device.
            missing="execution provider is in ONNX Runtime|No supported adapters|'cuda' cannot be used: |CUDA failure 100: no CUDA-capable device",
            bench={"models/digits.onnx": (), "tests/models/tiny/relu.onnx": ()},
            not_its_tests="OnnxTarget.ServesAutoAndNoTpu",  # which takes ONNX Runtime's word that there is CUDA for a GPU
        ),
        Framework(
            name="torch",
            library="torch/lib/libtorch.so",
            of_api={"cuda": "libtorch_cuda.so"},
            models={"models/digits.pt": (1, 1, 8, 8), "tests/models/torch/mean.pt": (1, 3, 8, 8)},
            bench={
                "models/digits.pt": ("--shape", "image=1x1x8x8"),
                "tests/models/torch/relu.pt": ("--shape", "x=1x3x224x224"),
            },
            device="cuda:0",
            not_there='device = "cuda:63"',
            missing=r"the device cuda:\d+ is not there",
        ),
        Framework(
            name="llama",
            library="llama/lib/libllama.so",
            of_api={"cuda": "libggml-cuda.so", "vulkan": "libggml-vulkan.so"},
            models={"models/tiny.gguf": ()},
            device="gpu",
            not_there="",  # it takes no number
            missing="llama.cpp has no such device here",
            config="temp = 0\nn-predict = 16\nthreads = 1",
        ),
    )
}
CHOSEN = [FRAMEWORKS[name] for name in os.environ.get("WASINN_FRAMEWORKS", " ".join(FRAMEWORKS)).split()]

if __name__ == "__main__":
    print(*(framework.name for framework in CHOSEN if framework.found()))
