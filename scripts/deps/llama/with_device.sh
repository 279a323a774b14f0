# shellcheck shell=bash disable=SC2034,SC2154
# For recipes of llama.cpp with a library of ggml for devices.

# shellcheck source=../llama-media.sh
. "$root/scripts/deps/llama-media.sh"
pins+=" $(cat "$root/scripts/deps/llama"/{../llama-media,with_device}.sh)"

# fill_with_device DIR WORK PACKAGE SHA256 FILE: what llama.sh and llama-media.sh make, in DIR/llama, and FILE of npm's PACKAGE beside its libraries.
fill_with_device() {
  local dir=$1 work=$2 package=$3 hash=$4 file=$5
  fetch_llama "$work/made/llama" "$work"
  put_llama "$work/made" "$work"
  put_media "$work/made" "$work" "$work/made/llama"
  npm_package "$package" "$LLAMA_NPM" "$hash" "$work/device"
  mkdir -p "$dir"
  mv "$work/made/llama" "$dir/"
  mv "$work/made/share/doc/llama/LICENSE" "$dir/llama/"
  cp "$work/device/bins/$file" "$dir/llama/lib/"
  beside_itself "$dir/llama/lib/${file##*/}"
}
