#!/usr/bin/env bash
# Publishes the release that scripts/release.sh has made in dist/VERSION, by the ordinary client of each registry, to the places of packaging/home.toml. Without
# --upload it prints the commands, and runs none of them. Each step can be repeated: what a registry already has of this version stays.
# usage: scripts/publish.sh VERSION [--upload] [STEP…]   STEPs, by default all:
#   tags    git: the tag of the release, and of the Go module, which is a commit of its own: it has the module's path at home
#   forge   gh: a release with all files but the images, and the changelog's text
#   pypi, npm, crate
#           twine, npm, cargo: the packages for Python, Node, and guests and hosts in Rust
#   images  skopeo: the images
#   wit     wkg: the WIT packages
#   site    git: the branch gh-pages
# WASINN_DIST: instead of dist/.
# shellcheck disable=SC2154
set -euo pipefail
shopt -s extglob
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
. "$scripts/lib/common.sh"
# shellcheck source=../packaging/home.toml
. "$root/packaging/home.toml"

[[ ${1-} =~ ^[0-9] ]] || { sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "$0"; exit 2; }
version=$1 upload=
shift
[ "${1-}" != --upload ] || { upload=1; shift; }
steps=("$@")
[ $# -gt 0 ] || steps=(tags forge pypi npm crate images wit site)
release=${WASINN_DIST:-$root/dist}/$version
cd "$release" 2>/dev/null || die "there is no $release: run scripts/release.sh"
sha256sum --quiet --check SHA256SUMS || die "$release is not as scripts/release.sh has made it"
[ -z "$upload" ] || [[ $url != *example.com/* ]] || die "packaging/home.toml names no home yet: $url"
commit=$(gzip -dc "wasinn-$version-source.tar.gz" | git get-tar-commit-id)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run COMMAND…: prints it, and runs it with --upload.
run() {
  printf '%s\n' "$*"
  [ -z "$upload" ] || "$@"
}

# there COMMAND…: with --upload, whether it prints something: the registry's record of this version.
there() { [ -n "$upload" ] && [ -n "$("$@" 2>/dev/null)" ]; }

# committed ARCHIVE FOLDER MESSAGE [PARENT]: makes a commit of PARENT's files, in which the archive's FOLDER replaces
# that folder ("." for all files). It is the same commit each time.
committed() {
  local -x GIT_INDEX_FILE=$work/index GIT_WORK_TREE=$work/tree GIT_DIR GIT_AUTHOR_DATE
  local -x GIT_AUTHOR_NAME=$maintainer GIT_AUTHOR_EMAIL=$email GIT_COMMITTER_NAME=$maintainer GIT_COMMITTER_EMAIL=$email
  GIT_DIR=$(git -C "$root" rev-parse --absolute-git-dir)
  GIT_AUTHOR_DATE=$(git show --no-patch --format=%cI "$commit")
  local -x GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
  rm -rf "$work/index" "$work/tree"
  mkdir "$work/tree"
  tar -xzf "$1" -C "$work/tree" ${5:+"--strip-components=$5"}
  [ -z "$4" ] || git read-tree "$4"
  [ "$2" != . ] || touch "$work/tree/.nojekyll"
  (cd "$work/tree" && git add --all --force "$2")
  git commit-tree -m "$3" ${4:+-p "$4"} "$(git write-tree)"
}

publish_tags() {
  local go
  go=$(committed "wasinn-guest-go-$version.tar.gz" guest/go "guest/go: version $version, with the path of its home" "$commit")
  run git -C "$root" push "$url" "$commit:refs/tags/v$version" "$go:refs/tags/guest/go/v$version"
}

publish_forge() {
  local files=(./!(*.oci.tar)) # which are too large for it
  if there gh release view "v$version" --repo "$url"; then
    run gh release upload "v$version" --repo "$url" --clobber "${files[@]}"
  else
    run gh release create "v$version" --repo "$url" --verify-tag --title "wasinn $version" --notes-file "wasinn-$version-notes.md" "${files[@]}"
  fi
}

publish_pypi() { run python3 -m twine upload --skip-existing ./*.whl; }

publish_npm() { there npm view "wasinn@$version" version || run npm publish --access public "./wasinn-$version.tgz"; }

publish_crate() {
  local crate
  for crate in wasinn-guest wasinn-sys wasinn; do # each after those that it depends on
    ! there cargo info --quiet "$crate@$version" || continue
    tar -xzf "$crate-$version.crate" -C "$work"
    rm "$work/$crate-$version/Cargo.toml.orig" # cargo writes it again
    run cargo publish --no-verify --manifest-path "$work/$crate-$version/Cargo.toml"
  done
}

publish_images() {
  local archive name
  for archive in *.oci.tar; do
    name=${archive#"wasinn-$version-"}
    run skopeo copy "oci-archive:$archive" "docker://$registry/${name%-*}:$version"
  done
}

publish_wit() {
  local package
  for package in ext serve; do run wkg oci push "$registry/wit/$package:$version" "wasinn-$package-$version.wit.wasm"; done
}

publish_site() {
  local pages
  pages=$(committed "wasinn-$version-site.tar.gz" . "wasinn $version" "" 1)
  run git -C "$root" push --force "$url" "$pages:refs/heads/gh-pages"
}

for step in "${steps[@]}"; do
  declare -F "publish_$step" >/dev/null || die "there is no step '$step'"
done
for step in "${steps[@]}"; do
  say "$step"
  "publish_$step"
done
[ -n "$upload" ] || say "nothing was uploaded: that takes --upload"
