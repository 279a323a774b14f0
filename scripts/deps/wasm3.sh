# shellcheck shell=bash disable=SC2034,SC2154
# wasm3 in a folder of its own: wasm3/lib/libm3.a and wasm3/include/. An engine that wasinn has no adapter for, which is why the tests
# have one for it. Built from the sources that a crate carries, about 5 CPU seconds.

version=$WASM3_CRATE
pins="$WASM3_CRATE $WASM3_CRATE_SHA256 $(cat "$root"/scripts/deps/wasm3/* | sha256sum)"
tools=(cargo cmake)

fill() {
  local dir=$1/wasm3 work=$2
  crate wasm3-sys "$WASM3_CRATE" "$WASM3_CRATE_SHA256" "$work/crate"
  quietly cmake -G Ninja -S "$root/scripts/deps/wasm3" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
    "-DWASM3_SOURCE=$work/crate/wasm3/source"
  quietly cmake --build "$work/build"
  mkdir -p "$dir/lib" "$dir/include"
  cp "$work"/build/libm3.a "$dir/lib/"
  cp "$work"/crate/wasm3/source/wasm3.h "$dir/include/"
}
