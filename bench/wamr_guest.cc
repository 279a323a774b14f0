// The guest side as a core module on WAMR's fast interpreter.
#include <wasinn/wamr.h>

#include <utility>

#include "bench/module_guest.h"

namespace wasinn::bench {
namespace {

constexpr uint32_t kStack = 64 << 10;

// WAMR's signal stack, which each thread needs that calls a guest.
void SetUpThread() {
  struct Thread {
    Thread() : ours(!wasm_runtime_thread_env_inited() && wasm_runtime_init_thread_env()) {}
    ~Thread() {
      if (ours) wasm_runtime_destroy_thread_env();
    }
    const bool ours;
  };
  thread_local const Thread thread;
}

class WamrGuest final : public ModuleGuest {
 public:
  using ModuleGuest::ModuleGuest;
  ~WamrGuest() override {
    guest_.Close();  // before the instance, which has the memory
    if (env_ != nullptr) wasm_runtime_destroy_exec_env(env_);
    if (instance_ != nullptr) wasm_runtime_deinstantiate(instance_);
  }

  Result<void> Start(wasm_module_t module) {
    SetUpThread();
    char error[128] = {};
    instance_ = wasm_runtime_instantiate(module, kStack, 0, error, sizeof error);
    if (instance_ == nullptr) return std::unexpected(error);
    wasm_runtime_set_custom_data(instance_, guest_.get());
    env_ = wasm_runtime_create_exec_env(instance_, kStack);
    if (env_ == nullptr) return std::unexpected("WAMR has no memory for a guest");
    for (int i = 0; i < kFunctions; ++i) functions_[i] = wasm_runtime_lookup_function(instance_, kNames[i]);
    return {};
  }

 private:
  bool Enter(Function function, std::initializer_list<uint32_t> args) override {
    SetUpThread();
    uint32_t values[kMaxArgs];
    uint32_t n = 0;
    for (const uint32_t arg : args) values[n++] = arg;
    if (!wasm_runtime_call_wasm(env_, functions_[function], n, values)) [[unlikely]] {
      error_ = wasm_runtime_get_exception(instance_);
      return false;
    }
    result_ = values[0];
    return true;
  }
  uint8_t* Memory() const override {
    return static_cast<uint8_t*>(wasm_memory_get_base_address(wasm_runtime_get_default_memory(instance_)));
  }

  wasm_module_inst_t instance_ = nullptr;
  wasm_exec_env_t env_ = nullptr;
  wasm_function_inst_t functions_[kFunctions] = {};
};

wasinn_guest* GuestOf(wasm_module_inst_t instance, void*) {
  return static_cast<wasinn_guest*>(wasm_runtime_get_custom_data(instance));
}

class WamrProgram final : public GuestProgram {
 public:
  explicit WamrProgram(const ModuleBytes& module) : bytes_(module.data, module.data + module.size) {}
  ~WamrProgram() override {
    if (module_ != nullptr) wasm_runtime_unload(module_);
    wasinn_wamr_unregister(nn_);
    if (started_) wasm_runtime_destroy();
  }

  Result<void> Compile() {
    started_ = wasm_runtime_init();
    if (!started_) return std::unexpected("WAMR does not start");
    wasm_runtime_set_log_level(WASM_LOG_LEVEL_FATAL);
    const Status registered(wasinn_wamr_register_guests(GuestOf, nullptr, &nn_));
    if (!registered.ok()) return std::unexpected(registered.message());
    char error[128] = {};
    module_ = wasm_runtime_load(bytes_.data(), static_cast<uint32_t>(bytes_.size()), error, sizeof error);
    if (module_ == nullptr) return std::unexpected(error);
    return {};
  }

  Result<std::unique_ptr<GuestRunner>> NewGuest(const Host& host, const std::string& name,
                                                const std::vector<Tensor>& inputs,
                                                const std::vector<Tensor>& outputs) const override {
    Result<Guest> guest = NewBenchGuest(host);
    if (!guest) return std::unexpected(guest.error());
    auto made = std::make_unique<WamrGuest>(std::move(*guest));
    if (Result<void> started = made->Start(module_); !started) return std::unexpected(started.error());
    if (Result<void> ready = made->Prepare(name, inputs, outputs); !ready) return std::unexpected(ready.error());
    return made;
  }

 private:
  std::vector<uint8_t> bytes_;  // WAMR writes them
  bool started_ = false;
  wasinn_wamr* nn_ = nullptr;
  wasm_module_t module_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<GuestProgram>> CompileModuleForWamr(const ModuleBytes& module) {
  auto program = std::make_unique<WamrProgram>(module);
  if (Result<void> compiled = program->Compile(); !compiled) return std::unexpected(compiled.error());
  return program;
}

}  // namespace wasinn::bench
