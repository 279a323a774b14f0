// wasi-nn in WasmEdge's stores: every function of wasinn_functions() as a host function of its module, and with
// addresses as numbers, which the core checks.
#include <wasinn/engine.h>
#include <wasinn/wasmedge.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::wasmedge {
namespace {

constexpr uint64_t kPage = 65536;

// The data of one host function. Constant after its creation.
struct Binding {
  const wasinn_function* function;
  wasinn_guest* guest;
};

// Freed with the module. Its reference to the guest is for callers of a freed one.
struct ModuleData {
  explicit ModuleData(wasinn_guest* its_guest) : guest(wasinn_guest_retain(its_guest)) {}
  ~ModuleData() {
    wasinn_guest_release(guest);
    if (ended != nullptr) ended(user);
  }
  ModuleData(const ModuleData&) = delete;
  ModuleData& operator=(const ModuleData&) = delete;

  wasinn_guest* const guest;
  void (*ended)(void*) = nullptr;
  void* user = nullptr;
  std::vector<std::unique_ptr<Binding>> bindings;
};

struct ModuleDeleter {
  void operator()(WasmEdge_ModuleInstanceContext* module) const { WasmEdge_ModuleInstanceDelete(module); }
};
using ModulePtr = std::unique_ptr<WasmEdge_ModuleInstanceContext, ModuleDeleter>;

struct TypeDeleter {
  void operator()(WasmEdge_FunctionTypeContext* type) const { WasmEdge_FunctionTypeDelete(type); }
};
using TypePtr = std::unique_ptr<WasmEdge_FunctionTypeContext, TypeDeleter>;

WasmEdge_String Text(std::string_view text) {
  return WasmEdge_StringWrap(text.data(), static_cast<uint32_t>(text.size()));
}

bool IsShared(const WasmEdge_MemoryInstanceContext* memory) {
  return WasmEdge_MemoryTypeGetLimit(WasmEdge_MemoryInstanceGetMemoryType(memory)).Shared;
}

// The memory that the caller exports, not its first one: a guest without an export has no memory for wasi-nn. It is
// looked up at each call, which takes 0.03 of its 0.2 microseconds: data about an instance could later belong to
// another one at its address, and a memory may grow.
wasinn_memory MemoryOf(const WasmEdge_CallingFrameContext* frame) {
  wasinn_memory view = {};
  view.struct_size = sizeof view;
  const WasmEdge_ModuleInstanceContext* caller = WasmEdge_CallingFrameGetModuleInstance(frame);
  WasmEdge_MemoryInstanceContext* memory = WasmEdge_ModuleInstanceFindMemory(caller, Text(WASINN_MEMORY_NAME));
  if (memory == nullptr) return view;
  static constexpr uint8_t kNothing = 0;  // the base of an empty memory
  view.size = WasmEdge_MemoryInstanceGetPageSize(memory) * kPage;
  view.base = view.size > 0 ? WasmEdge_MemoryInstanceGetPointer(memory, 0, 1) : const_cast<uint8_t*>(&kNothing);
  view.flags = IsShared(memory) ? uint32_t{WASINN_MEMORY_SHARED} : 0;
  return view;
}

WasmEdge_Result Dispatch(void* data, const WasmEdge_CallingFrameContext* frame, const WasmEdge_Value* params,
                         WasmEdge_Value* results) {
  static_assert(offsetof(WasmEdge_Value, Value) == 0);  // and so begins with the i32
  const Binding& binding = *static_cast<const Binding*>(data);
  const wasinn_memory memory = MemoryOf(frame);
  const uint32_t error = binding.function->call(binding.guest, &memory, params, sizeof *params);
  results[0] = WasmEdge_ValueGenI32(static_cast<int32_t>(error));
  return WasmEdge_Result_Success;
}

wasinn_status* Error(wasinn_code code, const std::string& message) { return wasinn_status_new(code, message.c_str()); }

WasmEdge_FunctionInstanceContext* NewFunction(const Binding* binding) {
  const std::vector<WasmEdge_ValType> params(std::strlen(binding->function->params), WasmEdge_ValTypeGenI32());
  const WasmEdge_ValType result = WasmEdge_ValTypeGenI32();
  const TypePtr type(WasmEdge_FunctionTypeCreate(params.data(), static_cast<uint32_t>(params.size()), &result, 1));
  return WasmEdge_FunctionInstanceCreate(type.get(), Dispatch, const_cast<Binding*>(binding), 0);
}

wasinn_status* NewModule(const std::string& name, wasinn_guest* guest, void (*ended)(void*), void* user,
                         ModulePtr* out) {
  auto owned = std::make_unique<ModuleData>(guest);
  ModuleData* data = owned.get();
  ModulePtr module(WasmEdge_ModuleInstanceCreateWithData(Text(name), owned.release(),
                                                         [](void* goes) { delete static_cast<ModuleData*>(goes); }));
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  for (size_t i = 0; i < count; ++i) {
    const wasinn_function& function = *functions[i];
    if (function.module != name) continue;
    data->bindings.push_back(std::make_unique<Binding>(Binding{&function, guest}));
    WasmEdge_ModuleInstanceAddFunction(module.get(), Text(function.name), NewFunction(data->bindings.back().get()));
  }
  if (data->bindings.empty()) return Error(WASINN_ERROR_NOT_FOUND, "wasi-nn has no module '" + name + "'");
  data->ended = ended;
  data->user = user;
  *out = std::move(module);
  return nullptr;
}

// No exception may reach C: lack of memory becomes a status.
template <typename Function>
wasinn_status* Guarded(const Function& function) noexcept {
  try {
    return function();
  } catch (const std::exception& error) {
    return wasinn_status_new(WASINN_ERROR_RUNTIME, error.what());
  }
}

std::vector<std::string> ModuleNames() {
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    if (std::ranges::find(names, functions[i]->module) == names.end()) names.emplace_back(functions[i]->module);
  }
  return names;
}

}  // namespace
}  // namespace wasinn::wasmedge

