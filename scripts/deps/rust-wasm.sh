# shellcheck shell=bash disable=SC2034,SC2154
# A cargo for guests in Rust: component-tools/bin/cargo-wasm, which builds for wasm32-wasip1. No registry has Rust's standard
# library for that target: where the compiler brings none (rustup can: `rustup target add wasm32-wasip1`), it is built
# from the sources beside the compiler, against Debian's wasi-libc.

wasm_target=wasm32-wasip1
rustc=$(rust_for_wasm || true)
version=$("${rustc:-false}" --version 2>/dev/null | cut -d ' ' -f 2)
version=${version:-unknown}
pins="$rustc $("${rustc:-false}" --version --verbose 2>/dev/null) $LLVM"
tools=(rust-wasm)

# Debian's wasi-libc leaves it to the linker to call constructors, which it does not do for programs with bindings of WIT.
start_file='
void __wasm_call_ctors(void);
void __wasm_call_dtors(void);
int __main_void(void);
_Noreturn void __wasi_proc_exit(unsigned code);
__attribute__((export_name("_start"))) void _start(void) {
  __wasm_call_ctors();
  int code = __main_void();
  __wasm_call_dtors();
  if (code != 0) __wasi_proc_exit(code);
}'

# Debian's wasi-libc has no threads, and Rust's library calls them: as with rustup's, a program links, and a thread that it
# spawns is an error ("operation not supported").
no_threads='
enum { ENOTSUP = 58 };
int pthread_attr_init(void *attr) { return 0; }
int pthread_attr_destroy(void *attr) { return 0; }
int pthread_attr_setstacksize(void *attr, unsigned long bytes) { return 0; }
int pthread_create(void *thread, const void *attr, void *(*start)(void *), void *arg) { return ENOTSUP; }
int pthread_join(unsigned long thread, void **result) { return ENOTSUP; }
int pthread_detach(unsigned long thread) { return ENOTSUP; }'

# A program that uses the whole library leaves its crates in the folder of its dependencies. With what tests are run by.
build_std() {
  local work=$1 lib=$2/lib/rustlib/$wasm_target/lib
  mkdir -p "$work/std/src" "$lib/self-contained"
  touch "$work/std/src/lib.rs"
  printf '[package]\nname = "none"\nedition = "2021"\n[workspace]\n' >"$work/std/Cargo.toml"
  # With bitcode, which lto = true takes; Cargo leaves it out where a build itself has no lto.
  (cd "$work/std" && RUSTC_BOOTSTRAP=1 RUSTC=$rustc RUSTFLAGS=-Cembed-bitcode=yes quietly \
    "${rustc%/*}/cargo" build --release --target "$wasm_target" -Zbuild-std=std,panic_abort,test)
  cp "$work/std/target/$wasm_target"/release/deps/*.rlib "$lib/"
  rm "$lib"/libnone-*.rlib
  cp /usr/lib/wasm32-wasi/{crt1-reactor.o,libc.a} "$lib/self-contained/"
  "clang-$LLVM" --target=wasm32-wasi -O2 -x c - -c -o "$lib/self-contained/crt1-command.o" <<<"$start_file"
  "clang-$LLVM" --target=wasm32-wasi -O2 -x c - -c -o "$2/no_threads.o" <<<"$no_threads"
}

fill() {
  local work=$2 tree=$1/component-tools flags=''
  mkdir -p "$tree/bin"
  if [ ! -d "$("$rustc" --print sysroot)/lib/rustlib/$wasm_target" ]; then
    say "rust-wasm: compiling Rust's standard library, about 2 CPU minutes"
    build_std "$work" "$tree/rust"
    # shellcheck disable=SC2016 # for the script to expand
    flags='--sysroot $tools/rust -C link-self-contained=yes -C link-arg=$tools/rust/no_threads.o -C linker=wasm-ld-'$LLVM
  fi
  cat >"$tree/bin/cargo-wasm" <<SCRIPT
#!/bin/sh
tools=\$(dirname "\$(readlink -f "\$0")")/..
export RUSTC='$rustc' CARGO_BUILD_TARGET=$wasm_target CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS="$flags"
exec '${rustc%/*}/cargo' "\$@"
SCRIPT
  chmod +x "$tree/bin/cargo-wasm"
}
