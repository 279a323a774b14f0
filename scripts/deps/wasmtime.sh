# shellcheck shell=bash disable=SC2034,SC2154
# Wasmtime's C API: lib/libwasmtime.so and include/.

version=$WASMTIME_WHEEL
pins="$WASMTIME_WHEEL $WASMTIME_WHEEL_SHA256 $WASMTIME_CRATE $WASMTIME_CRATE_SHA256 $(sha256sum <"$root/scripts/deps/wasmtime_conf.py")"
tools=(pip cargo)

fill() {
  local dir=$1 work=$2 fetching
  wheel wasmtime "$WASMTIME_WHEEL" "$WASMTIME_WHEEL_SHA256" "$work/wheel" &
  fetching=$!
  crate wasmtime-c-api-impl "$WASMTIME_CRATE" "$WASMTIME_CRATE_SHA256" "$work/crate"
  wait "$fetching"
  mkdir -p "$dir/lib" "$dir/share/doc/wasmtime"
  cp "$work"/wheel/wasmtime/linux-*/_libwasmtime.so "$dir/lib/libwasmtime.so"
  cp "$work"/wheel/wasmtime-*.dist-info/licenses/LICENSE "$dir/share/doc/wasmtime/"
  cp -r "$work/crate/include" "$dir/"
  "$(python_with_pip)" "$root/scripts/deps/wasmtime_conf.py" "$dir/lib/libwasmtime.so" "$dir/include/wasmtime"
}
