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
  # A constructor that throws half-way would leak its members, such as a guest's messages, if a limit or a cancel ends the call there.
  sed -e 's|^\(common_json::common_json(std::initializer_list<common_json_item> items)\) {$|\1 : common_json() {|' \
    -e 's|^ *new (storage) ordered_json(ordered_json::object());$|as_json(this) = ordered_json::object();|' \
    "$source/common/json.cpp" >"$work/json.cpp"
  [ "$(grep -c ': common_json() {$\|^as_json(this) = ' "$work/json.cpp")" = 2 ] || die "llama.cpp's json.cpp is not what it was"
  counted_work "$source" "$work"
  flags=(-std=c++17 -O1 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden "-I$work" "-I$here" "-I$source"/{common,include,ggml/include,vendor})
  # Files that share most of what they include, as one: so it takes half the time.
  printf '#include "%s"\n' "$source/common"/parsers/*.cpp >"$work/parsers.cc"
  printf '#include "%s"\n' "$source/common"/{chat*,peg-parser}.cpp >"$work/chat.cc"
  printf '#include "%s"\n' "$work/json.cpp" "$source/common"/{jinja/{value,caps,lexer,parser,runtime,string},json-schema,trie,unicode}.cpp \
    "$work/json-schema-to-grammar.cpp" >"$work/json.cc"
  printf '#include "%s"\n' "$work/llama-grammar.cpp" "$here/matcher.cc" >"$work/grammar.cc"
  ls "$work"/*.cc "$here"/{common,limits,stand_ins}.cc >"$work/sources"
  # shellcheck disable=SC2016 # for the inner shell
  quietly xargs -a "$work/sources" -P "$(nproc)" -I '{}' sh -c 'c++ "$@" -c "{}" -o "$0/$(basename "{}").o"' "$work" "${flags[@]}"
  echo '{ global: wasinn_llama_*; local: *; };' >"$work/exports"
  quietly c++ -shared -static-libstdc++ -static-libgcc "-Wl,--version-script=$work/exports" -Wl,-z,defs "$work"/*.o \
    -o "$work/libwasinn_llama_common.so"
  strip "$work/libwasinn_llama_common.so"
}

# counted_work SOURCE WORK: what llama.cpp makes of schemas and grammars, with its loops counted that allocate nothing. A grammar's errors are
# thrown, not printed, and a pattern that has no grammar is one.
counted_work() {
  local source=$1 work=$2
  cp "$source/src/llama-grammar.h" "$work/"
  sed -e '1i #include "limits.h"' \
    -e 's|^ *while (_rules.find(esc_name + std::to_string(i)) .*{$|&wasinn_llama::Work(64);|' \
    -e 's|^ *_warnings.push_back("pattern " + pattern + " is not supported (" + err.what() + "), accepting any string");$|_errors.push_back("pattern " + pattern + " is not supported: " + err.what());|' \
    -e 's|^.* add_component = \[&\].*{$|&wasinn_llama::Work(16);|' \
    "$source/common/json-schema-to-grammar.cpp" >"$work/json-schema-to-grammar.cpp"
  sed -e '1i #include "grammar_stand_ins.h"' -e '/^#include "llama-\(impl\|vocab\|sampler\).h"$/d' \
    -e 's|^ *fprintf(stderr, "%s: error parsing grammar: .*$|throw;|' \
    -e 's|^ *if (min_times > MAX_REPETITION_THRESHOLD) {$|if (max_times < min_times) throw std::runtime_error("expecting the smaller number first");\n&|' \
    -e 's|^    while (!todo.empty()) {$|&wasinn_llama::Work(1 + new_stacks.size() * (1 + todo.back().size() / 16));|' \
    -e 's|^                while (!llama_grammar_is_end_of_sequence(subpos)) {$|&wasinn_llama::Work(1);|' \
    -e 's|^    llama_grammar_candidates next_candidates;$|wasinn_llama::Work(candidates.size() * (4 + (llama_grammar_match_char(stack_pos, 0).second - stack_pos) / 2));\n&|' \
    -e 's|^    auto match = llama_grammar_match_char(pos, chr);$|&wasinn_llama::Work(match.second - pos);|' \
    -e 's|^            for (auto & surviving_stack : current_stacks) {$|&wasinn_llama::Work(1 + stacks_new.size() * (1 + surviving_stack.size() / 16));|' \
    -e 's|^    (\*rules_in_progress)\[rule_index\] = true;$|if ((*rules_visited)[rule_index]) return false;\n&wasinn_llama::Work(1 + rules[rule_index].size());|' \
    "$source/src/llama-grammar.cpp" >"$work/llama-grammar.cpp"
  [ "$(cat "$work"/{json-schema-to-grammar,llama-grammar}.cpp | grep -cE 'wasinn_llama::Work|^throw;$|smaller number first|^_errors.push_back')" = 11 ] ||
    die "llama.cpp's grammars are not what they were"
}
