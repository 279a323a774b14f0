#!/usr/bin/env bash
# Programs of `wasinn new` in each language, on a Debian 12 that has nothing: the commands are those of docs/guests.md and of the programs' own
# READMEs. It installs packages, so it is for a machine, or a bare tree, of its own. The last line is the number of programs that failed.
# usage: tests/cli/new_on_a_fresh_machine.sh [TEMPLATE…]      e.g. c rust-component go-serve
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
templates=("$@")
[ $# -gt 0 ] || mapfile -t templates < <(find guest/new -name template.json -printf '%h\n' | sed 's|.*/||' | sort)
scripts/quickstart.sh
deps=(serve rust-guests go-guests zig-guests assemblyscript-guests llama-text smollm2)
[[ "${templates[*]}" != *-component* ]] || deps+=(wasmtime-component component-guests)
scripts/deps.sh "${deps[@]}"
cmake --preset release
cmake --build --preset release --target wasinn_command wasinn_serve wasinn_worker wasinn_backend_onnx wasinn_backend_llama wasinn_guest_files
export PATH=$PWD/build/release/bin:$PWD/.deps/component-tools/bin:$PATH
apt-get install -y --no-install-recommends curl
# Without rustup and Go 1.24, as docs/guests.md says.
make=(make --no-print-directory CARGO=cargo-wasm GO=go-wasm)
digits=$PWD/models/digits.onnx
text=$(echo "$PWD"/.deps/share/smollm2/*.gguf)
adapters=$PWD/.deps/component-tools/adapters
folder=$(mktemp -d)
cd "$folder"

# try TEMPLATE: as its README says.
try() {
  local name=${1//+/p} language=${1%%-*} kinds kind=command server rc=0 model=$digits
  kinds=$(sed -n 's/-text//; s/-/ --/gp' <<<"${1#"$language"}")
  [[ $name != *-text ]] || model=$text
  [[ $name != *-serve ]] || kind=reactor
  # shellcheck disable=SC2086 # words
  wasinn new "$name" --lang "$language" $kinds --model "$model" | tee new.log || return 1
  sed -n 's/^missing here: .*; to get it: apt-get install/apt-get install -y --no-install-recommends/p' new.log | sh -x || return 1
  cd "$name" || return 1
  local its=("${make[@]}" "ADAPTER=$adapters/wasi_snapshot_preview1.$kind.wasm")
  "${its[@]}" || return 1
  [[ $name == *-serve ]] || { "${its[@]}" test && "${its[@]}" run; return; }
  "${its[@]}" serve >serve.log 2>&1 &
  server=$!
  curl -s --retry 60 --retry-delay 1 --retry-connrefused -d '{}' "localhost:8000/$name" | tee answer | grep -q '\[' || rc=1
  cat answer
  pkill -INT -P "$server" || true
  wait "$server" || true
  return "$rc"
}

failed=0
for template in "${templates[@]}"; do
  if (try "$template") >"$template.log" 2>&1; then
    echo "ok      $template"
  else
    echo "FAILED  $template"
    cat "$template.log"
    failed=$((failed + 1))
  fi
done
echo "$failed of ${#templates[@]} programs failed"
exit "$failed"
