#!/usr/bin/env bash
# Runs clang-tidy over what this checkout compiles, guests too, each source once; the settings are in .clang-tidy. Nothing is built for it.
# usage: scripts/tidy.sh [FILES…]
#   FILES   only these: sources, and headers, each as one source sees it that includes it
# JOBS in the environment: how many at once, in place of one for each core.
# shellcheck disable=SC2154
set -euo pipefail
files=$(for f in "$@"; do case $f in -*) exit 2 ;; *) realpath -se -- "$f" || exit 1 ;; esac; done) || {
  sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=versions.sh
. "$scripts/versions.sh"
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"
cd "$root"

# Configured only: no source needs what the build makes. Its own folder, for other builds compile several files as one.
build=$root/build/tidy
quietly cmake --preset tidy
mkdir -p "$build/database"
ninja -C "$build" -t compdb |
  FILES=$files python3 "$scripts/tidy_database.py" "$root" >"$build/database/compile_commands.json"
grep -q '"file"' "$build/database/compile_commands.json" || { say "nothing to check"; exit 0; }
exec "run-clang-tidy-$LLVM" -clang-tidy-binary "clang-tidy-$LLVM" -p "$build/database" -quiet -j "${JOBS:-$(nproc)}"
