# shellcheck shell=bash disable=SC2034,SC2154
# llama.cpp in a folder of its own: llama/lib/libllama.so with ggml's libraries, one for each kind of CPU, llama/include/, and
# llama/lib/libwasinn_llama_schema.so, compiled here from llama.cpp's sources (20 s).

version=$LLAMA_NPM
pins="$LLAMA_NPM $LLAMA_NPM_SHA256_X64 $LLAMA_NPM_SHA256_ARM64 $LLAMA_SDIST $LLAMA_SDIST_SHA256 $(
  cat "$root/scripts/deps/llama"/*.{cc,py} | sha256sum)"
tools=(pip npm cxx patchelf)

fill() {
  local dir=$1/llama work=$2 doc=$1/share/doc/llama machine hash bins source f
  case $(uname -m) in
    x86_64) machine=linux-x64 hash=$LLAMA_NPM_SHA256_X64 ;;
    aarch64) machine=linux-arm64 hash=$LLAMA_NPM_SHA256_ARM64 ;;
    *) die "there is no llama.cpp for $(uname -m)" ;;
  esac
  npm_package "@node-llama-cpp/$machine" "$LLAMA_NPM" "$hash" "$work/npm"
  sdist llama-cpp-python "$LLAMA_SDIST" "$LLAMA_SDIST_SHA256" "$work/sdist" "$root/scripts/deps/llama"
  bins=$work/npm/bins/$machine source=$work/sdist/vendor/llama.cpp
  mkdir -p "$dir/lib" "$dir/include" "$doc"
  cp "$bins"/libggml*.so "$dir/lib/"
  cp "$bins"/libllama.v*.so "$dir/lib/libllama.so"
  chmod u+w "$dir"/lib/*.so
  beside_itself "$dir"/lib/*.so
  patchelf --set-soname libllama.so "$dir/lib/libllama.so" # as it is called here, for what is linked with it
  cp "$source"/include/llama.h "$source"/ggml/include/{ggml,ggml-alloc,ggml-backend,ggml-cpu,ggml-opt,gguf}.h "$dir/include/"
  cp "$source/LICENSE" "$doc/"
  for f in json json-schema json-schema-to-grammar trie unicode schema; do
    quietly c++ -std=c++17 -O1 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -I"$source"/{common,include,ggml/include,vendor} \
      -c "$(ls "$source/common/$f.cpp" "$root/scripts/deps/llama/$f.cc" 2>/dev/null)" -o "$work/$f.o"
  done
  quietly c++ -shared -Wl,-z,defs "$work"/*.o -o "$dir/lib/libwasinn_llama_schema.so"
  strip "$dir/lib/libwasinn_llama_schema.so"
}
