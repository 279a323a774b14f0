#!/usr/bin/env bash
# Runs the conformance and hostile tests on every engine, backend and dialect that is built, and prints the matrix: how many passed in
# each cell, what failed, what cannot be and why. A cell with neither tests nor a reason (tests/matrix.toml) is an error.
# usage: scripts/conformance.sh [--preset NAME] [--no-run] [--complete] [--write-readme]
#   --preset NAME    of this build (release, asan, dev); release unless told
#   --no-run         not build and not run, but read what scripts/test.sh left of its run of the same tests
#   --complete       what is not built is an error, too
#   --write-readme   write the table in README.md anew
# What there is to build comes from scripts/deps.sh; scripts/test.sh installs everything.
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"
cd "$root"

preset=release run=yes flags=()
while [ $# -gt 0 ]; do
  case $1 in
    --preset) preset=${2:?--preset needs a name}; shift ;;
    --no-run) run= ;;
    --complete) flags+=(--complete) ;;
    --write-readme) flags+=(--write-readme "$root/README.md") ;;
    *) sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "$0"; exit 2 ;;
  esac
  shift
done

labels='^(conformance|hostile|component)$'
build=$root/build/$preset
if [ -n "$run" ]; then
  results=$build/matrix.xml
  rm -f "$results"
  quietly cmake --preset "$preset" -DWASINN_BUILD_TESTS=ON
  quietly cmake --build --preset "$preset"
  # What failed is in the results.
  quietly ctest --preset "$preset" -L "$labels" --output-junit "$results" -j "$(nproc)" || true
else
  results=$root/build/test-results/$preset.xml
fi
[ -s "$results" ] || die "there are no results of ${preset}: $results"
ctest --preset "$preset" -L "$labels" --show-only=json-v1 >"$build/matrix-tests.json"
exec python3 "$scripts/matrix.py" "${flags[@]}" tests/matrix.toml "$build/matrix.json" "$build/matrix-tests.json" "$results"
