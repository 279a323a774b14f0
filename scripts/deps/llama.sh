# shellcheck shell=bash disable=SC2034,SC2154
# llama.cpp in a folder of its own: llama/lib/libllama.so with ggml's libraries, one for each kind of CPU, llama/include/, and
# llama/lib/libwasinn_llama_common.so and libwasinn_llama_mtmd.so, compiled here from llama.cpp's sources and crates (150 CPU seconds).

version=$LLAMA_NPM
pins="$LLAMA_NPM $LLAMA_NPM_SHA256_X64 $LLAMA_NPM_SHA256_ARM64 $LLAMA_SDIST $LLAMA_SDIST_SHA256 $(
  cat "$root/scripts/deps/llama"/*.{cc,h,py} "$root/scripts/deps/llama/media"/{Cargo.*,src/*} | sha256sum)"
tools=(pip npm cxx patchelf rust)

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
  cp "$root/scripts/deps/llama/wasinn_llama_mtmd.h" "$source"/include/llama.h "$source"/ggml/include/{ggml,ggml-alloc,ggml-backend,ggml-cpu,ggml-opt,gguf}.h "$dir/include/"
  cp "$source/LICENSE" "$doc/"
  common_code "$source" "$work/common"
  mv "$work/common/libwasinn_llama_common.so" "$dir/lib/"
  media_code "$work/media" "$doc"
  mtmd_code "$source" "$work/mtmd" "$dir"
  mv "$work/mtmd/libwasinn_llama_mtmd.so" "$dir/lib/"
  beside_itself "$dir/lib/libwasinn_llama_mtmd.so"
  cp "$source"/tools/mtmd/mtmd.h "$dir/include/"
  cp "$root/scripts/deps/llama/wasinn_llama_common.h" "$dir/include/"
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
  ls "$work"/*.cc "$source/common"/{json*,trie,unicode,jinja/*}.cpp "$here"/{common,limits,stand_ins}.cc >"$work/sources"
  # shellcheck disable=SC2016 # for the inner shell
  quietly xargs -a "$work/sources" -P "$(nproc)" -I '{}' sh -c 'c++ "$@" -c "{}" -o "$0/$(basename "{}").o"' "$work" "${flags[@]}"
  echo '{ global: wasinn_llama_*; local: *; };' >"$work/exports"
  quietly c++ -shared -static-libstdc++ -static-libgcc "-Wl,--version-script=$work/exports" -Wl,-z,defs "$work"/*.o \
    -o "$work/libwasinn_llama_common.so"
  strip "$work/libwasinn_llama_common.so"
}

# media_code WORK DOC: compiles the decoders of images and sounds, which are crates, and collects their licences.
media_code() {
  local work=$1 doc=$2 crate=$root/scripts/deps/llama/media target=${CARGO_TARGET_DIR:-$1} cargo manifest f
  cargo=$(cargo_at_least "$RUST_MIN")
  quietly env PATH="${cargo%/*}:$PATH" "$cargo" build --release --locked --manifest-path "$crate/Cargo.toml" --target-dir "$target"
  mkdir -p "$work"
  [ "$target" = "$work" ] || install -D "$target/release/libwasinn_media.a" "$work/release/libwasinn_media.a"
  PATH=${cargo%/*}:$PATH "$cargo" metadata --quiet --locked --format-version 1 --manifest-path "$crate/Cargo.toml" |
    grep -oE '"manifest_path":"[^"]*/Cargo.toml"' | cut -d '"' -f 4 | sort | grep -v "^$crate/" | while read -r manifest; do
    for f in "${manifest%/*}"/LICENSE*; do
      [ ! -f "$f" ] || printf '==== %s: %s ====\n\n%s\n\n' "$(basename "${manifest%/*}")" "${f##*/}" "$(cat "$f")"
    done
  done >"$doc/CRATES-LICENSES.txt"
}

# mtmd_code SOURCE WORK DIR: compiles llama.cpp's mtmd with our C functions around it and the decoders in it. The C++ library is in it, as in
# the other one; llama.cpp's own libraries are those in DIR.
mtmd_code() {
  local source=$1 work=$2 dir=$3 here=$root/scripts/deps/llama flags held
  mkdir -p "$work"
  # Which threads compute, and whether they go on, is ours to say.
  sed -e '1i void wasinn_llama_prepare(struct ggml_backend* cpu, int threads);' \
    -e 's|ggml_backend_set_n_threads_fn(ctx->backend_cpu, params->n_threads)|wasinn_llama_prepare(ctx->backend_cpu, params->n_threads)|' \
    "$source/tools/mtmd/clip.cpp" >"$work/clip.cc"
  [ "$(grep -c 'wasinn_llama_prepare' "$work/clip.cc")" = 2 ] || die "clip.cpp is not what it was"
  sed -E 's|^( *)4,( *// n_threads)$|\11,\2|; s|const int n_threads = 4;|const int n_threads = 1;|' "$source/tools/mtmd/mtmd-audio.cpp" >"$work/audio.cc"
  [ "$(diff "$source/tools/mtmd/mtmd-audio.cpp" "$work/audio.cc" | grep -c '^>')" = 3 ] || die "mtmd-audio.cpp is not what it was"
  # Where its constructor fails, as with a projector of another model, what it has loaded goes again.
  held='struct held { clip_ctx * ctx = nullptr; held() = default; held(const held \&) = delete; ~held() { clip_free(ctx); }'
  held+=' void operator=(clip_ctx * made) { ctx = made; } operator clip_ctx *() const { return ctx; } } ctx_v, ctx_a, ctx_gen_a;'
  sed -e "s|^    struct clip_ctx \* ctx_v; // vision\$|    $held|" -e '/^    struct clip_ctx \* ctx_\(a\|gen_a\); \/\/ audio$/d' \
    -e '/^        clip_free(ctx_\(a\|v\|gen_a\));$/d' "$source/tools/mtmd/mtmd.cpp" >"$work/mtmd_held.cc"
  [ "$(diff "$source/tools/mtmd/mtmd.cpp" "$work/mtmd_held.cc" | grep -c '^<')" = 6 ] || die "mtmd.cpp is not what it was"
  printf '#include "%s"\n' "$source"/tools/mtmd/models/*.cpp >"$work/models.cc"
  flags=(-std=c++17 -O2 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -DLLAMA_SHARED -iquote "$here" "-I$source"/{tools/mtmd,include,ggml/include})
  ls "$work"/*.cc "$source"/tools/mtmd/mtmd-image.cpp "$here"/{limits,mtmd}.cc >"$work/sources"
  # shellcheck disable=SC2016 # for the inner shell
  quietly xargs -a "$work/sources" -P "$(nproc)" -I '{}' sh -c 'c++ "$@" -c "{}" -o "$0/$(basename "{}").o"' "$work" "${flags[@]}"
  echo '{ global: wasinn_llama_mtmd_*; wasinn_llama_projector_*; wasinn_llama_media_*; mtmd_*; local: *; };' >"$work/exports"
  quietly c++ -shared -static-libstdc++ -static-libgcc "-Wl,--version-script=$work/exports" -Wl,-z,defs -Wl,--gc-sections "$work"/*.o \
    "$work/../media/release/libwasinn_media.a" "$dir"/lib/lib{llama,ggml.v*,ggml-base}.so "-Wl,-rpath-link,$dir/lib" \
    -o "$work/libwasinn_llama_mtmd.so"
  strip "$work/libwasinn_llama_mtmd.so"
}
