# shellcheck shell=bash disable=SC2034,SC2154
# What llama.cpp reads images and sounds with: llama/lib/libwasinn_llama_mtmd.so, compiled here from llama.cpp's sources and crates (90 CPU seconds).

# shellcheck source=llama.sh
. "$root/scripts/deps/llama.sh"

pins+=$(cat "$root/scripts/deps/llama.sh" "$root/scripts/deps/llama/media"/{Cargo.*,src/*} | sha256sum)
tools+=(rust)

fill() {
  fetch_llama "$2/llama" "$2"
  put_media "$1" "$2" "$2/llama"
}

# put_media TREE WORK LLAMA: the library, linked with those in LLAMA/lib.
put_media() {
  local lib=$1/llama/lib doc=$1/share/doc/llama
  mkdir -p "$lib" "$doc"
  media_code "$2/media" "$doc"
  mtmd_code "$2/sdist/vendor/llama.cpp" "$2/mtmd" "$3"
  mv "$2/mtmd/libwasinn_llama_mtmd.so" "$lib/"
  beside_itself "$lib/libwasinn_llama_mtmd.so"
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
