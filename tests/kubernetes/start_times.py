"""How large an image of `scripts/package.sh images` is, and how long it is from `runc run` to its first inference: the Deployment's container, with its ConfigMap.
usage: start_times.py ARCHIVE [RUNS]       with PYTHONPATH as tests/kubernetes/CMakeLists.txt has it, as root"""

import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import container
from container import Container
from manifests import ROOT, of_kind

BODY = json.dumps({"inputs": [{"name": "image", "datatype": "FP32", "shape": [1, 1, 8, 8], "data": [0] * 64}]})


def run_once(root, image):
    """Seconds until the server listens, which is when the model is loaded, and until it has answered."""
    pod = of_kind("Deployment")["spec"]["template"]["spec"]
    made = Container(root, image, pod, pod["containers"][0])
    try:
        (made.volumes["config"] / "serve.toml").write_text(of_kind("ConfigMap", "wasinn")["data"]["serve.toml"])
        shutil.copy(ROOT / "models" / "digits.onnx", made.volumes["models"])
        start = time.monotonic()
        made.start()
        listens = time.monotonic() - start
        status, reported = made.ask("POST", "/v2/models/digits/infer", BODY)
        answered = time.monotonic() - start
        assert status == 200, reported
        made.stop()
        return listens, answered
    finally:
        made.remove()


def main(archive, runs=9):
    with tempfile.TemporaryDirectory(prefix="wasinn-start-") as name:
        folder = pathlib.Path(name)
        image = container.unpack(archive, folder)
        unpacked = subprocess.run(["du", "-sb", folder / "rootfs"], check=True, capture_output=True, text=True).stdout.split()[0]
        print(f"archive {pathlib.Path(archive).stat().st_size / 1e6:.1f} MB, unpacked {int(unpacked) / 1e6:.1f} MB")
        times = [run_once(folder / "rootfs", image) for _ in range(int(runs))]
        for what, values in zip(("listens", "first inference"), zip(*times)):
            print(f"{what}: median {statistics.median(values):.3f} s, {min(values):.3f} to {max(values):.3f}, of {len(values)} runs")


if __name__ == "__main__":
    main(*sys.argv[1:])
