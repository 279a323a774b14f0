// wasi-nn in WAMR's runtime: every function of wasinn_functions() under its module and name, in the raw calling
// convention, and with addresses as numbers: with WAMR's letter for pointers, a bad address would end the guest.
#include <wasinn/engine.h>
#include <wasinn/wamr.h>

#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "clusters.h"
#include "natives.h"

namespace wasinn::wamr {
namespace {

constexpr size_t kMaxStack = size_t{8} << 20;       // APP_THREAD_STACK_SIZE_MAX of WAMR, which protects what is below
constexpr size_t kStackOfCalls = size_t{48} << 10;  // what any function of wasinn may need, several times

// The data of one host function. Constant after its registration.
struct Binding {
  const wasinn_function* function;
  Clusters* clusters;
  std::string signature;
  NativeSymbol symbol;
};

wasinn_memory MemoryOf(const Cluster& cluster, wasm_module_inst_t instance) {
  wasinn_memory view = {};
  view.struct_size = sizeof view;
  if (!cluster.exports_memory) return view;  // WAMR would find one under any name
  const wasm_memory_inst_t memory = wasm_runtime_lookup_memory(instance, WASINN_MEMORY_NAME);
  if (memory == nullptr) return view;
  static constexpr uint8_t kNothing = 0;  // the base of an empty memory, for which WAMR has none
  view.base = static_cast<uint8_t*>(wasm_memory_get_base_address(memory));
  view.size = wasm_memory_get_cur_page_count(memory) * wasm_memory_get_bytes_per_page(memory);
  if (view.base == nullptr) view.base = const_cast<uint8_t*>(&kNothing);
  view.flags = wasm_memory_get_shared(memory) ? uint32_t{WASINN_MEMORY_SHARED} : 0;
  return view;
}

// WAMR ends a guest by marking its instances and then waiting for its threads: a thread inside a long call must be
// called back.
bool HasEnded(void* instance) {
  return wasm_runtime_get_exception(static_cast<wasm_module_inst_t>(instance)) != nullptr;
}

uint32_t Call(const Binding& binding, wasm_module_inst_t instance, const uint64_t* values, size_t stack_left) noexcept {
  wasinn_call call = {};
  call.struct_size = sizeof call;
  call.function = binding.function;
  call.args = values;
  call.stride = sizeof *values;
  call.stack_left = stack_left;
  call.ended = HasEnded;
  call.caller = instance;
  try {
    while (Cluster* cluster = binding.clusters->Of(instance)) {
      const wasinn_memory memory = MemoryOf(*cluster, instance);
      call.guest = cluster->guest;
      call.memory = &memory;
      const uint32_t result = wasinn_guest_call(&call);
      if (!call.refused) cluster->Lives();
      if (!call.refused || !cluster->ended) return result;  // else that was another guest
    }
  } catch (const std::exception&) {  // no memory; no exception may reach WAMR, which is C
  }
  return binding.function->call(nullptr, nullptr, nullptr, 0);
}

}  // namespace

void Dispatch(wasm_exec_env_t env, uint64_t* values) {
  const Binding& binding = *static_cast<const Binding*>(wasm_runtime_get_function_attachment(env));
  const wasm_module_inst_t instance = wasm_runtime_get_module_inst(env);
  // When a guest's stack is exhausted, WAMR ends the guest by a jump over the frames on it, as soon as its end is
  // touched: even in the middle of wasinn's or the framework's functions, with their locks held.
  const size_t stack_left = wasinn_stack_left(kMaxStack);
  if (stack_left < kStackOfCalls) return wasm_runtime_set_exception(instance, "native stack overflow");
  const uint32_t result = Call(binding, instance, values, stack_left);
  std::memcpy(values, &result, sizeof result);
}

}  // namespace wasinn::wamr

using wasinn::wamr::Binding;

// WAMR keeps pointers into all of this until it is unregistered.
struct wasinn_wamr {
  wasinn_wamr(wasinn_host* host, wasinn_wamr_guest_of guest_of, void* user) : clusters(host, guest_of, user) {}
  ~wasinn_wamr() {
    for (auto& binding : bindings) wasm_runtime_unregister_natives(binding.function->module, &binding.symbol);
  }

  wasinn_status* Register() {
    if (wasinn_status* status = clusters.Open()) return status;
    size_t count = 0;
    const wasinn_function* const* functions = wasinn_functions(&count);
    bindings.reserve(count);  // WAMR knows their addresses
    for (size_t i = 0; i < count; ++i) {
      const wasinn_function& function = *functions[i];
      Binding& binding = bindings.emplace_back(&function, &clusters, "(" + std::string(function.params) + ")i");
      binding.symbol = {function.name, reinterpret_cast<void*>(wasinn::wamr::Dispatch), binding.signature.c_str(),
                        &binding};
      if (wasm_runtime_register_natives_raw(function.module, &binding.symbol, 1)) continue;
      bindings.pop_back();
      const std::string name = std::string(function.module) + "::" + function.name;
      return wasinn_status_new(WASINN_ERROR_RUNTIME, ("WAMR does not register the function " + name).c_str());
    }
    return nullptr;
  }

  static wasinn_status* New(wasinn_host* host, wasinn_wamr_guest_of guest_of, void* user, wasinn_wamr** out) {
    if (out == nullptr || (host == nullptr && guest_of == nullptr)) {
      return wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT,
                               "registering wasi-nn needs a way to the guests and a place for the result");
    }
    return Guarded([&] {
      auto wamr = std::make_unique<wasinn_wamr>(host, guest_of, user);
      wasinn_status* status = wamr->Register();
      if (status == nullptr) *out = wamr.release();
      return status;
    });
  }

  // No exception may reach C: lack of memory becomes a status.
  template <typename Function>
  static wasinn_status* Guarded(const Function& function) noexcept {
    try {
      return function();
    } catch (const std::exception& error) {
      return wasinn_status_new(WASINN_ERROR_RUNTIME, error.what());
    }
  }

  wasinn::wamr::Clusters clusters;
  std::vector<Binding> bindings;
};

std::vector<NativeSymbol> wasinn::wamr::NativesOf(const wasinn_wamr* wamr, std::string_view module) {
  std::vector<NativeSymbol> natives;
  for (const Binding& binding : wamr->bindings) {
    if (binding.function->module == module) natives.push_back(binding.symbol);
  }
  return natives;
}

wasinn_status* wasinn_wamr_register(wasinn_host* host, wasinn_wamr** out) {
  return wasinn_wamr::New(host, nullptr, nullptr, out);
}

wasinn_status* wasinn_wamr_register_guests(wasinn_wamr_guest_of guest_of, void* user, wasinn_wamr** out) {
  return wasinn_wamr::New(nullptr, guest_of, user, out);
}

wasinn_status* wasinn_wamr_attach(wasinn_wamr* wamr, wasm_module_inst_t instance) {
  wasinn_stack_left(0);  // it asks the system once for each thread: now, while there is stack for it
  return wasinn_wamr::Guarded([&]() -> wasinn_status* {
    if (wamr->clusters.Of(instance) != nullptr) return nullptr;
    return wasinn_status_new(WASINN_ERROR_RUNTIME, "there is no wasinn_guest for this instance, and none can be made");
  });
}

void wasinn_wamr_unregister(wasinn_wamr* wamr) { delete wamr; }
