#!/usr/bin/env bash
# Tests ONNX Runtime, PyTorch and llama.cpp on an NVIDIA GPU: installs their CUDA builds, builds wasinn, and compares guests on target gpu
# with the framework called directly there, and with the CPU; then it runs the bench. docs/gpu.md lists what it needs.
# usage: scripts/gpu_test.sh [--cpu | --vulkan] [--prefix DIR]… [--python PYTHON] [--build DIR] [FRAMEWORK…]
#   FRAMEWORK        onnx, torch, llama (default: all of them)
#   --vulkan         llama.cpp with Vulkan: on device 0, or GGML_VK_VISIBLE_DEVICES. Without a GPU that is Mesa's, which computes on the CPU. Or
#                    `--vulkan onnx`: ONNX Runtime with WebGPU, for which Mesa's of Debian 12 is too old
#   --cpu            tests that need no GPU: the same libraries and tests on target cpu, and the errors of target gpu without a GPU
#   --prefix DIR     installs no CUDA builds: they are in DIR, arranged like in a Python's site-packages (onnxruntime/capi, torch/lib, llama/lib, nvidia/*/lib)
#   --python PYTHON  the same, with the onnxruntime and torch of this Python
#   --build DIR      builds nothing: DIR is a build of wasinn with its tests
# exit status: 0 all passed, 1 something failed, 2 wrong usage, 77 there is no GPU: nothing was installed, built or run
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"

usage() {
  sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "${BASH_SOURCE[0]}"
  exit 2
}

# folder DIR: its absolute path.
folder() { (cd "$1" 2>/dev/null && pwd) || die "there is no folder $1"; }

# site_packages PYTHON: the folders of its packages that have CUDA builds. No code of these runs.
site_packages() {
  "$1" -c '
import importlib.util, os
for name in ("onnxruntime", "torch"):
    found = importlib.util.find_spec(name)
    if found and found.origin:
        print(os.path.dirname(os.path.dirname(found.origin)))' | sort -u
}

target=gpu api=cuda folders=() build='' frameworks=()
while [ $# -gt 0 ]; do
  case $1 in
    --cpu) target=cpu ;;
    --vulkan) api=vulkan ;;
    onnx | torch | llama) frameworks+=("$1") ;;
    --prefix | --python | --build)
      [ $# -gt 1 ] || usage
      case $1 in
        --python) found=$(site_packages "$2") || die "$2 does not say where its packages are" ;;
        *) found=$(folder "$2") ;;
      esac
      [ -n "$found" ] || die "$2 has neither onnxruntime nor torch"
      if [ "$1" = --build ]; then build=$found; else mapfile -t -O ${#folders[@]} folders <<<"$found"; fi
      shift
      ;;
    *) usage ;;
  esac
  shift
done
if [ $api = vulkan ]; then
  if [ $target = cpu ] || [[ " ${frameworks[*]} " == *" torch "* ]]; then usage; fi
  [ ${#frameworks[@]} -gt 0 ] || frameworks=(llama)
  export GGML_VK_VISIBLE_DEVICES=${GGML_VK_VISIBLE_DEVICES-0} # llama.cpp takes one that is no GPU only if it is named
fi
[ ${#frameworks[@]} -gt 0 ] || frameworks=(onnx torch llama)

# Lists the GPUs, a line each: "NVIDIA H100 80GB HBM3, 580.95.05, 81559 MiB". Fails if there is none, with the reason.
gpus() {
  command -v nvidia-smi >/dev/null || { echo "nvidia-smi, which comes with NVIDIA's driver, was not found"; return 1; }
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1
}

if [ $target = gpu ] && [ $api = cuda ]; then
  if ! seen=$(gpus) || [[ $seen == "No devices"* ]]; then
    say "not run: there is no NVIDIA GPU here: $seen"
    exit 77
  fi
  say "on $seen"
fi

# The names of these frameworks in scripts/deps.sh.
recipes=("${frameworks[@]/#onnx/onnxruntime}")
if [ ${#folders[@]} = 0 ]; then
  [ "$(uname -m)" = x86_64 ] || die "the builds for GPUs that scripts/deps.sh knows are for x86_64: name others with --prefix"
  builds=("${recipes[@]/%/-$api}")
  "$scripts/deps.sh" "${builds[@]/#onnxruntime-vulkan/onnxruntime-webgpu}"
  if [ $api = vulkan ]; then folders=("$prefix/vulkan" "$prefix/webgpu"); else folders=("$prefix/cuda/12" "$prefix/cuda/13"); fi
fi
if [ -z "$build" ]; then
  "$scripts/deps.sh" build guest wasmtime units onnxruntime "${recipes[@]}"
  cd "$root"
  build=$root/build/release
  say "building what the tests need"
  quietly cmake --preset release -DWASINN_BUILD_TESTS=ON
  quietly cmake --build --preset release --target gpu_tests
fi

cd "$root/tests/gpu"
export WASINN_SOURCE=$root WASINN_BUILD=$build WASINN_TARGET=$target WASINN_FRAMEWORKS="${frameworks[*]}"
WASINN_GPU_BUILDS=$(IFS=: && echo "${folders[*]}")
export WASINN_GPU_BUILDS WASINN_GPU_API=$api
there=$(python3 -B frameworks.py)
for f in "${frameworks[@]}"; do
  [[ " $there " == *" $f "* ]] || say "not tested: there is no build of $f for $api in ${folders[*]}"
done
[ -n "$there" ] || die "there is nothing to test"
WASINN_FRAMEWORKS=$there

failed=0
say "testing on target $target: $there"
python3 -B -m unittest -v gpu_test || failed=1
if [[ " $there " == *" onnx "* || " $there " == *" torch "* ]]; then
  say "what the bench says of guests (its native side knows no target, so there is nothing to compare with)"
  python3 -B bench.py || failed=1
fi
if [ "$failed" = 0 ]; then say "passed on target $target: $there"; else say "failed on target $target (see above)"; fi
exit "$failed"
