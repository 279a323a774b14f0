# shellcheck shell=bash disable=SC2154
# Makes Debian packages of all that a build has, in dist/: for this machine's release of Debian, since they need its libraries.
# Arguments are those of cpack.

need cpack dpkg-shlibdeps dpkg-deb
write_hints "$work/hints" "apt-get install wasinn-backend-NAME && "
for backend in onnx tflite remote; do echo "$backend apt-get install wasinn-backend-$backend"; done >>"$work/hints"
sed -i -E 's/^(serve|bench) .*/\1 apt-get install wasinn-\1/' "$work/hints"
if [ -n "${WASINN_CROSS-}" ]; then
  DEB_HOST_ARCH=$(dpkg-architecture --host-type "$WASINN_CROSS" --query DEB_HOST_ARCH)
  export DEB_HOST_ARCH # for dpkg-shlibdeps
  set -- -D "CPACK_DEBIAN_PACKAGE_ARCHITECTURE=$DEB_HOST_ARCH" "$@"
fi
quietly cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work" -D "CPACK_WASINN_HINTS=$work/hints" \
  -D "CPACK_DEBIAN_PACKAGE_MAINTAINER=$maintainer <$email>" -D "CPACK_DEBIAN_PACKAGE_HOMEPAGE=$url" "$@"
mv "$work"/*.deb "$dist/"
say "$dist: $(find "$dist" -name '*.deb' | wc -l) Debian packages"
