#!/usr/bin/env bash
# Makes Debian packages of all that a build has, in dist/: for this machine's release of Debian, since they need its libraries.
# Arguments are those of cpack. DEBFULLNAME and DEBEMAIL say who publishes them.
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for part in common package; do
  # shellcheck source=/dev/null
  . "$scripts/lib/$part.sh"
done

need cpack dpkg-shlibdeps dpkg-deb
publisher=()
[ -z "${DEBEMAIL-}" ] || publisher=(-D "CPACK_DEBIAN_PACKAGE_MAINTAINER=${DEBFULLNAME:-wasinn developers} <$DEBEMAIL>")
write_hints "$work/hints" "apt-get install wasinn-backend-NAME && "
for backend in onnx tflite remote; do echo "$backend apt-get install wasinn-backend-$backend"; done >>"$work/hints"
sed -i -E 's/^(serve|bench) .*/\1 apt-get install wasinn-\1/' "$work/hints"
quietly cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work" -D "CPACK_WASINN_HINTS=$work/hints" "${publisher[@]}" "$@"
mv "$work"/*.deb "$dist/"
say "$dist: $(find "$dist" -name '*.deb' | wc -l) Debian packages"
