#!/usr/bin/env bash
# Makes a release in dist/VERSION: packages of all kinds, images, the source, an SBOM, the changelog's text, and SHA256SUMS over all of it. VERSION is
# WASINN_VERSION of include/wasinn/types.h, the only place that has it. scripts/publish.sh uploads the release.
# usage: scripts/release.sh [--dry-run | --check] [KIND…]   KINDs as of scripts/package.sh, and arm64: those of build/arm64; by default all
#   --check    reports whether this checkout and its build can be released, and makes nothing. The changelog must have VERSION with a date,
#              and nothing unreleased. The tree must be clean, scripts/test.sh --all must have passed on it, and no other commit has the tag of that version.
#              The build must be of that version and of these sources
#   --dry-run  makes everything, and only warns of what --check refuses
# WASINN_BUILD: a build of everything that is packaged, instead of build/release. WASINN_DIST: instead of dist/.
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"
# shellcheck source=lib/package.sh
. "$scripts/lib/package.sh"

mode=release
case ${1-} in
  --dry-run | --check) mode=${1#--}; shift ;;
  -*) sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
kinds=("$@")
[ $# -gt 0 ] || kinds=(wheel deb npm tarball guests crates kubernetes examples site images arm64)

# section TITLE: prints the changelog's text under it; entries TITLE: prints their number.
section() { awk -v title="$1" '/^## /{inside = index($0 " ", "## " title " ") == 1; next} inside' "$root/CHANGELOG.md"; }

entries() { section "$1" | grep -c '^- ' || true; }

wrong=0
# fault TEXT: reports something that a release may not have.
fault() {
  wrong=1
  printf '%s: %s\n' "$([ "$mode" = dry-run ] && echo warning || echo error)" "$*" >&2
}

check() {
  local head tagged
  head=$(git -C "$root" rev-parse HEAD)
  tagged=$(git -C "$root" rev-parse --quiet --verify "v$version^{commit}" || echo "$head")
  # In each mode, because the version names the folder that is made again.
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[a-z0-9.]+)?$ ]] || die "WASINN_VERSION is no version: '$version'"
  grep -qE "^## ${version//./\\.} - [0-9]{4}-[0-9]{2}-[0-9]{2}$" "$root/CHANGELOG.md" || fault "CHANGELOG.md has no '## $version - YYYY-MM-DD'"
  [ "$(entries "$version")" -gt 0 ] || fault "CHANGELOG.md has no entry under '$version'"
  [ "$(entries Unreleased)" = 0 ] || fault "CHANGELOG.md has entries under 'Unreleased'"
  [ -z "$(git -C "$root" status --porcelain --untracked-files=no)" ] || fault "there are changes that are not committed"
  [ "$(cat "$root/build/passed" 2>/dev/null)" = "$head"$'\nall' ] || fault "scripts/test.sh --all has not passed on this commit"
  [ "$tagged" = "$head" ] || fault "another commit has the tag v$version"
}

# check_build FOLDER: checks that the build is up to date with these sources, because its files are packaged. Ninja prints
# what it would do. It reads a copy of its own file, since it would otherwise only update that in a dry run.
check_build() {
  local build=$1 of newer
  [ -f "$build/build.ninja" ] || { fault "$build is no build"; return; }
  of=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
  [ "$of" = "${version%%-*}" ] || fault "the build is of version '$of', the sources of $version"
  newer=$(cd "$root" && find CMakeLists.txt cmake src backends include -name '*.cmake' -newer "$build/build.ninja" -o -name CMakeLists.txt -newer "$build/build.ninja" | head -n 1)
  [ -z "$newer" ] || fault "the build is older than $newer; build it again"
  cp "$build/build.ninja" "$work/dry.ninja"
  ninja -C "$build" -f "$work/dry.ninja" -n 2>&1 | grep -q '^ninja: no work to do' || fault "the build is older than its sources; build it again"
}

check
check_build "$build"
[[ " ${kinds[*]} " != *" arm64 "* ]] || check_build "$root/build/arm64"
[ "$mode" = dry-run ] || [ "$wrong" = 0 ] || exit 1
if [ "$mode" = check ]; then
  say "$version can be released"
  exit 0
fi

release=$dist/$version
rm -rf "$release"
mkdir -p "$release"
for kind in "${kinds[@]}"; do
  if [ "$kind" = arm64 ]; then
    WASINN_BUILD=$root/build/arm64 WASINN_DIST=$release "$scripts/package.sh" --arm64 tarball wheel deb
  else WASINN_DIST=$release "$scripts/package.sh" "$kind"; fi
done
say "the source, the SBOM and the notes"
git -C "$root" archive --format=tar.gz --prefix="wasinn-$version/" -o "$release/wasinn-$version-source.tar.gz" HEAD
quietly cmake --install "$build" --prefix "$work/prefix"
quietly python3 "$scripts/sbom.py" -o "$release/wasinn-$version.spdx.json" "$work/prefix"
section "$([ "$(entries "$version")" -gt 0 ] && echo "$version" || echo Unreleased)" >"$release/wasinn-$version-notes.md"
(cd "$release" && sha256sum -- *) >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$release/"
say "$release: $(wc -l <"$release/SHA256SUMS") files"
