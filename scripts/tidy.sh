#!/usr/bin/env bash
# Runs clang-tidy over what this checkout compiles, guests too, each source once; the settings are in .clang-tidy. Little is built for it.
# usage: scripts/tidy.sh [--changed | FILES…]
#   --changed   only what changed since the branch that this one is to go to (origin/main), or with the last commit where this is that branch;
#               it begins no file after 3 minutes, and tells which it left
#   FILES       only these: sources, and headers, each as one source sees it that includes it
# In the environment: JOBS, how many at once, in place of one for each core; TIDY_BASE, the commit that --changed compares with; TIDY_SECONDS,
# in place of the 3 minutes.
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The commit to compare with; none where the repository has no history.
base() {
  local b
  b=${TIDY_BASE:-$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null || true)}
  if [ -z "$b" ] || [ "$(git rev-parse "$b")" = "$(git rev-parse HEAD)" ]; then
    # Nothing is ahead; what is not committed yet is compared with HEAD.
    if git diff --quiet HEAD; then b=$(git rev-parse --quiet --verify HEAD~1 || true); else b=HEAD; fi
  fi
  printf '%s\n' "$b"
}

limit=''
if [ "${1-}" = --changed ]; then
  cd "$scripts/.."
  limit=${TIDY_SECONDS:-180} since=$(base)
  [ -n "$since" ] || { echo "nothing to compare with"; exit 0; }
  echo "what changed since $(git rev-parse --short "$since")"
  mapfile -t changed < <(git diff --name-only --diff-filter=d "$since" -- '*.h' '*.hpp' '*.c' '*.cc')
  [ ${#changed[@]} -gt 0 ] || { echo "no C or C++"; exit 0; }
  set -- "${changed[@]}"
fi
files=$(for f in "$@"; do case $f in -*) exit 2 ;; *) realpath -se -- "$f" || exit 1 ;; esac; done) || {
  sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}
# shellcheck source=manifest.sh
. "$scripts/manifest.sh"
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"
cd "$root"

# Configured only, but for the sources that others are compiled with. Its own folder, for other builds compile several files as one.
build=$root/build/tidy
quietly cmake --preset tidy
if ninja -C "$build" -t query generated_sources >/dev/null 2>&1; then quietly cmake --build "$build" --target generated_sources; fi
mkdir -p "$build/database"
ninja -C "$build" -t compdb |
  FILES=$files python3 "$scripts/tidy_database.py" "$root" >"$build/database/compile_commands.json"
grep -q '"file"' "$build/database/compile_commands.json" || { say "nothing to check"; exit 0; }
if [ -n "$limit" ]; then
  export LLVM build limit started=$EPOCHSECONDS
  # shellcheck disable=SC2016 # for that shell to expand
  one='[ $((EPOCHSECONDS - started)) -lt "$limit" ] || { echo "not checked, for the time is up: $1"; exit 0; }
    "clang-tidy-$LLVM" -p "$build/database" --quiet "$1" 2>&1'
  sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$build/database/compile_commands.json" | xargs -r -d '\n' -n 1 -P "${JOBS:-$(nproc)}" bash -c "$one" tidy
  exit
fi
exec "run-clang-tidy-$LLVM" -clang-tidy-binary "clang-tidy-$LLVM" -p "$build/database" -quiet -j "${JOBS:-$(nproc)}"
