// The guest side as a component: bench/guests/bench_component.wat or bench_async_component.wat on Wasmtime.
#include <fmt/format.h>
#include <wasinn/wasmtime.h>

#include <string_view>
#include <thread>
#include <utility>

#include "bench/component_engine.h"
#include "bench/component_values.h"
#include "bench/guest.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/handles.h"

// Made by bench/embed.cmake.
extern const unsigned char wasinn_bench_component[], wasinn_bench_async_component[];
extern const unsigned long wasinn_bench_component_size, wasinn_bench_async_component_size;

namespace wasinn::bench {
namespace {

using wasmtime::ComponentLinkerPtr;
using wasmtime::ComponentPrePtr;
using wasmtime::ComponentPtr;
using wasmtime::EnginePtr;
using wasmtime::ExportIndexPtr;
using wasmtime::StorePtr;
using wasmtime::TakeError;

class ComponentGuest final : public GuestRunner {
 public:
  // `is_async`: its functions return futures.
  ComponentGuest(wasm_engine_t* engine, Guest guest, bool is_async)
      : guest_(std::move(guest)),
        is_async_(is_async),
        store_(wasmtime_store_new(engine, guest_.get(), nullptr)),
        context_(wasmtime_store_context(store_.get())) {
    wasinn_wasmtime_component_set_up(context_, guest_.get());
  }
  ~ComponentGuest() override { guest_.Close(); }  // before the store, which has the memory

  Result<void> Start(const wasmtime_component_t* component, const wasinn_wasmtime_component_pre* pre) {
    wasmtime_component_instance_t instance;
    auto started = TakeError(Instantiate(pre, &instance));
    if (!started) return started;
    auto find = [&](std::string_view name) {
      const ExportIndexPtr index(wasmtime_component_get_export_index(component, nullptr, name.data(), name.size()));
      wasmtime_component_func_t function{};
      // the bench's guest exports it
      wasmtime_component_instance_get_func(&instance, context_, index.get(), &function);
      return function;
    };
    prepare_ = find("prepare");
    iterate_ = find("iterate");
    nothing_ = find("nothing");
    output_ = find("output");
    if (is_async_) many_ = find("many");
    return {};
  }

  // Gives the guest its tensors, and lets it load the model and compute once.
  Result<void> Prepare(const std::string& name, const std::vector<Tensor>& inputs, size_t n_outputs) {
    const Arguments arguments(name, inputs);
    if (!Call(prepare_, arguments.values()) || !Call(iterate_, {})) return std::unexpected(error());
    for (uint32_t i = 0; i < n_outputs; ++i) {
      const Value index = OfU32(i);
      Value bytes{};
      auto read = TakeError(CallFunction(output_, std::span(&index, 1), &bytes));
      if (!read) return read;
      std::vector<uint8_t>& output = outputs_.emplace_back();
      output.reserve(bytes.of.list.size);
      for (size_t k = 0; k < bytes.of.list.size; ++k) output.push_back(bytes.of.list.data[k].of.u8);
      wasmtime_component_val_delete(&bytes);
    }
    return {};
  }

  bool Run() override { return Call(iterate_, {}); }
  bool RunMany(uint32_t n) override {
    const Value times = OfU32(n);
    return is_async_ ? Call(many_, std::span(&times, 1)) : GuestRunner::RunMany(n);
  }
  bool CallNothing() override { return Call(nothing_, {}); }
  std::string error() const override { return error_; }
  wasinn_statistics Statistics() const override { return guest_.Statistics(); }
  // Copies the outputs of the first inference: all inferences have the same inputs.
  std::span<const uint8_t> output(size_t i) const override { return outputs_[i]; }

 private:
  // Calls a function that returns a u32, where 0 means success.
  bool Call(const wasmtime_component_func_t& function, std::span<const Value> args) {
    Value result{};
    wasmtime_error_t* error = CallFunction(function, args, &result);
    if (error != nullptr) [[unlikely]] {
      error_ = wasmtime::ToExit(error, nullptr).message;
      return false;
    }
    if (result.of.u32 == 0) [[likely]]
      return true;
    error_ = fmt::format("the guest got error-code {} from wasi:nn", result.of.u32 - 1);
    return false;
  }

