# shellcheck shell=bash disable=SC2154,SC2164
# Makes the packages for authors of guests: the crate wasinn-guest, the Go module, and WIT packages of wasinn's
# interfaces.
module=${url#https://}/guest/go
command -v cargo >/dev/null || die "cargo is missing"
wasm_tools=$root/.deps/component-tools/bin/wasm-tools
[ -x "$wasm_tools" ] || die "wasm-tools is missing; scripts/deps.sh components provides it"
git -C "$root" archive HEAD guest LICENSE | tar -x -C "$work"
for kit in rust go; do cp "$work/LICENSE" "$work/guest/$kit/"; done

sed -i -e "s|^version = .*|version = \"$version\"|" -e "s|^publish = false|homepage = \"$site\"\nrepository = \"$url\"|" "$work/guest/rust/Cargo.toml"
(cd "$work/guest/rust" && quietly cargo package --offline --no-verify --target-dir "$work/target")
mv "$work/target/package/wasinn-guest-$version.crate" "$dist/"

find "$work/guest/go" -name '*.go' -exec sed -i "s|\"wasinn\(/component\)\?\"$|\"$module\1\"|" {} +
sed -i "s|^module .*|module $module|" "$work/guest/go/go.mod"
archive "$dist/wasinn-guest-go-$version.tar.gz" "$work" guest/go

cd "$work/guest/wit/deps"
for package in wasinn-ext wasinn-serve; do
  mkdir "$package/deps"
  cp -r wasi-nn "$package/deps/"
  quietly "$wasm_tools" component wit --wasm "$package" -o "$dist/$package-$version.wit.wasm"
done
say "$dist: the crate wasinn-guest, the Go module $module, WIT packages"
