#!/usr/bin/env bash
# Installs what the tests need, builds, and runs all tests with the release build, with ASan + UBSan a sample of those that differ in a
# framework only, and the ones labelled tsan with TSan; prints the matrix of engines, backends and dialects; then the fuzzers, half a
# minute each, clang-format, shellcheck and clang-tidy of what the last change touched. The last line is "N passed, N failed, N skipped".
# usage: scripts/test.sh [--full | --quick | --preset NAME | --core | --backend NAME]
#   --full          clang-tidy of everything
#   --quick         only the tests of the release build
#   --preset NAME   only those of this preset (release, asan, tsan, dev)
#   --core          for daily work: only the core's, the ABIs' and the echo backend's, in a build of these alone (build/core)
#   --backend NAME  likewise this backend's (onnx, openvino, tflite, torch, tensorflow, llama); the framework is all that is installed
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=manifest.sh
. "$scripts/manifest.sh"
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"
cd "$root"

presets=(release asan tsan)
lint=yes
tidy=(--changed)
only=
case ${1-} in
  '') ;;
  --full) tidy=() ;;
  --quick) presets=(release) lint= ;;
  --preset) presets=("${2:?--preset needs a name}") lint= ;;
  --core) only=core ;;
  --backend)
    only=${2:?--backend needs a name}
    case $only in onnx | openvino | tflite | torch | tensorflow | llama) ;; *) die "there is no backend '$only'" ;; esac
    ;;
  *) sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "$0"; exit 2 ;;
esac

# Here each step leaves what report.py reads: NAME.xml from ctest, or NAME.passed or NAME.failed with the output.
results=$root/build/test-results
jobs=$(($(nproc) + 1)) # some wait more than they work

times=() # told again at the end

# took WHAT SINCE
took() {
  times+=("$(printf '%8s s  %s' "$(seconds_since "$2")" "$1")")
  say "  took $(seconds_since "$2") s"
}

# step NAME WHAT COMMAND…: runs a step into NAME.log and tells its time. A failure is told at the end, and does not stop the rest.
step() {
  local name=$1 what=$2 start=$EPOCHREALTIME rc=0
  shift 2
  say "$what"
  "$@" >"$results/$name.log" 2>&1 </dev/null || rc=$?
  [ "$rc" -eq 0 ] || say "$what: failed (exit $rc)"
  took "$what" "$start"
  return "$rc"
}

# One that counts as a test of its own.
check() {
  if step "$@"; then mv "$results/$1.log" "$results/$1.passed"; else mv "$results/$1.log" "$results/$1.failed"; fi
}

# build PRESET: configures and builds it. Tests on: quickstart.sh may have left them out.
build() {
  cmake --preset "$1" -DWASINN_BUILD_TESTS=ON && cmake --build --preset "$1"
}

ahead= # the process that builds what comes next

# build_ahead NAME COMMAND…: builds beside the tests, with what they leave of the processors. What fails here, fails again where it is
# wanted, and is told there.
build_ahead() {
  local log=$results/$1-ahead.log
  shift
  (
    renice -n 10 "$BASHPID"
    "$@"
  ) >"$log" 2>&1 </dev/null &
  ahead=$!
}

# finish_build PRESET: builds it, after what was built ahead.
finish_build() {
  [ -z "$ahead" ] || wait "$ahead" || true
  ahead=
  build "$1"
}

run_ctest() {
  ctest --preset "$1" --output-junit "$results/$1.xml" -j "$jobs" --test-output-size-passed 400000 --test-output-size-failed 400000 "${@:2}"
}

