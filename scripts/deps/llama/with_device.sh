# shellcheck shell=bash disable=SC2034,SC2154
# For recipes of llama.cpp with a library of ggml for devices.

# Of what llama.sh makes: that recipe's pins, and its sources.
llama_pins="$LLAMA_NPM $LLAMA_NPM_SHA256_X64 $LLAMA_SDIST_SHA256 $(
  cat "$root/scripts/deps/llama.sh" "$root/scripts/deps/llama"/*.{cc,h,py,sh} "$root/scripts/deps/llama/media"/{Cargo.*,src/*} | sha256sum)"

# fill_with_device DIR WORK PACKAGE SHA256 FILE: what llama.sh makes, in DIR/llama, and FILE of npm's PACKAGE beside its libraries.
fill_with_device() {
  local dir=$1 work=$2 package=$3 hash=$4 file=$5
  (
    # shellcheck source=/dev/null
    . "$root/scripts/deps/llama.sh"
    fill "$work/made" "$work"
  )
  npm_package "$package" "$LLAMA_NPM" "$hash" "$work/device"
  mkdir -p "$dir"
  mv "$work/made/llama" "$dir/"
  mv "$work/made/share/doc/llama/LICENSE" "$dir/llama/"
  cp "$work/device/bins/$file" "$dir/llama/lib/"
  beside_itself "$dir/llama/lib/${file##*/}"
}
