#!/usr/bin/env bash
# Installs what is missing, builds, and runs tests. Without arguments it runs the gate, which each landing needs. The last line is
# "N passed, N failed, N skipped". If the gate passed, build/passed has the commit for which it did.
# usage: scripts/test.sh [--core | --shard NAME… | --touched BASE | --all | --arm64 | --shards]
#   --core          for daily work: the tests of the core, the ABIs and the echo backend, in a build of only these (build/core)
#   --shard NAME    one of the groups of the other tests, or several
#   --touched BASE  the shards that the change since the commit BASE asks for
#   --all           the gate and all shards
#   --arm64         a build for ARM64 (build/arm64), whose tests run in an emulator: docs/arm64.md
#   --shards        only prints their names
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in manifest shards lib/common; do
  # shellcheck source=/dev/null
  . "$scripts/$part.sh"
done
cd "$root" && commit=$(git rev-parse HEAD)$(git diff --quiet HEAD || echo ', and changes')

tiers=(gate)
case ${1-} in
  '') ;;
  --core) tiers=(dev) ;;
  --shard) tiers=("${@:2}") ;;
  --touched)
    mapfile -t changed < <(git diff --name-only "${2:?--touched needs a commit}")
    tiers=()
    for name in "${shards[@]}"; do
      tier "$name"
      if printf '%s\n' "${changed[@]}" | grep -qE "$touched"; then tiers+=("$name"); fi
    done
    say "touched: ${tiers[*]:-no shard}"
    ;;
  --all) tiers=(gate "${shards[@]}") ;;
  --arm64) tiers=(arm64) ;;
  --shards) printf '%s\n' "${shards[@]}"; exit ;;
  *) sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "$0"; exit 2 ;;
esac

# Each step leaves files for report.py: NAME.xml of ctest, NAME-again.xml of the tests that failed and ran once more, or
# NAME.passed or NAME.failed.
results=$root/build/test-results
rm -rf "$results"
mkdir -p "$results"

# step NAME COMMAND…: into NAME.log; prints its time. A failure is reported at the end, and does not stop the rest.
step() {
  local name=$1 start=$EPOCHREALTIME rc=0
  shift
  "$@" >"$results/$name.log" 2>&1 </dev/null || rc=$?
  say "$name: $([ "$rc" = 0 ] || echo "failed (exit $rc), ")$(seconds_since "$start") s"
  return "$rc"
}

# check NAME COMMAND…: a step that counts as a test.
check() { if step "$@"; then mv "$results/$1.log" "$results/$1.passed"; else mv "$results/$1.log" "$results/$1.failed"; fi; }

build() { cmake --preset "$1" -DWASINN_BUILD_TESTS=ON "${@:2}" && cmake --build --preset "$1" -- -k 0; }

# run PRESET LABELS: runs two tests at a time; those that fail run once more, one at a time.
run() {
  local ctest=(ctest --preset "$1" --test-output-size-passed 400000 --test-output-size-failed 400000)
  step "$1-tests" "${ctest[@]}" -L "$2" -j 2 --output-junit "$results/$1.xml" || step "$1-again" "${ctest[@]}" --rerun-failed -j 1 --output-junit "$results/$1-again.xml" ||
    [ -s "$results/$1.xml" ] || mv "$results/$1-tests.log" "$results/$1-tests.failed"
}

sources() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [ ! -f "$f" ] || printf '%s\n' "$f"; done; }
format() { sources '*.h' '*.hpp' '*.c' '*.cc' '*.cpp' | xargs -r -d '\n' "clang-format-$LLVM" --dry-run -Werror; }
shellchecks() { sources '*.sh' .ci/run | xargs -r -d '\n' shellcheck; }

declare -A tiers_of options_of
needed=()
for name in "${tiers[@]}"; do
  tier "$name"
  needed+=("${needs[@]}")
  for preset in "${builds[@]}"; do
    tiers_of[$preset]+="${tiers_of[$preset]:+;}$name"
    [ "$preset" = check ] || options_of[$preset]+=" ${options[*]}"
  done
done
[ ${#tiers[@]} -eq 0 ] || step deps "$scripts/deps.sh" "${needed[@]}" || { cat "$results/deps.log"; exit 1; }
# Everything is built before anything runs, so that no test waits for a compiler.
presets=()
for preset in core check asan tsan arm64 release; do
  [ -n "${tiers_of[$preset]-}" ] || continue
  # shellcheck disable=SC2086 # words
  if step "$preset-build" build "$preset" "-DWASINN_TIERS=${tiers_of[$preset]/dev/all}" ${options_of[$preset]-}; then
    presets+=("$preset")
  else mv "$results/$preset-build.log" "$results/$preset-build.failed"; fi
done
for preset in "${presets[@]}"; do
  labels=${tiers_of[$preset]//;/|}
  run "$preset" "^(${labels/dev/.*})\$"
done
for name in "${tiers[@]}"; do
  case $name in
    gate) check clang-format format; check shellcheck shellchecks ;;
    fuzz) RESULTS=$results step fuzz "$scripts/fuzz.sh" 600 || compgen -G "$results/fuzz-*.failed" >/dev/null || mv "$results/fuzz.log" "$results/fuzz.failed" ;;
    tidy) check clang-tidy "$scripts/tidy.sh" ;;
  esac
done
[ "${tiers[0]-}" != arm64 ] || sed -n '/^[^#].*|/s/^/not in the emulator: /p' tests/arm64.txt
python3 "$scripts/report.py" "$results"
[ "${tiers[0]-}" != gate ] || { echo "$commit"; [ "${1-}" != --all ] || echo all; } >build/passed
