// The start of a component written in C or C++: link it with -nostartfiles.
//
// It stands in for the start file of wasi-libc, of which older ones (Debian's) leave it to the linker to run global
// constructors. The linker then runs them in every exported function, in cabi_realloc too, and there they trap.
#include <stddef.h>
#include <stdlib.h>

// NOLINTBEGIN(bugprone-reserved-identifier): the names of the linker and of wasi-libc
void __wasm_call_ctors(void);
void __wasm_call_dtors(void);
int __main_void(void);
_Noreturn void __wasi_proc_exit(unsigned code);

#ifdef WASI_NN_ASYNC
// For wasi_nn_async.h: only a program of WASI 0.3 may wait for asynchronous functions. Returns whether it failed.
__attribute__((export_name("wasi:cli/run@0.3.0#run"))) int run(void) {
  __wasm_call_ctors();
  const int code = __main_void();
  __wasm_call_dtors();
  return code != 0;
}
#else
__attribute__((export_name("_start"))) void _start(void) {
  __wasm_call_ctors();
  const int code = __main_void();
  __wasm_call_dtors();
  if (code != 0) __wasi_proc_exit((unsigned)code);
}
#endif
// NOLINTEND(bugprone-reserved-identifier)

// How the host gets memory of the guest for what it returns.
__attribute__((export_name("cabi_realloc"))) void* cabi_realloc(void* old, size_t old_size, size_t align, size_t size) {
  (void)old_size;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): never looked at, but it must be aligned
  if (size == 0) return (void*)align;
  void* memory = realloc(old, size);
  if (memory == NULL) abort();
  return memory;
}
