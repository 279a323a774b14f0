# shellcheck shell=bash disable=SC2034,SC2154
# component-tools/bin/plug-component, which plugs one component into another as `wac plug` does, with wac's own library.

crate=$root/scripts/deps/plug-component
version=$(sed -n 's/^wac-graph = "\(.*\)"/\1/p' "$crate/Cargo.toml")
pins="$RUST_MIN $(cat "$crate"/{Cargo.toml,Cargo.lock,src/main.rs} | sha256sum)"
tools=(rust)

fill() {
  local work=$2 tree=$1/component-tools target=${CARGO_TARGET_DIR:-$2/target} cargo
  cargo=$(cargo_at_least "$RUST_MIN")
  quietly env PATH="${cargo%/*}:$PATH" "$cargo" build --release --locked --manifest-path "$crate/Cargo.toml" --target-dir "$target"
  mkdir -p "$tree/bin"
  cp "$target/release/plug-component" "$tree/bin/"
}