  wasmtime_error_t* Instantiate(const wasinn_wasmtime_component_pre* pre, wasmtime_component_instance_t* instance) {
    if (!is_async_) return wasinn_wasmtime_component_pre_instantiate(pre, context_, instance);
    wasmtime_error_t* error = nullptr;
    Await(wasinn_wasmtime_component_pre_instantiate_async(pre, context_, instance, &error));
    return error;
  }

  wasmtime_error_t* CallFunction(const wasmtime_component_func_t& function, std::span<const Value> args,
                                 Value* result) {
    if (!is_async_) return wasmtime_component_func_call(&function, context_, args.data(), args.size(), result, 1);
    wasmtime_error_t* error = nullptr;
    Await(wasinn_wasmtime_component_func_call_async(&function, context_, args.data(), args.size(), result, 1, &error));
    return error;
  }

  // A quick compute is over at the first poll. What is not has its threads, and nothing wakes this one.
  static void Await(wasmtime_call_future_t* future) {
    if (future == nullptr) return;  // and there is an error
    while (!wasmtime_call_future_poll(future)) std::this_thread::yield();
    wasmtime_call_future_delete(future);
  }

  Guest guest_;
  const bool is_async_;
  const StorePtr store_;
  wasmtime_context_t* const context_;
  wasmtime_component_func_t prepare_ = {}, iterate_ = {}, nothing_ = {}, output_ = {}, many_ = {};
  std::vector<std::vector<uint8_t>> outputs_;
  std::string error_;
};

wasinn_guest* GuestOf(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

// Like an embedder with many guests: one linker, one pre-linked component.
class ComponentProgram final : public GuestProgram {
 public:
  explicit ComponentProgram(bool is_async) : is_async_(is_async), engine_(NewComponentEngine(is_async)) {}

  Result<void> Compile() {
    const ComponentLinkerPtr linker(wasmtime_component_linker_new(engine_.get()));
    const Status linked(wasinn_wasmtime_component_link(linker.get(), nullptr, GuestOf, nullptr));
    if (!linked.ok()) return std::unexpected(linked.message());
    wasm_byte_vec_t bytes;
    const unsigned char* const text = is_async_ ? wasinn_bench_async_component : wasinn_bench_component;
    const size_t size = is_async_ ? wasinn_bench_async_component_size : wasinn_bench_component_size;
    auto parsed = TakeError(wasmtime_wat2wasm(reinterpret_cast<const char*>(text), size, &bytes));
    if (!parsed) return parsed;
    wasmtime_component_t* component = nullptr;
    auto compiled = TakeError(
        wasmtime_component_new(engine_.get(), reinterpret_cast<const uint8_t*>(bytes.data), bytes.size, &component));
    wasm_byte_vec_delete(&bytes);
    if (!compiled) return compiled;
    component_.reset(component);
    wasinn_wasmtime_component_pre* pre = nullptr;
    auto ready = TakeError(wasinn_wasmtime_component_pre_new(linker.get(), component, &pre));
    pre_.reset(pre);
    return ready;
  }

  Result<std::unique_ptr<GuestRunner>> NewGuest(const Host& host, const std::string& name,
                                                const std::vector<Tensor>& inputs,
                                                const std::vector<Tensor>& outputs) const override {
    GuestOptions options;
    options.name = "bench";
    wasinn::Result<Guest> guest = Guest::Create(host, options);
    if (!guest) return std::unexpected(guest.status().message());
    auto made = std::make_unique<ComponentGuest>(engine_.get(), std::move(*guest), is_async_);
    auto started = made->Start(component_.get(), pre_.get());
    if (!started) return std::unexpected(started.error());
    auto ready = made->Prepare(name, inputs, outputs.size());
    if (!ready) return std::unexpected(ready.error());
    return made;
  }

 private:
  const bool is_async_;
  const EnginePtr engine_;
  ComponentPtr component_;
  ComponentPrePtr pre_;
};

}  // namespace

Result<std::unique_ptr<GuestProgram>> CompileComponent(bool is_async) {
  auto program = std::make_unique<ComponentProgram>(is_async);
  if (Result<void> compiled = program->Compile(); !compiled) return std::unexpected(compiled.error());
  return program;
}

}  // namespace wasinn::bench
