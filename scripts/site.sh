#!/usr/bin/env bash
# Builds the site of docs/ into build/site: the pages by MkDocs, the public headers by Doxygen. A wrong link is an error.
# usage: scripts/site.sh
# It needs scripts/deps.sh docs. build/site/index.html needs no server, except for the search.
# shellcheck disable=SC2154
set -euo pipefail
[ $# -eq 0 ] || { sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "$0"; exit 2; }
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"
# shellcheck source=../packaging/home.toml
. "$root/packaging/home.toml"
cd "$root"

command -v doxygen >/dev/null || die "there is no Doxygen: run scripts/deps.sh docs"
[ -d "$prefix/share/mkdocs" ] || die "there is no MkDocs: run scripts/deps.sh docs"
say "headers"
rm -rf build/doxygen build/site
mkdir -p build/doxygen
quietly doxygen scripts/site/Doxyfile
say "pages"
WASINN_SITE=$site WASINN_URL=$url NO_MKDOCS_2_WARNING=1 PYTHONPATH=$prefix/share/mkdocs quietly python3 -B -m mkdocs build --strict
say "the site: build/site/index.html, $(du -sh build/site | cut -f 1)"
