#!/usr/bin/env bash
# Makes packages in dist/ that install wasinn without building it, and the other files of a release.
# usage: scripts/package.sh [--arm64] KIND… [-- OPTION…]   KIND is a script of scripts/package/: crates, deb, examples, guests, images, kubernetes, npm, site, tarball, wheel
#   OPTION…  for one kind: those of cpack for deb, those of scripts/package/images.sh for images
#   --arm64  tarball, wheel or deb of build/arm64: docs/arm64.md
# WASINN_BUILD: a build of everything that is packaged, instead of build/release or build/arm64. WASINN_DIST: where packages go, instead of dist/.
# packaging/home.toml says who publishes them, and where.
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ "${1-}" = --arm64 ]; then
  export WASINN_CROSS=aarch64-linux-gnu
  shift
fi
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"

kinds=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do # all names, before anything is made
  [[ $1 =~ ^[a-z]+$ && -f $scripts/package/$1.sh ]] || { echo "package.sh: there is no package '$1'" >&2; exit 2; }
  [[ -z ${WASINN_CROSS-} || $1 == @(deb|tarball|wheel) ]] || { echo "package.sh: '$1' is not made for another type of machine" >&2; exit 2; }
  kinds+=("$1")
  shift
done
[ ${#kinds[@]} -gt 0 ] || { sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "$0"; exit 2; }
[ $# = 0 ] || shift
for kind in "${kinds[@]}"; do
  (
    # shellcheck source=lib/package.sh
    . "$scripts/lib/package.sh"
    mkdir -p "$dist"
    # shellcheck source=/dev/null
    . "$scripts/package/$kind.sh" "$@"
  )
done
