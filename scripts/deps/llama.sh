# shellcheck shell=bash disable=SC2034,SC2154
# llama.cpp in a folder of its own: llama/lib/libllama.so with ggml's libraries, one for each kind of CPU, llama/include/, and
# llama/lib/libwasinn_llama_common.so, compiled here from llama.cpp's sources (50 CPU seconds). What reads images and sounds is llama-media.

version=$LLAMA_NPM
pins="$LLAMA_NPM $LLAMA_NPM_SHA256_X64 $LLAMA_NPM_SHA256_ARM64 $LLAMA_SDIST $LLAMA_SDIST_SHA256 $(
  cat "$root/scripts/deps/llama"/*.{cc,h,py} | sha256sum)"
tools=(pip npm cxx patchelf)

fill() {
  fetch_llama "$1/llama" "$2"
  put_llama "$1" "$2"
}

# fetch_llama DIR WORK: the libraries into DIR/lib, and the sources.
fetch_llama() {
  local dir=$1 work=$2 machine hash
  case $(uname -m) in
    x86_64) machine=linux-x64 hash=$LLAMA_NPM_SHA256_X64 ;;
    aarch64) machine=linux-arm64 hash=$LLAMA_NPM_SHA256_ARM64 ;;
    *) die "there is no llama.cpp for $(uname -m)" ;;
  esac
  npm_package "@node-llama-cpp/$machine" "$LLAMA_NPM" "$hash" "$work/npm"
  sdist llama-cpp-python "$LLAMA_SDIST" "$LLAMA_SDIST_SHA256" "$work/sdist" "$root/scripts/deps/llama"
  mkdir -p "$dir/lib"
  cp "$work/npm/bins/$machine"/libggml*.so "$dir/lib/"
  cp "$work/npm/bins/$machine"/libllama.v*.so "$dir/lib/libllama.so"
  chmod u+w "$dir"/lib/*.so
  beside_itself "$dir"/lib/*.so
  patchelf --set-soname libllama.so "$dir/lib/libllama.so" # as it is called here, for what is linked with it
}

# put_llama TREE WORK: what is ours, and headers.
put_llama() {
  local dir=$1/llama doc=$1/share/doc/llama source=$2/sdist/vendor/llama.cpp
  mkdir -p "$dir/include" "$doc"
  cp "$root/scripts/deps/llama"/wasinn_llama_{common,mtmd}.h "$source"/include/llama.h \
    "$source"/ggml/include/{ggml,ggml-alloc,ggml-backend,ggml-cpu,ggml-opt,gguf}.h "$source"/tools/mtmd/mtmd.h "$dir/include/"
  cp "$source/LICENSE" "$doc/"
  common_code "$source" "$2/common"
  mv "$2/common/libwasinn_llama_common.so" "$dir/lib/"
}

# common_code SOURCE WORK: compiles llama.cpp's chat code with our C functions around it. With the C++ library in it, since ours count
# what all of that allocates.
common_code() {
  local source=$1 work=$2 here=$root/scripts/deps/llama flags
  mkdir -p "$work/nlohmann"
  # It allocates where it destroys values, and nothing may fail there.
  sed -e '1i #include "limits.h"' \
    -e 's|^ *// flatten the current json_value to a heap-allocated stack$|const wasinn_llama::Unlimited unlimited;|' \
    "$source/vendor/nlohmann/json.hpp" >"$work/nlohmann/json.hpp"
  grep -q 'Unlimited unlimited' "$work/nlohmann/json.hpp" || die "nlohmann/json.hpp is not what it was"
  flags=(-std=c++17 -O1 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden "-I$work" "-I$here" "-I$source"/{common,include,ggml/include,vendor})
  # Files that share most of what they include, as one: so it takes half the time.
  printf '#include "%s"\n' "$source/common"/parsers/*.cpp >"$work/parsers.cc"
  printf '#include "%s"\n' "$source/common"/{chat*,peg-parser}.cpp >"$work/chat.cc"
  printf '#include "%s"\n' "$source/common"/{json,jinja/{value,caps,lexer,parser,runtime,string},json-schema,json-schema-to-grammar,trie,unicode}.cpp \
    >"$work/json.cc"
  ls "$work"/*.cc "$here"/{common,limits,stand_ins}.cc >"$work/sources"
  # shellcheck disable=SC2016 # for the inner shell
  quietly xargs -a "$work/sources" -P "$(nproc)" -I '{}' sh -c 'c++ "$@" -c "{}" -o "$0/$(basename "{}").o"' "$work" "${flags[@]}"
  echo '{ global: wasinn_llama_*; local: *; };' >"$work/exports"
  quietly c++ -shared -static-libstdc++ -static-libgcc "-Wl,--version-script=$work/exports" -Wl,-z,defs "$work"/*.o \
    -o "$work/libwasinn_llama_common.so"
  strip "$work/libwasinn_llama_common.so"
}
