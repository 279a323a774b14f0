// wasi-nn in WAMR's runtime: every function of wasinn_functions() under its module and name, in the raw calling
// convention, and with addresses as numbers: had they WAMR's letter for pointers, a bad one would end the guest.
#include <wasinn/wamr.h>

#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "clusters.h"
#include "large_stack.h"
#include "natives.h"

namespace wasinn::wamr {
namespace {

// What one host function needs at a call. Const once registered.
struct Binding {
  uint32_t (*call)(wasinn_guest*, const wasinn_memory*, const uint64_t*);
  Clusters* clusters;
  size_t n_params;
  bool runs_framework;  // and may need its stack
  std::string signature;
};

wasinn_memory MemoryOf(const Cluster& cluster, wasm_module_inst_t instance) {
  wasinn_memory view = {};
  view.struct_size = sizeof view;
  const wasm_memory_inst_t memory = cluster.exports_memory ? wasm_runtime_lookup_memory(instance, "memory") : nullptr;
  if (memory == nullptr) return view;
  static constexpr uint8_t kNothing = 0;  // where an empty memory begins, which WAMR has nowhere
  auto* base = static_cast<uint8_t*>(wasm_memory_get_base_address(memory));
  view.base = base != nullptr ? base : const_cast<uint8_t*>(&kNothing);
  view.size = base != nullptr ? wasm_memory_get_cur_page_count(memory) * wasm_memory_get_bytes_per_page(memory) : 0;
  view.flags = wasm_memory_get_shared(memory) ? uint32_t{WASINN_MEMORY_SHARED} : 0;
  view.id[0] = reinterpret_cast<uintptr_t>(memory);
  return view;
}

uint32_t NoGuest(const Binding& binding, const uint64_t* args) {
  const wasinn_memory none = {};
  return binding.call(nullptr, &none, args);
}

// What may take long is watched, and gets the stack that it may need.
uint32_t CallFramework(const Binding& binding, Cluster& cluster, const wasinn_memory& memory, const uint64_t* args) {
  if (StackLeft() >= kStackOfFrameworks) return binding.call(cluster.guest, &memory, args);
  uint32_t result = 0;
  const bool made =
      binding.clusters->stacks().Run(cluster.stacks, [&] { result = binding.call(cluster.guest, &memory, args); });
  return made ? result : NoGuest(binding, args);
}

uint32_t Call(const Binding& binding, wasm_module_inst_t instance, const uint64_t* args) {
  Cluster* cluster = binding.clusters->Of(instance);
  for (; cluster != nullptr; cluster = binding.clusters->Join(instance)) {
    if (!binding.runs_framework && !cluster->counts_calls) {
      const wasinn_memory memory = MemoryOf(*cluster, instance);
      return binding.call(cluster->guest, &memory, args);
    }
    const CallInside inside(*cluster, instance);
    if (inside.is_anothers()) continue;
    const wasinn_memory memory = MemoryOf(*cluster, instance);
    return binding.runs_framework ? CallFramework(binding, *cluster, memory, args)
                                  : binding.call(cluster->guest, &memory, args);
  }
  return NoGuest(binding, args);
}

// No exception may reach WAMR, which is C: those of memory become the error that a guest gets which wasinn does not know.
uint32_t Guarded(const Binding& binding, wasm_module_inst_t instance, const uint64_t* args) noexcept {
  try {
    return Call(binding, instance, args);
  } catch (const std::exception&) {
    return NoGuest(binding, args);
  }
}

void Dispatch(wasm_exec_env_t env, uint64_t* values) {
  const Binding& binding = *static_cast<const Binding*>(wasm_runtime_get_function_attachment(env));
  const wasm_module_inst_t instance = wasm_runtime_get_module_inst(env);
  // WAMR ends a guest whose stack is exhausted by a jump over whatever is on it, as soon as that is touched: in the
  // middle of our functions or the framework's, with their locks held.
  if (StackLeft() < kStackOfCalls) {
    wasm_runtime_set_exception(instance, "native stack overflow");
    return;
  }
  uint64_t args[WASINN_MAX_PARAMS];
  for (size_t i = 0; i < binding.n_params; ++i) args[i] = static_cast<uint32_t>(values[i]);
  const uint32_t result = Guarded(binding, instance, args);
  std::memcpy(values, &result, sizeof result);
}

// The same for WAMR's usual convention: registers hold as many parameters as there are here, whatever the function has.
constexpr size_t kMaxPlainParams = 5;
uint32_t DispatchPlain(wasm_exec_env_t env, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) {
  uint64_t values[kMaxPlainParams] = {a, b, c, d, e};
  Dispatch(env, values);
  return static_cast<uint32_t>(values[0]);
}

bool RunsFramework(std::string_view name) {
  // get_output: a language model tells how long its prompt is.
  return name.starts_with("load") || name.starts_with("compute") || name.starts_with("get_output") ||
         name == "init_execution_context";
}

}  // namespace
}  // namespace wasinn::wamr

