// Guests on Wasmtime whose host leaves inputs in guest memory (policy.inputs): what they may try with memory that is
// another's, that has gone, or that other threads write.
#include <gtest/gtest.h>
#include <wasinn/wasmtime.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "hostile/run.h"

namespace wasinn::testing {
namespace {

template <auto kDelete>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    kDelete(object);
  }
};
template <typename T, auto kDelete>
using Owned = std::unique_ptr<T, Deleter<kDelete>>;

enum : uint32_t { kDone = 0, kRefused = 1 };
constexpr uint32_t kFloats = 1, kTensor = 128, kData = 1024, kOutput = 4096, kWritten = 64;
using Numbers = std::vector<float>;

// A test cannot go on without these.
void Must(const std::string& error) {
  if (error.empty()) return;
  ADD_FAILURE() << error;
  std::abort();
}
void Must(const Status& status) { Must(status.ok() ? std::string() : std::string(status.message())); }
void Must(wasmtime_error_t* error, wasm_trap_t* trap = nullptr) {
  if (error == nullptr && trap == nullptr) return;
  wasm_name_t message;
  error != nullptr ? wasmtime_error_message(error, &message) : wasm_trap_message(trap, &message);
  Must(std::string(message.data, message.size));
}

wasinn_guest* GuestOf(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

// Each function of wasi_ephemeral_nn that the tests call, wrapped, for a call comes from an instance, and exported
// under its own name.
std::string PuppetText(bool is_shared) {
  const std::pair<std::string, size_t> kFunctions[] = {
      {"load_by_name", 3}, {"init_execution_context", 2}, {"set_input", 3}, {"compute", 1}, {"get_output", 5}};
  std::string imports, functions;
  for (const auto& [name, count] : kFunctions) {
    std::string params, arguments;
    for (size_t i = 0; i < count; ++i) {
      params += " i32";
      arguments += " (local.get " + std::to_string(i) + ")";
    }
    const std::string type = " (param" + params + ") (result i32)";
    imports += "(import \"wasi_ephemeral_nn\" \"" + name + "\" (func $" + name + type + "))";
    functions += "(func (export \"" + name + "\")" + type + " (call $" + name + arguments + "))";
  }
  const std::string memory = is_shared ? R"((import "env" "memory" (memory 1 1 shared)) (export "memory" (memory 0)))"
                                       : R"((memory (export "memory") 1))";
  return "(module " + imports + memory + functions + ")";
}

// One engine, one guest, and instances of it without a will of their own: the test calls their functions and uses their
// memory.
class HostileByReference : public ::testing::Test {
 protected:
  HostileByReference() {
    Config config;
    Must(config.LoadToml("policy.inputs = 'by-reference'\n"));
    host_ = std::make_unique<Result<Host>>(Host::Create(config, [](LogLevel, const char*) {}));
    Must(host_->status());
    ModelOptions dynamic;  // computes the positive parts of n×m floats
    dynamic.path = TinyPath("dynamic");
    Must((*host_)->AddModel("dynamic", dynamic));
    guest_ = std::make_unique<Result<Guest>>(Guest::Create(**host_));
    Must(guest_->status());
    wasm_config_t* threads = wasm_config_new();
    wasmtime_config_wasm_threads_set(threads, true);
    wasmtime_config_shared_memory_set(threads, true);
    engine_.reset(wasm_engine_new_with_config(threads));
  }
  uint64_t Copies() const { return (*guest_)->Statistics().copies_in; }

  class Puppet {
   public:
    explicit Puppet(const HostileByReference& test, bool is_shared = false)
        : store_(wasmtime_store_new(test.engine_.get(), (*test.guest_)->get(), nullptr)) {
      wasm_byte_vec_t wasm;
      const std::string text = PuppetText(is_shared);
      Must(wasmtime_wat2wasm(text.data(), text.size(), &wasm));
      wasmtime_module_t* module = nullptr;
      Must(wasmtime_module_new(test.engine_.get(), reinterpret_cast<const uint8_t*>(wasm.data), wasm.size, &module));
      wasm_byte_vec_delete(&wasm);
      const Owned<wasmtime_module_t, wasmtime_module_delete> owned(module);
      const Owned<wasmtime_linker_t, wasmtime_linker_delete> linker(wasmtime_linker_new(test.engine_.get()));
      Must(Status(wasinn_wasmtime_link(linker.get(), (*test.host_)->get(), GuestOf, nullptr)));
      if (is_shared) DefineSharedMemory(test.engine_.get(), linker.get());
      wasm_trap_t* trap = nullptr;
      wasmtime_error_t* error = wasmtime_linker_instantiate(linker.get(), context(), module, &instance_, &trap);
      Must(error, trap);
    }

    uint32_t Call(const std::string& function, const std::vector<uint32_t>& args) {
      std::vector<wasmtime_val_t> values(args.size());
      for (size_t i = 0; i < args.size(); ++i) {
        values[i].kind = WASMTIME_I32;
        values[i].of.i32 = static_cast<int32_t>(args[i]);
      }
      wasmtime_val_t result{};
      wasm_trap_t* trap = nullptr;
      const wasmtime_extern_t found = Export(function);
      wasmtime_error_t* error =
          wasmtime_func_call(context(), &found.of.func, values.data(), values.size(), &result, 1, &trap);
      Must(error, trap);
      return static_cast<uint32_t>(result.of.i32);
    }
    uint8_t* memory() {
      if (shared_ != nullptr) return wasmtime_sharedmemory_data(shared_.get());
      const wasmtime_extern_t found = Export("memory");
      return wasmtime_memory_data(context(), &found.of.memory);
    }
    template <typename T>
    void Put(uint32_t address, const std::vector<T>& values) {
      std::memcpy(memory() + address, values.data(), values.size() * sizeof(T));
    }
    uint32_t NewContext() {
      std::memcpy(memory(), "dynamic", 7);
      EXPECT_EQ(Call("load_by_name", {0, 7, kWritten}), kDone);
      EXPECT_EQ(Call("init_execution_context", {Read(kWritten), kWritten}), kDone);
      return Read(kWritten);
    }
    // Two floats at kData.
    uint32_t Set(uint32_t context) {
      Put<uint32_t>(kTensor, {kTensor + 20, 2, kFloats, kData, 8, 1, 2});
      return Call("set_input", {context, 0, kTensor});
    }
    Numbers Compute(uint32_t context) {
      if (Call("compute", {context}) != kDone) return {};
      if (Call("get_output", {context, 0, kOutput, 4096, kWritten}) != kDone) return {};
      Numbers output(2);
      std::memcpy(output.data(), memory() + kOutput, 8);
      return output;
    }

   private:
    wasmtime_context_t* context() { return wasmtime_store_context(store_.get()); }
    uint32_t Read(uint32_t address) {
      uint32_t value = 0;
      std::memcpy(&value, memory() + address, sizeof(value));
      return value;
    }
    wasmtime_extern_t Export(const std::string& name) {
      wasmtime_extern_t found;
      const bool there = wasmtime_instance_export_get(context(), &instance_, name.data(), name.size(), &found);
      Must(there ? "" : "no export " + name);
      return found;
    }
    void DefineSharedMemory(wasm_engine_t* engine, wasmtime_linker_t* linker) {
      wasm_memorytype_t* type = nullptr;
      wasmtime_sharedmemory_t* memory = nullptr;
      Must(wasmtime_memorytype_new(1, true, 1, false, true, 16, &type));
      Must(wasmtime_sharedmemory_new(engine, type, &memory));
      wasm_memorytype_delete(type);
      shared_.reset(memory);
      wasmtime_extern_t item;
      item.kind = WASMTIME_EXTERN_SHAREDMEMORY;
      item.of.sharedmemory = memory;
      Must(wasmtime_linker_define(linker, context(), "env", 3, "memory", 6, &item));
    }

    Owned<wasmtime_sharedmemory_t, wasmtime_sharedmemory_delete> shared_;
    Owned<wasmtime_store_t, wasmtime_store_delete> store_;
    wasmtime_instance_t instance_;
  };

 private:
  std::unique_ptr<Result<Host>> host_;
  std::unique_ptr<Result<Guest>> guest_;
  Owned<wasm_engine_t, wasm_engine_delete> engine_;
};

TEST_F(HostileByReference, TheMemoryOfAnotherInstanceIsNotRead) {
  Puppet lender(*this), other(*this);
  const uint32_t context = lender.NewContext();
  lender.Put<float>(kData, {1, 2});
  other.Put<float>(kData, {8, 9});
  ASSERT_EQ(lender.Set(context), kDone);
  EXPECT_EQ(Copies(), 0u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(other.Call("compute", {context}), kRefused);
  EXPECT_EQ(other.Call("get_output", {context, 0, kOutput, 8, kWritten}), kRefused);
  lender.Put<float>(kData, {3, 4});
  EXPECT_EQ(lender.Compute(context), Numbers({3, 4}));
  // Whoever sets it anew owns it.
  ASSERT_EQ(other.Set(context), kDone);
  EXPECT_EQ(lender.Call("compute", {context}), kRefused);
  EXPECT_EQ(other.Compute(context), Numbers({8, 9}));
  EXPECT_EQ(Copies(), 0u);
}

// Another instance may have its place.
TEST_F(HostileByReference, TheMemoryOfAnInstanceThatHasGoneIsNotRead) {
  Puppet stays(*this);
  const uint32_t context = stays.NewContext();
  for (int i = 0; i < 20; ++i) {
    {
      Puppet goes(*this);
      goes.Put<float>(kData, {1, 2});
      ASSERT_EQ(goes.Set(context), kDone);
      if (i % 2 == 0) {
        EXPECT_EQ(goes.Compute(context), Numbers({1, 2}));
      }
    }
    Puppet next(*this);
    EXPECT_EQ(next.Call("compute", {context}), kRefused);
    EXPECT_EQ(stays.Call("compute", {context}), kRefused);
  }
}

// What other threads of the guest may write is copied, so that no framework sees it change.
TEST_F(HostileByReference, SharedMemoryIsCopied) {
  Puppet program(*this, true);
  const uint32_t context = program.NewContext();
  program.Put<float>(kData, {1, 2});
  ASSERT_EQ(program.Set(context), kDone);
  EXPECT_EQ(Copies(), 1u);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    auto* place = reinterpret_cast<uint32_t*>(program.memory() + kData);
    for (uint32_t i = 0; !stop; ++i) std::atomic_ref<uint32_t>(*place).store(i, std::memory_order_relaxed);
  });
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(program.Compute(context), Numbers({1, 2}));
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace wasinn::testing
