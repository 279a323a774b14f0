#!/usr/bin/env bash
# Takes a fresh clone to its main job: installs what is missing, builds, and classifies images in a sandboxed guest.
# Can be run again at any time.
# shellcheck disable=SC2154
set -euo pipefail
[ $# -eq 0 ] || { sed -n '2,3s/^# //p' "$0"; exit 2; }
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"
cd "$root"

build=build/release

# A first build leaves the tests out; a build that a developer has configured stays as it is.
configure() {
  local options=()
  [ -f "$build/build.ninja" ] || options=(-DWASINN_BUILD_TESTS=OFF)
  quietly cmake --preset release "${options[@]}"
}

# Prints a line for each quarter of ninja's steps, and all that is no step.
show_quarters() {
  local line quarter last=0
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      quarter=$((4 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      [ "$quarter" -le "$last" ] || say "building: $((25 * quarter)) %"
      last=$quarter
    else
      echo "$line"
    fi
  done
}

export CCACHE_DISABLE=1 # on a fresh machine there is nothing to take from it
"$scripts/deps.sh" build guest wasmtime onnxruntime
say "configuring $build"
configure
say "building; two processors take about two minutes"
# In a terminal ninja shows its progress in one line.
targets=(wasinn_command wasinn_worker wasinn_backend_onnx wasinn_guest_files) # the main job, and models that guests bring
if [ -t 1 ]; then
  cmake --build --preset release --target "${targets[@]}"
else
  cmake --build --preset release --target "${targets[@]}" </dev/null | show_quarters
fi
say "built; this runs the demo:"
echo
"$build/bin/wasinn" demo
echo
say "done. Next, for a model of your own (docs/tutorial.md):"
echo "export PATH=$root/$build/bin:\$PATH"
echo "wasinn new hello --lang c --model yours.onnx"