// WAMR keeps pointers into all of this until it is told to forget.
struct wasinn_wamr {
  wasinn_wamr(wasinn_host* host, wasinn_wamr_guest_of guest_of, void* user) : clusters(host, guest_of, user) {}
  ~wasinn_wamr() {
    for (const std::string& module : registered) {
      wasm_runtime_unregister_natives(module.c_str(), symbols[module].data());
    }
  }

  void Bind(const wasinn_function& function) {
    const std::string params(function.params);
    bindings.push_back(
        {function.call, &clusters, params.size(), wasinn::wamr::RunsFramework(function.name), "(" + params + ")i"});
    wasinn::wamr::Binding& binding = bindings.back();
    symbols[function.module].push_back(
        {function.name, reinterpret_cast<void*>(wasinn::wamr::Dispatch), binding.signature.c_str(), &binding});
  }

  wasinn_status* Register() {
    size_t count = 0;
    const wasinn_function* functions = wasinn_functions(&count);
    bindings.reserve(count);  // WAMR knows their addresses
    for (size_t i = 0; i < count; ++i) Bind(functions[i]);
    if (wasinn_status* status = clusters.Open()) return status;
    for (auto& [module, list] : symbols) {
      if (!wasm_runtime_register_natives_raw(module.c_str(), list.data(), static_cast<uint32_t>(list.size()))) {
        return wasinn_status_new(WASINN_RUNTIME_ERROR, ("WAMR does not register the module " + module).c_str());
      }
      registered.push_back(module);
    }
    return nullptr;
  }

  wasinn::wamr::Clusters clusters;
  std::vector<wasinn::wamr::Binding> bindings;
  std::map<std::string, std::vector<NativeSymbol>> symbols;
  std::vector<std::string> registered;
};

namespace wasinn::wamr {
namespace {

wasinn_status* Register(wasinn_host* host, wasinn_wamr_guest_of guest_of, void* user, wasinn_wamr** out) {
  if (out == nullptr || (host == nullptr && guest_of == nullptr)) {
    return wasinn_status_new(WASINN_INVALID_ARGUMENT,
                             "registering wasi-nn needs a way to the guests and a place for the result");
  }
  try {
    auto wamr = std::make_unique<wasinn_wamr>(host, guest_of, user);
    if (wasinn_status* status = wamr->Register()) return status;
    *out = wamr.release();
    return nullptr;
  } catch (const std::exception& error) {  // of memory
    return wasinn_status_new(WASINN_RUNTIME_ERROR, error.what());
  }
}

}  // namespace

std::vector<NativeSymbol> PlainNatives(const wasinn_wamr* wamr, const char* module) {
  std::vector<NativeSymbol> natives;
  const auto found = wamr->symbols.find(module);
  if (found == wamr->symbols.end()) return natives;
  for (NativeSymbol symbol : found->second) {
    if (static_cast<const Binding*>(symbol.attachment)->n_params > kMaxPlainParams) continue;
    symbol.func_ptr = reinterpret_cast<void*>(DispatchPlain);
    natives.push_back(symbol);
  }
  return natives;
}

}  // namespace wasinn::wamr

extern "C" {

wasinn_status* wasinn_wamr_register(wasinn_host* host, wasinn_wamr** out) {
  return wasinn::wamr::Register(host, nullptr, nullptr, out);
}

wasinn_status* wasinn_wamr_register_guests(wasinn_wamr_guest_of guest_of, void* user, wasinn_wamr** out) {
  return wasinn::wamr::Register(nullptr, guest_of, user, out);
}

wasinn_status* wasinn_wamr_attach(wasinn_wamr* wamr, wasm_module_inst_t instance) {
  wasinn::wamr::StackLeft();  // it looks up once for each thread: now, while there is stack for it
  try {
    if (wamr->clusters.Of(instance) != nullptr) return nullptr;
  } catch (const std::exception& error) {  // of memory
    return wasinn_status_new(WASINN_RUNTIME_ERROR, error.what());
  }
  return wasinn_status_new(WASINN_RUNTIME_ERROR, "there is no wasinn_guest for this instance, and none can be made");
}

void wasinn_wamr_unregister(wasinn_wamr* wamr) { delete wamr; }

}  // extern "C"
