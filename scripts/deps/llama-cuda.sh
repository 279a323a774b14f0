# shellcheck shell=bash disable=SC2034,SC2154
# llama.cpp with CUDA: what llama.sh and llama-media.sh make, and with it ggml's library for CUDA 12, which wants cuda12 of manifest.sh. node-llama-cpp takes that one
# where its own for CUDA 13.1 does not run: that has code for four kinds of GPU, and what A100 and H100 need is compiled by drivers from 590 on alone.

# shellcheck source=llama/with_device.sh
. "$root/scripts/deps/llama/with_device.sh"

pins+=" $LLAMA_NPM_SHA256_X64_CUDA_EXT"

fill() {
  fill_with_device "$1/cuda/12" "$2" @node-llama-cpp/linux-x64-cuda-ext "$LLAMA_NPM_SHA256_X64_CUDA_EXT" \
    linux-x64-cuda/fallback/libggml-cuda.so
}