struct wasinn_wasmedge {
  std::vector<wasinn::wasmedge::ModulePtr> modules;
};

using wasinn::wasmedge::Error;
using wasinn::wasmedge::Guarded;
using wasinn::wasmedge::ModuleNames;
using wasinn::wasmedge::ModulePtr;
using wasinn::wasmedge::NewModule;

extern "C" {

wasinn_status* wasinn_wasmedge_register(WasmEdge_ExecutorContext* executor, WasmEdge_StoreContext* store,
                                        wasinn_guest* guest, wasinn_wasmedge** out) {
  if (executor == nullptr || store == nullptr || guest == nullptr || out == nullptr) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "registering wasi-nn needs an executor, a store, a guest and a result");
  }
  return Guarded([&]() -> wasinn_status* {
    auto made = std::make_unique<wasinn_wasmedge>();
    for (const std::string& name : ModuleNames()) {
      ModulePtr module;
      if (wasinn_status* status = NewModule(name, guest, nullptr, nullptr, &module)) return status;
      const WasmEdge_Result result = WasmEdge_ExecutorRegisterImport(executor, store, module.get());
      if (!WasmEdge_ResultOK(result)) {
        return Error(WASINN_ERROR_INVALID_ARGUMENT,
                     "WasmEdge does not register the module " + name + ": " + WasmEdge_ResultGetMessage(result));
      }
      made->modules.push_back(std::move(module));
    }
    *out = made.release();
    return nullptr;
  });
}

void wasinn_wasmedge_unregister(wasinn_wasmedge* modules) { delete modules; }

wasinn_status* wasinn_wasmedge_module_new(const char* module, wasinn_guest* guest, void (*ended)(void* user),
                                          void* user, WasmEdge_ModuleInstanceContext** out) {
  if (module == nullptr || guest == nullptr || out == nullptr) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "a module of wasi-nn needs a name, a guest and a result");
  }
  return Guarded([&]() -> wasinn_status* {
    ModulePtr made;
    if (wasinn_status* status = NewModule(module, guest, ended, user, &made)) return status;
    *out = made.release();
    return nullptr;
  });
}

}  // extern "C"
