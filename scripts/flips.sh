#!/usr/bin/env bash
# Models with flipped bits, 5,000 of each format, in workers: what becomes of them (docs/reliability.md). Some 20 minutes.
# usage: scripts/flips.sh [OPTIONS] [FORMAT…]
#   what build/release/bin/hostile_flips takes: --help tells it. Without any, all formats and a seed of the clock's, which is printed
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"
cd "$root"

quietly cmake --preset release -DWASINN_BUILD_TESTS=ON
quietly cmake --build --preset release --target hostile_flips
flips=build/release/bin/hostile_flips
[ $# -eq 0 ] || exec "$flips" "$@"
# A worker of these takes long to start, so a guest brings several.
seed=$(date +%s)
"$flips" --seed "$seed" --alone 5000 gguf tflite onnx
"$flips" --seed "$seed" --per-guest 20 openvino torchscript
"$flips" --seed "$seed" --per-guest 100 tensorflow
