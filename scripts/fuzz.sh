#!/usr/bin/env bash
# Builds the fuzzers with libFuzzer, ASan and UBSan, and runs each from its seeds on, one at a time for each core.
# usage: [SEED=number] scripts/fuzz.sh [SECONDS [NAME…]]
#   SECONDS   of each, by the clock (default: 30); 0 only builds them
#   NAME      only these (witx, gguf_scan …: fuzz/CMakeLists.txt)
#   SEED      of libFuzzer's random numbers (default: the time). The script prints it: with it, a run tries the same
#             inputs again.
# The inputs that it found are in build/fuzz/found/; an input goes into fuzz/corpus/NAME together with the fix. RESULTS in the environment: a folder
# that gets fuzz-NAME.passed or fuzz-NAME.failed with the output of each.
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=manifest.sh
. "$scripts/manifest.sh"
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"
cd "$root"

seconds=${1:-30}
shift || true
case $seconds in *[!0-9]*) sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "$0"; exit 2 ;; esac
build=$root/build/fuzz
found=$build/found
seed=${SEED:-$(date +%s)}
results=${RESULTS:-$build/results}

# fuzz_one NAME SEEDS: new inputs go into a folder of this run only; the seeds stay as they are. An input has a minute
# of a core, which no other fuzzer uses.
fuzz_one() {
  local name=$1 seeds=$2 grown rc=0
  grown=$(mktemp -d "$build/grown-XXXXXX")
  "$build/bin/${name}_fuzz" "-seed=$seed" "-max_total_time=$seconds" -timeout=60 -rss_limit_mb=2048 \
    -print_final_stats=1 "-artifact_prefix=$found/$name-" "$grown" "$seeds" >"$results/fuzz-$name.log" 2>&1 </dev/null || rc=$?
  rm -rf "$grown"
  if [ "$rc" -eq 0 ]; then
    mv "$results/fuzz-$name.log" "$results/fuzz-$name.passed"
    say "fuzz-$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$results/fuzz-$name.passed") inputs"
  else
    mv "$results/fuzz-$name.log" "$results/fuzz-$name.failed"
    say "fuzz-$name: failed (exit $rc), see $results/fuzz-$name.failed"
    say "  once more: SEED=$seed scripts/fuzz.sh $seconds $name"
  fi
}

quietly cmake --preset fuzz "-DCMAKE_C_COMPILER=clang-$LLVM" "-DCMAKE_CXX_COMPILER=clang++-$LLVM"
quietly cmake --build "$build" --target fuzzers
[ "$seconds" -gt 0 ] || exit 0
mkdir -p "$found" "$results"
rm -f "$results"/fuzz-*
say "fuzzers: SEED=$seed"
left=0
while read -r name seeds; do
  [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
  [ "$left" -lt "$(nproc)" ] || { wait -n; left=$((left - 1)); }
  fuzz_one "$name" "$seeds" &
  left=$((left + 1))
done <"$build/fuzzers.txt"
wait
compgen -G "$results/fuzz-*ed" >/dev/null || die "no fuzzer ran; known are $(cut -d ' ' -f 1 "$build/fuzzers.txt" | tr '\n' ' ')"
! compgen -G "$results/fuzz-*.failed" >/dev/null
