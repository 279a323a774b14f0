#!/usr/bin/env bash
# usage: fetches.sh RECIPE…: lists what recipes of deps.sh fetch, a line each, its words separated by tabs: "recipe NAME ID" and then
# "KIND NAME VERSION CLASSIFIER SHA256…". KIND is that of a purl. The recipes themselves run for that, with functions that print in place of
# those that fetch, and with no command that could change anything.
# shellcheck disable=SC2123,SC2154,SC2317 # no PATH is what is meant; the rest is in the parts
set -uo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for part in manifest lib/common lib/apt lib/fetch lib/cache; do
  # shellcheck source=/dev/null
  . "$scripts/$part.sh"
done
type_of_machine=$(uname -m)

# print_fetch KIND NAME VERSION CLASSIFIER HASHES
print_fetch() {
  local hashes
  read -r -d '' -a hashes <<<"$5"
  printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${hashes[*]}"
}

stand_in() {
  uname() { echo "$type_of_machine"; }
  wheel() { print_fetch pypi "$1" "$2" "" "$3"; }
  wheels() {
    local pin hashes
    while read -r pin hashes; do print_fetch pypi "${pin%%==*}" "${pin#*==}" "" "${hashes//--hash=sha256:/}"; done <<<"$pins"
  }
  sdist() { print_fetch pypi "$1" "$2" "" "$3"; }
  crate() { print_fetch cargo "$1" "$2" "" "$3"; }
  maven() { print_fetch maven "$1" "$2" "$3" "$4"; }
  npm_package() { print_fetch npm "$1" "$2" "" "$3"; }
  npm_pinned() {
    local package version
    while read -r package version; do
      [[ $version != \"[0-9]* ]] || print_fetch npm "${package//[\":]/}" "${version//[\",]/}" "" ""
    done <"$root/scripts/deps/$name/package.json"
  }
  local f
  for f in deb_from_suite debs_from_suite beside_itself put quietly python_with_pip cargo_at_least unzip_into say command_not_found_handle; do
    eval "$f() { :; }"
  done
}

for name in "$@"; do
  (
    recipe "$name"
    printf 'recipe\t%s\t%s\n' "$name" "$id"
    stand_in
    cd / && PATH='' tree=/nonexistent work=/nonexistent
    if [ -e "$root/scripts/deps/$name.sh" ]; then fill "$tree" "$work"; else "$name"; fi
  ) 2>/dev/null
done
exit 0 # a recipe that finds no command ends as that does
