# shellcheck shell=bash disable=SC2154
# Makes OCI images with buildah, each as an archive in dist/, which podman, docker, ctr, kind and skopeo take, and in buildah's own storage.
# usage: scripts/package.sh images [-- [--base IMAGE] [NAME…] [-- OPTION…]]   NAME is a Dockerfile of packaging/images/ (default: all)
#   --base IMAGE  the Debian 12 to begin from, instead of docker.io/library/debian:bookworm-slim: an image, or an archive of a root folder, as
#                 `scripts/deps.sh images` has one (.deps/share/bare-debian/bookworm.tar.gz), for machines that reach no registry
#   OPTION…       for `buildah build`, such as --volume for files that package clients need to reach their registries
base=docker.io/library/debian:bookworm-slim
[ "${1-}" != --base ] || { base=${2:?--base needs an image}; shift 2; }
names=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  [ -f "$root/packaging/images/$1.Dockerfile" ] || die "there is no image '$1'"
  names+=("$1")
  shift
done
[ ${#names[@]} -gt 0 ] || names=(runtime-cpu runtime-cuda guest-builder)
command -v buildah >/dev/null || die "buildah is missing; scripts/deps.sh images installs it"

# import_base ARCHIVE: makes an image of it.
import_base() {
  local container
  container=$(buildah from scratch)
  quietly buildah add "$container" "$1" /
  quietly buildah config --cmd bash "$container"
  base=localhost/bare-debian:12
  quietly buildah commit --rm "$container" "$base"
}

# write_packages LICENCES FOLDER: Debian's records of the packages whose libraries are in the image, found by the
# folders of their licences. Scanners for vulnerabilities read them.
write_packages() {
  local folder
  mkdir "$2"
  for folder in "$1"/*/; do dpkg-query --status "$(basename "$folder")" >"$2/$(basename "$folder")" 2>/dev/null || rm "$2/$(basename "$folder")"; done
}

# make_context NAME: the folder that the Dockerfile copies from.
make_context() {
  local components=(lib command serve wasmtime wamr tflite) backend # what serves and runs programs: nothing to build with
  mkdir "$work/$1"
  case $1 in
    runtime-*)
      for backend in onnx openvino tflite torch tensorflow llama; do components+=("backend-$backend"); done
      install_relocatable "$work/$1/wasinn" "${components[@]}"
      [ -x "$work/$1/wasinn/bin/wasinn-serve" ] || die "$build has no wasinn-serve; scripts/deps.sh serve provides what it is built with"
      rm -rf "$work/$1"/wasinn/share/{man,bash-completion,zsh,fish}
      cp "$root/LICENSE" "$work/$1/wasinn/share/doc/wasinn/"
      write_packages "$work/$1/wasinn/share/doc/wasinn/licences" "$work/$1/status.d"
      cp "$root/packaging/images/collect.sh" "$work/$1/"
      ;;
    guest-builder) cp -r "$root/guest" "$root/examples" "$root/packaging/images/provide.sh" "$work/$1/" ;;
  esac
  case $1 in
    runtime-cuda | guest-builder) mkdir "$work/$1/include" && cp -r "$root/scripts" "$work/$1/" && cp -r "$root/include/wasinn" "$work/$1/include/" ;;
  esac
}

# make_image NAME OPTION…
make_image() {
  local name=$1 tag=localhost/wasinn/$1:$version archive
  shift
  archive=$dist/wasinn-$version-$name-$(uname -m).oci.tar
  make_context "$name"
  quietly buildah build --build-arg "BASE=$base" --timestamp "$SOURCE_DATE_EPOCH" --tag "$tag" \
    --label "org.opencontainers.image.title=wasinn $name" --label "org.opencontainers.image.version=$version" \
    --label "org.opencontainers.image.source=$url" --label "org.opencontainers.image.vendor=$maintainer" \
    --label "org.opencontainers.image.licenses=Apache-2.0 WITH LLVM-exception" \
    --file "$root/packaging/images/$name.Dockerfile" "$@" "$work/$name"
  rm -rf "${work:?}/$name" "$archive"
  quietly buildah push "$tag" "oci-archive:$archive:$tag"
  say "$archive: $(du -h "$archive" | cut -f 1), unpacked $(buildah images --format '{{.Size}}' "$tag")"
}

[ ! -f "$base" ] || import_base "$base"
for name in "${names[@]}"; do make_image "$name" "${@:2}"; done
