#!/usr/bin/env bash
# Builds the comparison with WAMR's own wasi-nn in build/peers/wamr: WAMR with it, and the program that measures. About
# 30 CPU seconds.
# usage: bench/peers/wamr-wasi-nn/build.sh [BUILD]
#   BUILD   the folder of a release build of wasinn with its WAMR adapter; build/release
# shellcheck disable=SC2154
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scripts=$here/../../../scripts
for part in versions lib/common lib/fetch; do
  # shellcheck source=/dev/null
  . "$scripts/$part.sh"
done
build=$(cd "${1:-$root/build/release}" && pwd)
out=$root/build/peers/wamr

if [ ! -d "$out/crate" ]; then
  mkdir -p "$out"
  crate wamrx-sys "$WAMR_CRATE" "$WAMR_CRATE_SHA256" "$out/fetched"
  chmod -R u+w "$out/fetched"
  mv "$out/fetched" "$out/crate"
fi
cmake -G Ninja -S "$here" -B "$out/build" -DCMAKE_BUILD_TYPE=Release "-DWAMR_ROOT_DIR=$out/crate/wasm-micro-runtime" "-DWASINN_BUILD=$build" \
  "-Donnxruntime_INCLUDE_DIR=$prefix/include/onnxruntime" "-Donnxruntime_LIBRARY=$prefix/lib/libonnxruntime.so.1"
cmake --build "$out/build"
say "built: $out/build/bench-wamr-wasi-nn"
