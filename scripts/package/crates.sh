# shellcheck shell=bash disable=SC2154,SC2164
# Makes the crates for programs in Rust that embed Wasmtime: wasinn, and wasinn-sys, which it depends on.
command -v cargo >/dev/null || die "cargo is missing"
git -C "$root" archive HEAD rust LICENSE | tar -x -C "$work"
for crate in wasinn-sys wasinn; do
  cp "$work/LICENSE" "$work/rust/$crate/"
  sed -i -e "s|^version = .*|version = \"$version\"|" -e "s|^wasinn-sys = { version = \"[^\"]*\"|wasinn-sys = { version = \"$version\"|" \
    -e "s|^publish = false|homepage = \"$site\"\nrepository = \"$url\"|" "$work/rust/$crate/Cargo.toml"
done
# Compiles the packed crates. That links nothing, so libwasinn is not needed.
(cd "$work/rust" && DOCS_RS=1 quietly cargo package -p wasinn-sys -p wasinn --target-dir "$work/target")
mv "$work/target/package/wasinn-sys-$version.crate" "$work/target/package/wasinn-$version.crate" "$dist/"
say "$dist: the crates wasinn and wasinn-sys"
