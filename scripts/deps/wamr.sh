# shellcheck shell=bash disable=SC2034,SC2154
# WAMR in a folder of its own: wamr/lib/libiwasm.so and wamr/include/. Built from the sources that a crate carries, about 20 CPU
# seconds, with what the crate's own build leaves out: threads, WASI, AOT. See wamr/CMakeLists.txt for how. Beside it, as they are, its
# programs that test its wasi-nn, for our tests to run: wamr/share/wasi-nn-test/.

version=$WAMR_CRATE
pins="$WAMR_CRATE $WAMR_CRATE_SHA256 $(cat "$root"/scripts/deps/wamr/* | sha256sum)"
tools=(cargo cmake simde)

fill() {
  local dir=$1/wamr work=$2 doc=$1/share/doc/wamr nn=$2/crate/wasm-micro-runtime/core/iwasm/libraries/wasi-nn
  crate wamrx-sys "$WAMR_CRATE" "$WAMR_CRATE_SHA256" "$work/crate"
  chmod -R u+w "$work/crate" # WAMR's build writes its version into its sources
  # At each trap WAMR prints the call stack, whoever runs it: the caller who wants to print it has functions for it.
  grep -rlE '_dump_call_stack\(exec_env, true, NULL, 0\);' "$work/crate/wasm-micro-runtime/core/iwasm/"{interpreter,aot} |
    xargs sed -i -E 's/[a-z_]+_dump_call_stack\(exec_env, true, NULL, 0\);/;/'
  # A guest may be ended by a thread that is not its own. Only its own can tell its call stack, for it changes meanwhile.
  sed -i -E '/^wasm_cluster_set_exception\(/,/^}/s/^    if \(has_exception\) \{/    if (has_exception \&\& exec_env->handle == os_self_thread()) {/' \
    "$work/crate/wasm-micro-runtime/core/iwasm/libraries/thread-mgr/thread_manager.c"
  grep -q 'has_exception && exec_env->handle' "$work/crate/wasm-micro-runtime/core/iwasm/libraries/thread-mgr/thread_manager.c"
  quietly cmake -G Ninja -S "$root/scripts/deps/wamr" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
    "-DWAMR_ROOT_DIR=$work/crate/wasm-micro-runtime"
  quietly cmake --build "$work/build"
  mkdir -p "$dir/lib" "$dir/include" "$dir/share/wasi-nn-test" "$doc"
  cp "$work"/build/libiwasm.so "$dir/lib/"
  cp "$work"/crate/wasm-micro-runtime/core/iwasm/include/{wasm_export,lib_export}.h "$dir/include/"
  cp "$nn"/test/{test_tensorflow,test_tensorflow_quantized,utils}.c "$nn/test/utils.h" "$nn"/include/{wasi_nn,wasi_nn_types}.h \
    "$nn/src/utils/logger.h" "$dir/share/wasi-nn-test/"
  cp "$work/crate/wasm-micro-runtime/LICENSE" "$doc/"
}
