# shellcheck shell=bash disable=SC2034,SC2154
# Wasmtime with wasi:nn for components, built from source: component/lib/libwasmtime.so and component/include/. In a folder
# of its own, since lib/ may have the prebuilt one too; builds take this one where it is there. Wasmtime's licence is in
# share/doc/wasmtime-component/. With for_tests (deps.sh wasmtime-tests) it is optimized less.

component=$root/src/engines/wasmtime/component
profile=release version=$WASMTIME_CRATE flags=--remap-path-prefix=$root/= # packages name no checkout
[ -z "${for_tests-}" ] || profile=tests version+=-tests flags=
# The crates of rust/, as far as they are in it.
pins="${flags%%=*} $WASMTIME_CRATE $WASMTIME_CRATE_SHA256 $RUST_MIN $(cat "$component"/{Cargo.toml,Cargo.lock,build.rs,src/*.rs} \
  "$root"/rust/wasinn/{Cargo.toml,src/{lib,begun,notify}.rs,src/wit/*.rs} "$root"/rust/wasinn-sys/{Cargo.toml,build.rs,src/*.rs} \
  "$root/scripts/deps/wasmtime_conf.py" | sha256sum)"
tools=(pip rust)

# Cargo's folder (1 GB) stays in the cache: after a change of our crates only they are compiled again.
fill() {
  local work=$2 tree=$1/component target=$cache/cargo-wasmtime doc=$1/share/doc/wasmtime-component cargo manifest
  cargo=$(cargo_at_least "$RUST_MIN")
  crate wasmtime-c-api-impl "$WASMTIME_CRATE" "$WASMTIME_CRATE_SHA256" "$work/crate"
  say "wasmtime-component: compiling Wasmtime, 5 to 10 CPU minutes"
  quietly env PATH="${cargo%/*}:$PATH" CARGO_ENCODED_RUSTFLAGS="$flags" "$cargo" build --profile "$profile" --locked \
    --manifest-path "$component/Cargo.toml" --target-dir "$target"
  mkdir -p "$tree/lib"
  cp "$target/$profile/libwasinn_wasmtime.so" "$tree/lib/libwasmtime.so"
  cp -r "$work/crate/include" "$tree/"
  "$(python_with_pip)" "$root/scripts/deps/wasmtime_conf.py" "$tree/lib/libwasmtime.so" "$tree/include/wasmtime"
  # The crate of the C API has no copy of the licence, the engine's own has, as cargo unpacked it for this build.
  manifest=$(PATH=${cargo%/*}:$PATH "$cargo" metadata --quiet --locked --format-version 1 --manifest-path "$component/Cargo.toml" |
    grep -oE '"manifest_path":"[^"]*/wasmtime-[0-9.]+/Cargo.toml"' | cut -d '"' -f 4)
  mkdir -p "$doc"
  cp "${manifest%/Cargo.toml}/LICENSE" "$doc/"
}
