# shellcheck shell=bash disable=SC2034,SC2154
# llama.cpp's own server, to compare with: llama-server/bin/llama-server, compiled here from llama.cpp's sources (200 CPU seconds). It
# computes with the libraries that llama.sh provides, so that both sides have the same ones. It has no pages, and no models that see or hear.

version=$LLAMA_SDIST
pins="$LLAMA_NPM $LLAMA_NPM_SHA256_X64 $LLAMA_NPM_SHA256_ARM64 $LLAMA_SDIST_SHA256 $(
  cat "$root/scripts/deps/llama-server"/* | sha256sum)"
tools=(pip npm cxx patchelf)

fill() {
  local bin=$1/llama-server/bin work=$2 machine hash bins source
  case $(uname -m) in
    x86_64) machine=linux-x64 hash=$LLAMA_NPM_SHA256_X64 ;;
    aarch64) machine=linux-arm64 hash=$LLAMA_NPM_SHA256_ARM64 ;;
    *) die "there is no llama.cpp for $(uname -m)" ;;
  esac
  npm_package "@node-llama-cpp/$machine" "$LLAMA_NPM" "$hash" "$work/npm"
  sdist llama-cpp-python "$LLAMA_SDIST" "$LLAMA_SDIST_SHA256" "$work/sdist" "$root/scripts/deps/llama"
  bins=$work/npm/bins/$machine source=$work/sdist/vendor/llama.cpp
  mkdir -p "$bin" "$work"/{lib,objects} "$1/share/doc/llama-server"
  cp "$bins"/libggml*.so "$work/lib/"
  cp "$bins"/libllama.v*.so "$work/lib/libllama.so"
  patchelf --set-soname libllama.so "$work/lib/libllama.so" # as llama.sh calls it
  server_objects "$source" "$work"
  link_server "$work" "$bin/llama-server"
  # ggml looks for its libraries for CPUs beside the program.
  (cd "$bin" && for f in "$work"/lib/libggml-cpu-*.so; do ln -s "../../llama/lib/${f##*/}" .; done)
  cp "$source/LICENSE" "$1/share/doc/llama-server/"
}

# server_objects SOURCE WORK: compiles the server, and of llama.cpp's common code all that it needs, into WORK/objects.
server_objects() {
  local source=$1 work=$2 here=$root/scripts/deps/llama-server common=$1/common server=$1/tools/server flags
  flags=(-std=c++17 -O2 -DNDEBUG -fno-pie -w -DGGML_BACKEND_SHARED -DGGML_SHARED -DGGML_USE_CPU -DLLAMA_SHARED -DLLAMA_SUBPROCESS
    -DCPPHTTPLIB_FORM_URL_ENCODED_PAYLOAD_MAX_LENGTH=1048576 -DCPPHTTPLIB_LISTEN_BACKLOG=512
    -DCPPHTTPLIB_REQUEST_URI_MAX_LENGTH=32768 -DCPPHTTPLIB_TCP_NODELAY=1 # as its own build has them
    "-I$here" "-I$source" "-I$source"/{common,include,ggml/include,vendor,vendor/hash,tools/mtmd,tools/server})
  # Files that share most of what they include, as one: so it takes half the time.
  as_one "$work/context.cc" "$server/server-context.cpp"
  as_one "$work/program.cc" "$server"/{server-http,server-models,server,main}.cpp
  as_one "$work/chat.cc" "$common"/{chat*,peg-parser}.cpp
  as_one "$work/server.cc" "$server"/server-{chat,common,queue,schema,stream,task}.cpp
  as_one "$work/common.cc" "$common"/{common,console,debug,fit,imatrix-loader,log,ngram-*,reasoning-budget,sampling,speculative}.cpp
  as_one "$work/arg.cc" "$common"/{arg,preset,download,hf-cache,subproc}.cpp
  as_one "$work/json.cc" "$common"/{json,jinja/value,jinja/caps,jinja/lexer,jinja/parser,jinja/runtime,jinja/string,json-schema,json-schema-to-grammar}.cpp \
    "$common"/{trie,unicode,llguidance}.cpp
  as_one "$work/tools.cc" "$server"/server-{tools,mcp}.cpp
  as_one "$work/http.cc" "$source/vendor/cpp-httplib/httplib.cpp"
  as_one "$work/parsers.cc" "$common"/parsers/*.cpp
  as_one "$work/ours.cc" "$here"/*.cc
  ls "$work"/*.cc >"$work/sources"
  # shellcheck disable=SC2016 # for the inner shell
  quietly xargs -a "$work/sources" -P "$(nproc)" -I '{}' sh -c 'c++ "$@" -c "{}" -o "$0/$(basename "{}").o"' "$work/objects" "${flags[@]}"
}

as_one() { printf '#include "%s"\n' "${@:2}" >"$1"; }

# link_server WORK PROGRAM
link_server() {
  local work=$1 program=$2 absent
  # What would see images and hear is left out: of it only what made.cc has is called for a model that does not.
  mapfile -t absent < <(nm "$work/objects"/*.o | sed -nE 's/^.* ([UT]) (.*mtmd_.*)/\2 \1/p' | sort -u |
    awk '$2 == "T" { next_to[$1] } $2 == "U" && !($1 in next_to) { print "-Wl,--defsym=" $1 "=0" }')
  # shellcheck disable=SC2016 # the linker's word
  quietly c++ -no-pie -o "$program" "$work/objects"/*.o "${absent[@]}" "$work"/lib/lib{llama,ggml.v*,ggml-base}.so -Wl,-rpath-link,"$work/lib" \
    -Wl,-rpath,'$ORIGIN/../../llama/lib' -lpthread
  strip "$program"
}
