// A guest without a will of its own: the test calls wasi_ephemeral_nn through its exports, and reads and writes its
// memory. With WITH_THREADS it could have threads.
#include <wasi_nn.h>

#define EXPORT(name) __attribute__((export_name(name)))

#ifdef WITH_THREADS
__attribute__((import_module("wasi"), import_name("thread-spawn"))) int32_t thread_spawn(void* arg);
EXPORT("spawn") int32_t spawn(void) { return thread_spawn(0); }
EXPORT("wasi_thread_start") void wasi_thread_start(int32_t id, void* arg) { (void)id, (void)arg; }
#endif

// 4 KiB for the test.
EXPORT("scratch") void* scratch(void) {
  static _Alignas(16) char memory[4096];
  return memory;
}
EXPORT("grow") int32_t grow(uint32_t pages) { return (int32_t)__builtin_wasm_memory_grow(0, pages); }

EXPORT("load_by_name") uint32_t load_by_name(const char* name, uint32_t size, wasi_nn_graph* out) {
  return wasi_nn_load_by_name(name, size, out);
}
EXPORT("init_execution_context") uint32_t init_execution_context(wasi_nn_graph graph, wasi_nn_context* out) {
  return wasi_nn_init_execution_context(graph, out);
}
EXPORT("set_input") uint32_t set_input(wasi_nn_context context, uint32_t index, const wasi_nn_tensor* tensor) {
  return wasi_nn_set_input(context, index, tensor);
}
EXPORT("compute") uint32_t compute(wasi_nn_context context) { return wasi_nn_compute(context); }
EXPORT("get_output")
uint32_t get_output(wasi_nn_context context, uint32_t index, uint8_t* out, uint32_t size, uint32_t* written) {
  return wasi_nn_get_output(context, index, out, size, written);
}
