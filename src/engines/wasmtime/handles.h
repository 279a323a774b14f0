// Owners of the C API's objects.
#pragma once

#include <wasi.h>
#include <wasinn/wasmtime.h>

#include <memory>

namespace wasinn::wasmtime {

template <auto kDelete>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    kDelete(object);
  }
};

using EnginePtr = std::unique_ptr<wasm_engine_t, Deleter<wasm_engine_delete>>;
using LinkerPtr = std::unique_ptr<wasmtime_linker_t, Deleter<wasmtime_linker_delete>>;
using ModulePtr = std::unique_ptr<wasmtime_module_t, Deleter<wasmtime_module_delete>>;
using InstancePrePtr = std::unique_ptr<wasmtime_instance_pre_t, Deleter<wasmtime_instance_pre_delete>>;
using SharedMemoryPtr = std::unique_ptr<wasmtime_sharedmemory_t, Deleter<wasmtime_sharedmemory_delete>>;
using StorePtr = std::unique_ptr<wasmtime_store_t, Deleter<wasmtime_store_delete>>;
using ComponentPtr = std::unique_ptr<wasmtime_component_t, Deleter<wasmtime_component_delete>>;
using ComponentLinkerPtr = std::unique_ptr<wasmtime_component_linker_t, Deleter<wasmtime_component_linker_delete>>;
using ComponentPrePtr = std::unique_ptr<wasinn_wasmtime_component_pre, Deleter<wasinn_wasmtime_component_pre_delete>>;
using ExportIndexPtr =
    std::unique_ptr<wasmtime_component_export_index_t, Deleter<wasmtime_component_export_index_delete>>;
using WasiConfigPtr = std::unique_ptr<wasi_config_t, Deleter<wasi_config_delete>>;

}  // namespace wasinn::wasmtime
