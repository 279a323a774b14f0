"""Makes the wheel and installs it into a new environment, with the frameworks of .deps in the places of their Python
packages.

WASINN_DIST: the folder for the wheel; WASINN_VENV: the environment; WASINN_BUILD, WASINN_SOURCE: the build and the
source tree."""

import os
import pathlib
import shutil
import subprocess
import sys
import venv

SOURCE, VENV, DIST = (pathlib.Path(os.environ[name]) for name in ("WASINN_SOURCE", "WASINN_VENV", "WASINN_DIST"))
DEPS = SOURCE / ".deps"
# The frameworks whose libraries .deps has from their Python packages: places in the folder of packages.
FRAMEWORKS = {
    "onnxruntime/capi": (DEPS / "lib").glob("libonnxruntime.so.*.*"),
    "openvino/libs": (DEPS / "openvino/lib").glob("*"),
    "tensorflow": (DEPS / "tensorflow/lib").glob("*"),
    "torch/lib": (DEPS / "torch/lib").glob("*"),
    "llama_cpp/lib": (DEPS / "llama/lib").glob("*"),
}


def link(file, place):
    try:
        os.link(file, place, follow_symlinks=False)
    except OSError:  # another file system
        shutil.copy2(file, place, follow_symlinks=False)


def main():
    for folder in (DIST, VENV):
        shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([SOURCE / "scripts/package.sh", "wheel"], check=True)
    (wheel,) = DIST.glob("wasinn-*.whl")
    venv.create(VENV, with_pip=False, symlinks=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        VENV / "bin/python",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-compile",
    ]
    subprocess.run([*pip, wheel], check=True)
    (site,) = VENV.glob("lib/python3*/site-packages")
    for package, files in FRAMEWORKS.items():
        (site / package).mkdir(parents=True)
        for file in files:
            link(file, site / package / file.name)


main()
