// The memory of a host function's caller. C++17 without its library, like everything that is installed as source.
#ifndef WASINN_ENGINES_WASMTIME_CALLER_MEMORY_H_
#define WASINN_ENGINES_WASMTIME_CALLER_MEMORY_H_

#include <wasinn/engine.h>
#include <wasmtime.h>

namespace wasinn::wasmtime {

// The calling instance's memory during one call.
class CallerMemory {
 public:
  CallerMemory(wasmtime_caller_t* caller, wasmtime_context_t* context, const wasmtime_extern_t* known) {
    if (known == nullptr &&
        wasmtime_caller_export_get(caller, WASINN_MEMORY_NAME, sizeof WASINN_MEMORY_NAME - 1, &export_)) {
      known = &export_;
      release_ = export_.kind != WASMTIME_EXTERN_MEMORY;  // which is an index into the store
    }
    if (known != nullptr && known->kind == WASMTIME_EXTERN_MEMORY) {
      View(context, known->of.memory);
    } else if (known != nullptr && known->kind == WASMTIME_EXTERN_SHAREDMEMORY) {
      View(known->of.sharedmemory);
    } else {
      view_ = {};
    }
  }
  ~CallerMemory() {
    if (release_) wasmtime_extern_delete(&export_);
  }
  CallerMemory(const CallerMemory&) = delete;
  CallerMemory& operator=(const CallerMemory&) = delete;

  const wasinn_memory* view() const { return &view_; }

 private:
  void View(wasmtime_context_t* context, const wasmtime_memory_t& memory) {
    view_.struct_size = sizeof view_;
    view_.flags = 0;
    view_.base = wasmtime_memory_data(context, &memory);
    view_.size = wasmtime_memory_data_size(context, &memory);
  }

  void View(const wasmtime_sharedmemory_t* memory) {
    view_.struct_size = sizeof view_;
    view_.flags = WASINN_MEMORY_SHARED;
    view_.base = wasmtime_sharedmemory_data(memory);
    view_.size = wasmtime_sharedmemory_data_size(memory);
  }

  wasinn_memory view_;
  wasmtime_extern_t export_;
  bool release_ = false;
};

}  // namespace wasinn::wasmtime

#endif  // WASINN_ENGINES_WASMTIME_CALLER_MEMORY_H_
