# shellcheck shell=bash disable=SC2034,SC2154
# WAMR's compiler, wamr/bin/wamrc: built from the sources that a crate carries, about 55 CPU seconds, over the LLVM whose library
# Debian's clang has anyway. Only LLVM's headers are fetched: its development package would install 350 MB. See
# wamr-aot/CMakeLists.txt for how.

version=$WAMR_CRATE
pins="$WAMR_CRATE $WAMR_CRATE_SHA256 $LLVM_HEADERS $(cat "$root"/scripts/deps/wamr-aot/* | sha256sum)"
tools=(cargo cmake cxx llvm)

fill() {
  local dir=$1/wamr work=$2 include=$2/llvm/usr/include
  crate wamrx-sys "$WAMR_CRATE" "$WAMR_CRATE_SHA256" "$work/crate"
  chmod -R u+w "$work/crate" # WAMR's build writes its version into its sources
  deb_from_suite "$LLVM_SUITE" "llvm-$LLVM-dev" "$LLVM_HEADERS" "$work/llvm"
  quietly cmake -G Ninja -S "$root/scripts/deps/wamr-aot" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_CXX_FLAGS_RELEASE=-O1 "-DWAMR_ROOT_DIR=$work/crate/wasm-micro-runtime" \
    "-DLLVM_VERSION=$LLVM" "-DLLVM_INCLUDE_DIRS=$include/llvm-$LLVM;$include/llvm-c-$LLVM"
  quietly cmake --build "$work/build"
  mkdir -p "$dir/bin"
  cp "$work/build/wamrc" "$dir/bin/"
}
