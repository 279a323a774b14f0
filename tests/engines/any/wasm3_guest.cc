#include "engines/any/wasm3_guest.h"

#include <utility>

namespace wasinn::testing {
namespace {

constexpr uint32_t kStackBytes = 64 << 10;

// [memory]
// Asked for at each call: a memory that grew may be elsewhere.
wasinn_memory MemoryOf(IM3Runtime runtime) {
  uint32_t size = 0;
  uint8_t* base = m3_GetMemory(runtime, &size, 0);
  return {sizeof(wasinn_memory), 0, base, size};
}
// [memory]

}  // namespace

// [dispatch]
// What wasm3 calls: arguments come in slots of 64 bits, and the result goes into the first.
const void* Wasm3Guest::Dispatch(IM3Runtime runtime, uint64_t* slots, void*, void* user) {
  const Binding& binding = *static_cast<const Binding*>(user);
  const wasinn_memory memory = MemoryOf(runtime);
  slots[0] = binding.function->call(binding.program->guest_, &memory, slots, sizeof *slots);
  return binding.program->stopped_ ? m3Err_trapAbort : m3Err_none;
}
// [dispatch]

// [link]
void Wasm3Guest::Link() {
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  bindings_.reserve(count);  // wasm3 keeps their addresses
  for (size_t i = 0; i < count; ++i) {
    const wasinn_function& function = *functions[i];
    bindings_.push_back({&function, this});
    const std::string signature = std::string("i(") + function.params + ")";
    const M3Result result =
        m3_LinkRawFunctionEx(module_, function.module, function.name, signature.c_str(), Dispatch, &bindings_.back());
    if (result != m3Err_functionLookupFailed) Must(result);  // that is one which this guest does not import
  }
}
// [link]

void Wasm3Guest::Must(M3Result result) {
  if (result != m3Err_none && error_.empty()) error_ = result;
}

// [start]
void Wasm3Guest::Start(wasinn_host* host) {
  if (wasinn_status* status = wasinn_guest_new(host, nullptr, &guest_)) {
    error_ = wasinn_status_message(status);
    wasinn_status_free(status);
    return;
  }
  environment_ = m3_NewEnvironment();
  runtime_ = m3_NewRuntime(environment_, kStackBytes, nullptr);
  IM3Module module = nullptr;
  Must(m3_ParseModule(environment_, &module, wasm_.data(), static_cast<uint32_t>(wasm_.size())));
  if (!error_.empty()) return;
  Must(m3_LoadModule(runtime_, module));
  if (!error_.empty()) return m3_FreeModule(module);
  module_ = module;  // the runtime's, from here on
  Link();
}
// [start]

Wasm3Guest::Wasm3Guest(wasinn_host* host, std::vector<uint8_t> wasm) : wasm_(std::move(wasm)) { Start(host); }

// [end]
Wasm3Guest::~Wasm3Guest() {
  if (guest_ != nullptr) wasinn_guest_close(guest_);  // no call is inside from here on
  if (runtime_ != nullptr) m3_FreeRuntime(runtime_);  // and so the memory can go
  if (environment_ != nullptr) m3_FreeEnvironment(environment_);
  wasinn_guest_free(guest_);
}

void Wasm3Guest::Stop() {
  stopped_ = true;
  wasinn_guest_close(guest_);
}
// [end]

std::string Wasm3Guest::Run(const char* function) {
  IM3Function found = nullptr;
  M3Result result = m3_FindFunction(&found, runtime_, function);
  if (result == m3Err_none) result = m3_Call(found);
  return result == m3Err_none ? "" : result;
}

}  // namespace wasinn::testing
