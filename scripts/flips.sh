#!/usr/bin/env bash
# Loads models with flipped bits, 5,000 of each format, in workers, and counts the results (docs/reliability.md). Some 20 minutes.
# usage: scripts/flips.sh [OPTIONS] [FORMAT…]
#   those of build/release/bin/hostile_flips (see its --help). By default all formats, and a seed from the clock, which is printed
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
# These workers take long to start, so a guest loads several models.
seed=$(date +%s)
"$flips" --seed "$seed" --alone 5000 gguf tflite onnx
"$flips" --seed "$seed" --per-guest 20 openvino torchscript
"$flips" --seed "$seed" --per-guest 100 tensorflow
