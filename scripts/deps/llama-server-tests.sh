# shellcheck shell=bash disable=SC2034,SC2154
# The tests of llama.cpp's server, in Python, and what they read: share/llama-server-tests, laid out as in llama.cpp's sources.

version=$LLAMA_SDIST
pins=$LLAMA_SDIST_SHA256
tools=(pip)

fill() {
  local dir=$1/share/llama-server-tests work=$2 source
  sdist llama-cpp-python "$LLAMA_SDIST" "$LLAMA_SDIST_SHA256" "$work/sdist" "$root/scripts/deps/llama"
  source=$work/sdist/vendor/llama.cpp
  mkdir -p "$dir/tools/server" "$dir/models" "$1/share/doc/llama-server-tests"
  mv "$source/tools/server/tests" "$dir/tools/server/"
  mv "$source/models/templates" "$dir/models/"
  cp "$source/LICENSE" "$1/share/doc/llama-server-tests/"
}