# suite PRESET [NAME COMMAND…]: its tests, and what is built beside them.
suite() {
  if ! step "$1-build" "building $1" finish_build "$1"; then
    mv "$results/$1-build.log" "$results/$1-build.failed"
    return
  fi
  [ $# -eq 1 ] || build_ahead "${@:2}"
  # A failing test is in the XML; a ctest that did not get as far as that is a failure itself.
  step "$1-tests" "running the tests of $1" run_ctest "$1" ||
    [ -s "$results/$1.xml" ] || mv "$results/$1-tests.log" "$results/$1-tests.failed"
  sed -n 's/^[0-9]*% tests passed.*/  &/p' "$results/$1-tests.log" 2>/dev/null || true
}

# sources PATTERN…: those of git that exist, also before they are added.
sources() {
  git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [ ! -f "$f" ] || printf '%s\n' "$f"; done
}

check_format() {
  sources '*.h' '*.hpp' '*.c' '*.cc' '*.cpp' | xargs -r -d '\n' "clang-format-$LLVM" --dry-run -Werror
}

check_scripts() {
  sources '*.sh' .ci/run | xargs -r -d '\n' shellcheck
}

# The core alone, or with one backend: what is asked, and no more.
test_only() {
  local framework=$only options=() select=(-L '^tsan$')
  case $only in
    core) framework='' ;;
    onnx) framework=onnxruntime ;;
  esac
  # shellcheck disable=SC2086 # a word or none
  "$scripts/deps.sh" build units $framework
  if [ "$only" != core ]; then
    options=("-DWASINN_BACKEND_${only^^}=ON") select=(-L "^$only\$")
  fi
  rm -rf "$results"
  mkdir -p "$results"
  build_core() { cmake --preset core "${options[@]}" && cmake --build --preset core; }
  if step core-build "building core" build_core; then
    step core-tests "running the tests of $only" run_ctest core "${select[@]}" ||
      [ -s "$results/core.xml" ] || mv "$results/core-tests.log" "$results/core-tests.failed"
  else
    mv "$results/core-build.log" "$results/core-build.failed"
  fi
  exec python3 "$scripts/report.py" "$results"
}
if [ -n "$only" ]; then test_only; fi

needed=(build guest wasmtime wasmtime-component wamr wamr-aot wasmedge component-guests rust-guests go-guests onnxruntime onnxruntime-webgpu openvino tflite
  torch tensorflow llama wasm3 tests real-models serve serve-tests llama-server remote-tests kubernetes sbom wheel packages)
if [ -n "$lint" ]; then needed+=(lint fuzz); fi
# Wasmtime takes longest to compile and leaves a core idle at times, so what does not need it is built meanwhile, if it is to be built at all.
start=$EPOCHREALTIME
"$scripts/deps.sh" --leave wasmtime-component "${needed[@]}"
took "installing what needs no compiling of Wasmtime" "$start"
rm -rf "$results"
mkdir -p "$results"
build_early() {
  cmake --preset "$1" -DWASINN_BUILD_TESTS=ON && nice cmake --build --preset "$1" --target before_the_engine
}
# What fails here, fails again below and is told there.
if [ ! -e .deps/component/lib/libwasmtime.so ]; then
  for preset in "${presets[@]}"; do
    [ "$preset" = tsan ] || step "$preset-early" "building what of $preset needs no engine, meanwhile" build_early "$preset" || true
    [ "$preset$lint" != releaseyes ] || step early-fuzzers "building the fuzzers, meanwhile" nice "$scripts/fuzz.sh" 0 || true
  done
fi
start=$EPOCHREALTIME
"$scripts/deps.sh" "${needed[@]}"
took "installing the rest" "$start"
for i in "${!presets[@]}"; do
  next=${presets[$((i + 1))]-}
  beside=()
  if [ -n "$next" ]; then beside=("$next" build "$next"); elif [ -n "$lint" ]; then beside=(fuzz "$scripts/fuzz.sh" 0); fi
  suite "${presets[$i]}" "${beside[@]}"
done
[ -z "$ahead" ] || wait "$ahead" || true
# What of it are conformance and hostile tests, as a matrix.
for preset in "${presets[@]}"; do
  if [ "$preset" = tsan ] || [ ! -s "$results/$preset.xml" ]; then continue; fi
  complete=()
  if [ "$preset" = release ]; then complete=(--complete); fi
  check "matrix-$preset" "the matrix of $preset" "$scripts/conformance.sh" --no-run --preset "$preset" "${complete[@]}"
  if [ "$preset" = release ] && [ -e "$results/matrix-$preset.passed" ]; then cat "$results/matrix-$preset.passed"; fi
done
if [ -n "$lint" ]; then
  # Each fuzzer leaves its result; this tells of one that does not build.
  RESULTS=$results step fuzz "fuzzing, half a minute each" "$scripts/fuzz.sh" 30 ||
    compgen -G "$results/fuzz-*.failed" >/dev/null || mv "$results/fuzz.log" "$results/fuzz.failed"
  check clang-format "checking the format" check_format
  check shellcheck "checking the scripts" check_scripts
  check clang-tidy "running clang-tidy" "$scripts/tidy.sh" "${tidy[@]}"
fi
say "all steps done; their times:"
printf '%s\n' "${times[@]}"
exec python3 "$scripts/report.py" "$results"
