# shellcheck shell=bash disable=SC2034,SC2154
# llama.cpp with CUDA: what llama.sh makes, and with it ggml's library for CUDA 12, which wants cuda12 of manifest.sh. node-llama-cpp takes that one
# where its own for CUDA 13.1 does not run: that has code for four kinds of GPU, and what A100 and H100 need is compiled by drivers from 590 on alone.

version=$LLAMA_NPM
pins="$LLAMA_NPM $LLAMA_NPM_SHA256_X64 $LLAMA_NPM_SHA256_X64_CUDA_EXT $LLAMA_SDIST_SHA256 $(
  cat "$root/scripts/deps/llama.sh" "$root/scripts/deps/llama"/*.{cc,h,py} "$root/scripts/deps/llama/media"/{Cargo.*,src/*} | sha256sum)"
tools=(pip npm cxx patchelf rust)

fill() {
  local dir=$1/cuda/12 work=$2
  (
    # shellcheck source=/dev/null
    . "$root/scripts/deps/llama.sh"
    fill "$work/made" "$work"
  )
  npm_package @node-llama-cpp/linux-x64-cuda-ext "$LLAMA_NPM" "$LLAMA_NPM_SHA256_X64_CUDA_EXT" "$work/cuda"
  mkdir -p "$dir"
  mv "$work/made/llama" "$dir/"
  mv "$work/made/share/doc/llama/LICENSE" "$dir/llama/"
  cp "$work/cuda/bins/linux-x64-cuda/fallback/libggml-cuda.so" "$dir/llama/lib/"
  beside_itself "$dir/llama/lib/libggml-cuda.so"
}
