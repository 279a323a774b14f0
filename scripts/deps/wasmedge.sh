# shellcheck shell=bash disable=SC2034,SC2154
# WasmEdge in a folder of its own, wasmedge/: the tool, the library and the header of a newer Debian, with all libraries that
# they need, down to the C library; bin/run runs a program with these.

version=$WASMEDGE
pins="$WASMEDGE $WASMEDGE_SUITE $(cat "$root"/scripts/deps/wasmedge/* | sha256sum)"
tools=()

fill() {
  local dir=$1/wasmedge work=$2 doc=$1/share/doc/wasmedge usr=$2/debs/usr libs p
  debs_from_suite "$WASMEDGE_SUITE" "$WASMEDGE" "$work/debs" wasmedge libwasmedge-dev
  mkdir -p "$dir/bin" "$dir/libexec" "$dir/lib" "$doc"
  libs=$(dirname "$(find "$usr/lib" -name libwasmedge.so)")
  find "$libs" -maxdepth 1 -name '*.so*' -exec cp -P {} "$dir/lib/" \;
  (cd "$dir/lib" && ln -s ld-linux*.so.* ld.so)
  cp "$usr/bin/wasmedge" "$dir/libexec/"
  cp -r "$usr/include" "$dir/"
  cp "$root"/scripts/deps/wasmedge/* "$dir/bin/"
  for p in wasmedge libwasmedge0; do cp "$usr/share/doc/$p/copyright" "$doc/$p.copyright"; done
}
