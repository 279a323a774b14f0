# shellcheck shell=bash disable=SC2034
# Shared by all scripts: where things are, and how steps are printed.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
prefix=$root/.deps
cache=${XDG_CACHE_HOME:-$HOME/.cache}/wasinn

# For another type of machine: WASINN_CROSS has the beginning of its tools' names, as of aarch64-linux-gnu-g++.
if [ -n "${WASINN_CROSS-}" ]; then
  prefix+=/$WASINN_CROSS
  export CMAKE_TOOLCHAIN_FILE=$root/cmake/$WASINN_CROSS.cmake
  uname() { echo "${WASINN_CROSS%%-*}"; }
fi

# A script and the scripts it runs share one clock.
export WASINN_STARTED=${WASINN_STARTED:-$EPOCHREALTIME}

# seconds_since WHEN: with one decimal, without a bc or awk. (The decimal sign of EPOCHREALTIME is the locale's.)
seconds_since() {
  local us=$((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}))
  printf '%d.%d' $((us / 1000000)) $((us / 100000 % 10))
}

# say TEXT: one line, with the seconds since the start.
say() { printf '[%6s s] %s\n' "$(seconds_since "$WASINN_STARTED")" "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# quietly COMMAND…: shows the command's output only if it fails.
quietly() {
  local log rc=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || rc=$?
  if [ "$rc" -ne 0 ]; then
    printf 'failed (exit %d): %s\n' "$rc" "$*" >&2
    cat "$log" >&2
  fi
  rm -f "$log"
  return "$rc"
}
