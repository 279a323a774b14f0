#include "engines/wasmtime/wake_parked.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "engines/wasm_file.h"
#include "engines/wasmtime/handles.h"

namespace wasinn::wasmtime {
namespace {

// wake(at, count): notifies all threads that wait at `count` addresses from `at` on.
constexpr char kWaker[] = R"((module
  (import "" "" (memory 0 65536 shared))
  (func (export "wake") (param $at i32) (param $count i32)
    (loop $next
      (drop (memory.atomic.notify (local.get $at) (i32.const -1)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $next (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))))
)";
constexpr uint64_t kNoDeadline = uint64_t{1} << 62;
constexpr uint64_t kAtOnce = uint64_t{1} << 18;  // bytes; a wasm page is a multiple of 4, and 64 KiB

bool Instantiate(wasm_engine_t* engine, wasmtime_context_t* context, const wasmtime_sharedmemory_t* memory,
                 wasmtime_extern_t* wake) {
  const engines::Result<std::string> wasm = engines::ParseText(kWaker, {});
  if (!wasm) return false;
  wasmtime_module_t* compiled = nullptr;
  wasmtime_error_t* error =
      wasmtime_module_new(engine, reinterpret_cast<const uint8_t*>(wasm->data()), wasm->size(), &compiled);
  const ModulePtr module(compiled);
  wasm_trap_t* trap = nullptr;
  wasmtime_instance_t instance;
  wasmtime_extern_t import;
  import.kind = WASMTIME_EXTERN_SHAREDMEMORY;
  import.of.sharedmemory = const_cast<wasmtime_sharedmemory_t*>(memory);  // the caller still owns it
  if (error == nullptr) error = wasmtime_instance_new(context, module.get(), &import, 1, &instance, &trap);
  if (trap != nullptr) wasm_trap_delete(trap);
  if (error != nullptr) wasmtime_error_delete(error);
  return error == nullptr && trap == nullptr && wasmtime_instance_export_get(context, &instance, "wake", 4, wake);
}

}  // namespace

void WakeParked(wasm_engine_t* engine, const wasmtime_sharedmemory_t* memory, const std::function<bool()>& goes_on) {
  const StorePtr store(wasmtime_store_new(engine, nullptr, nullptr));
  wasmtime_context_t* context = wasmtime_store_context(store.get());
  wasmtime_context_set_epoch_deadline(context, kNoDeadline);
  wasmtime_extern_t wake;
  if (!Instantiate(engine, context, memory, &wake)) return;
  const uint64_t size = wasmtime_sharedmemory_data_size(memory);
  for (uint64_t at = 0; at < size && goes_on(); at += kAtOnce) {
    const uint64_t count = std::min(kAtOnce, size - at) / 4;
    const wasmtime_val_t values[] = {{.kind = WASMTIME_I32, .of = {.i32 = static_cast<int32_t>(at)}},
                                     {.kind = WASMTIME_I32, .of = {.i32 = static_cast<int32_t>(count)}}};
    wasm_trap_t* trap = nullptr;
    wasmtime_error_t* error = wasmtime_func_call(context, &wake.of.func, values, 2, nullptr, 0, &trap);
    if (trap != nullptr) wasm_trap_delete(trap);
    if (error != nullptr) wasmtime_error_delete(error);
  }
}

}  // namespace wasinn::wasmtime
