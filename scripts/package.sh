#!/usr/bin/env bash
# Makes packages that install wasinn without a build of it, in dist/.
# usage: scripts/package.sh KIND…   KIND is what scripts/package/ has: wheel, deb, npm, tarball
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  sed -n '2,/^set /{/^set /d;s/^# \?//p}' "${BASH_SOURCE[0]}"
  exit 2
}

[ $# -gt 0 ] || usage
for kind in "$@"; do # all names, before anything is made
  [[ $kind =~ ^[a-z]+$ && -f $scripts/package/$kind.sh ]] || { echo "package.sh: there is no package '$kind'" >&2; usage; }
done
mkdir -p "$scripts/../dist"
for kind in "$@"; do bash "$scripts/package/$kind.sh"; done
