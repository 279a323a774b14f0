# shellcheck shell=bash disable=SC2034,SC2154
# llama.cpp with Vulkan: what llama.sh and llama-media.sh make, and with it ggml's library for Vulkan, which finds the system's loader (libvulkan.so.1) and drivers.

# shellcheck source=llama/with_device.sh
. "$root/scripts/deps/llama/with_device.sh"

pins+=" $LLAMA_NPM_SHA256_X64_VULKAN"

fill() {
  fill_with_device "$1/vulkan" "$2" @node-llama-cpp/linux-x64-vulkan "$LLAMA_NPM_SHA256_X64_VULKAN" linux-x64-vulkan/libggml-vulkan.so
}
