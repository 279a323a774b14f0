# shellcheck shell=bash disable=SC2034,SC2154
# Wasmtime with wasi:nn for components, built from source: component/lib/libwasmtime.so and component/include/. In a folder
# of its own, since lib/ may have the prebuilt one too; builds take this one where it is there.

component=$root/src/engines/wasmtime/component
version=$WASMTIME_CRATE
pins="$WASMTIME_CRATE $WASMTIME_CRATE_SHA256 $RUST_MIN $(cat "$component"/{Cargo.toml,Cargo.lock,build.rs,src/*.rs} \
  "$root/scripts/deps/wasmtime_conf.py" | sha256sum)"
tools=(pip rust)

# CARGO_TARGET_DIR keeps what is compiled (1 GB), for those who change the crate.
fill() {
  local work=$2 tree=$1/component target=${CARGO_TARGET_DIR:-$2/target} cargo
  cargo=$(cargo_at_least "$RUST_MIN")
  crate wasmtime-c-api-impl "$WASMTIME_CRATE" "$WASMTIME_CRATE_SHA256" "$work/crate"
  say "wasmtime-component: compiling Wasmtime, about 10 CPU minutes"
  quietly env PATH="${cargo%/*}:$PATH" "$cargo" build --release --locked \
    --manifest-path "$component/Cargo.toml" --target-dir "$target"
  mkdir -p "$tree/lib"
  cp "$target/release/libwasinn_wasmtime.so" "$tree/lib/libwasmtime.so"
  cp -r "$work/crate/include" "$tree/"
  "$(python_with_pip)" "$root/scripts/deps/wasmtime_conf.py" "$tree/lib/libwasmtime.so" "$tree/include/wasmtime"
}
