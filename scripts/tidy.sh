#!/usr/bin/env bash
# Runs clang-tidy over the sources of this checkout, also those of guests, each once; the settings are in .clang-tidy. It builds little.
# usage: scripts/tidy.sh [--changed [COMMIT] | FILES…]
#   --changed   only the lines that changed since COMMIT, by default the last one that origin/main has, too; and only in headers that .clang-tidy selects
#   FILES       only these
# In the environment: JOBS, how many run at once (default: one for each core).
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in manifest lib/common; do
  # shellcheck source=/dev/null
  . "$scripts/$part.sh"
done
case ${1-} in
  --changed | [!-]* | '') ;;
  *) sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "$0" >&2; exit 2 ;;
esac
mapfile -t files < <([ $# = 0 ] || [ "$1" = --changed ] || realpath -se -- "$@")
cd "$root"

# This build is only configured, and makes generated sources. Several files are checked at once, like other builds compile
# them: their headers are most of the work.
build=$root/build/tidy
unity=$([ $# -gt 0 ] && echo OFF || echo ON)
quietly cmake --preset tidy "-DWASINN_UNITY=$unity"
if ninja -C "$build" -t query generated_sources >/dev/null 2>&1; then quietly cmake --build "$build" --target generated_sources; fi
mkdir -p "$build"/{database,tests}
cp tests/.clang-tidy "$build/tests/" # for what is compiled of them there
python3 -c 'import json, sys; json.dump(list({entry["file"]: entry for entry in json.load(sys.stdin)}.values()), sys.stdout)' \
  <"$build/compile_commands.json" >"$build/database/compile_commands.json"

jobs=${JOBS:-$(nproc)}
options=(-clang-tidy-binary "clang-tidy-$LLVM" -quiet -j "$jobs")
if [ "${1-}" = --changed ]; then
  git diff -U0 "${2:-$(git merge-base HEAD origin/main)}" |
    "clang-tidy-diff-$LLVM.py" -p1 -path "$build/database" -iregex '.*\.cc?|(include|src|backends|tests|bench|fuzz)/.*\.h(pp)?' "${options[@]}"
elif [ ${#files[@]} -gt 0 ]; then
  printf '%s\n' "${files[@]}" | xargs -d '\n' -n 1 -P "$jobs" "clang-tidy-$LLVM" -p "$build/database" --quiet
else
  "run-clang-tidy-$LLVM" -p "$build/database" "${options[@]}" -checks=-bugprone-suspicious-include "^$root/(?!build/(?!tidy/.*/Unity/)|\.deps/)"
fi
