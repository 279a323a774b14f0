// The guest side as a core module.
#include "cli/bench/guest.h"

#include <fmt/format.h>
#include <wasinn/wasmtime.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "cli/bench/guest_types.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/handles.h"

// Made by bench/embed.cmake.
extern const unsigned char wasinn_bench_guest[];
extern const unsigned long wasinn_bench_guest_size;

namespace wasinn::cli::bench {
namespace {

using wasmtime::EnginePtr;
using wasmtime::InstancePrePtr;
using wasmtime::LinkerPtr;
using wasmtime::ModulePtr;
using wasmtime::StorePtr;
using wasmtime::TakeError;

constexpr Dtype kWitxTypes[] = {WASINN_F16, WASINN_F32, WASINN_F64, WASINN_U8, WASINN_I32, WASINN_I64};

class WasmtimeGuest final : public GuestRunner {
 public:
  WasmtimeGuest(wasm_engine_t* engine, Process process)
      : process_(std::move(process)),
        store_(wasmtime_store_new(engine, &guest_, nullptr)),
        context_(wasmtime_store_context(store_.get())) {}
  ~WasmtimeGuest() override { process_.Close(); }  // before the store, which has the memory

  Result<void> Start(const wasmtime_instance_pre_t* instance_pre) {
    wasmtime_instance_t instance;
    wasm_trap_t* trap = nullptr;
    wasmtime_error_t* error = wasmtime_instance_pre_instantiate(instance_pre, context_, &instance, &trap);
    if (error != nullptr || trap != nullptr) return std::unexpected(wasmtime::ToExit(error, trap).message);
    auto find = [&](std::string_view name) {
      wasmtime_extern_t item;
      wasmtime_instance_export_get(context_, &instance, name.data(), name.size(), &item);  // our guest has it
      return item.of;
    };
    memory_ = find("memory").memory;
    guest_ = {process_.get(), &memory_};
    reserve_ = find("reserve").func;
    prepare_ = find("prepare").func;
    iterate_ = find("iterate").func;
    nothing_ = find("nothing").func;
    return {};
  }

  // Gives the guest its tensors, and lets it load the model.
  Result<void> Prepare(const std::string& name, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
    std::vector<uint32_t> in, out;  // arrays of bench_input and bench_output
    for (const Tensor& input : inputs) {
      const auto [type, dims] = DescribeForGuest(input, kWitxTypes);
      const uint32_t dims_at = Put(dims.data(), dims.size() * sizeof(uint32_t));
      const uint32_t data_at = Put(input.data.bytes().data(), input.data.size());
      in.insert(in.end(), {input.index, dims_at, static_cast<uint32_t>(dims.size()), type, data_at,
                           static_cast<uint32_t>(input.data.size())});
    }
    for (const Tensor& output : outputs) {
      outputs_.push_back({Put(nullptr, output.data.size()), output.data.size()});
      out.insert(out.end(), {output.index, outputs_.back().address, static_cast<uint32_t>(output.data.size()), 0});
    }
    const uint32_t name_at = Put(name.data(), name.size());
    const uint32_t in_at = Put(in.data(), in.size() * sizeof(uint32_t));
    const uint32_t out_at = Put(out.data(), out.size() * sizeof(uint32_t));
    if (full_) return std::unexpected("the tensors are more than a guest can hold");
    const bool prepared =
        Call(prepare_, {name_at, static_cast<uint32_t>(name.size()), in_at, static_cast<uint32_t>(inputs.size()),
                        out_at, static_cast<uint32_t>(outputs.size())});
    if (!prepared) return std::unexpected(error());
    return {};
  }

  bool Run() override { return Call(iterate_, {}); }
  bool CallNothing() override { return Call(nothing_, {}); }
  std::string error() const override { return error_; }
  wasinn_process_stats Statistics() const override { return process_.Statistics(); }
  std::span<const uint8_t> output(size_t i) const override {
    return {wasmtime_memory_data(context_, &memory_) + outputs_[i].address, outputs_[i].size};
  }

 private:
  struct Place {
    uint32_t address;
    size_t size;
  };

  // Calls a function of i32s that returns one: 0 is success. The value stays in result_.
  bool Call(const wasmtime_func_t& function, std::initializer_list<uint32_t> args) {
    wasmtime_val_raw_t values[8];
    size_t n = 0;
    for (const uint32_t arg : args) values[n++].i64 = arg;
    wasm_trap_t* trap = nullptr;
    wasmtime_error_t* error = wasmtime_func_call_unchecked(context_, &function, values, n > 0 ? n : 1, &trap);
    if (error != nullptr || trap != nullptr) [[unlikely]] {
      error_ = wasmtime::ToExit(error, trap).message;
      return false;
    }
    result_ = static_cast<uint32_t>(values[0].i32);
    if (result_ == 0) [[likely]]
      return true;
    error_ = fmt::format("the guest got errno {} from wasi-nn", result_);
    return false;
  }

  // Copies bytes, or zeros, to a new place in the guest's memory.
  uint32_t Put(const void* bytes, size_t size) {
    Call(reserve_, {static_cast<uint32_t>(size)});  // returns an address, so it looks like a failure
    full_ = full_ || result_ == 0 || size > UINT32_MAX;
    if (!full_ && bytes != nullptr && size > 0) {
      std::memcpy(wasmtime_memory_data(context_, &memory_) + result_, bytes, size);
    }
    return result_;
  }

  Process process_;
  wasinn_wasmtime_guest guest_ = {};
  const StorePtr store_;
  wasmtime_context_t* const context_;
  wasmtime_memory_t memory_ = {};
  wasmtime_func_t reserve_ = {}, prepare_ = {}, iterate_ = {}, nothing_ = {};
  std::vector<Place> outputs_;
  uint32_t result_ = 0;
  bool full_ = false;
  std::string error_;
};

wasinn_wasmtime_guest GuestOf(wasmtime_context_t* context, void*) {
  return *static_cast<wasinn_wasmtime_guest*>(wasmtime_context_get_data(context));
}

// As an embedder with many guests does it: one linker, one pre-linked module.
class WasmtimeProgram final : public GuestProgram {
 public:
  Result<void> Compile() {
    wasmtime_module_t* module = nullptr;
    Result<void> compiled =
        TakeError(wasmtime_module_new(engine_.get(), wasinn_bench_guest, wasinn_bench_guest_size, &module));
    if (!compiled) return compiled;
    const ModulePtr owned(module);
    const LinkerPtr linker(wasmtime_linker_new(engine_.get()));
    const Status linked(wasinn_wasmtime_link_guests(linker.get(), nullptr, GuestOf, nullptr));
    if (!linked.ok()) return std::unexpected(linked.message());
    wasmtime_instance_pre_t* instance_pre = nullptr;
    Result<void> ready = TakeError(wasmtime_linker_instantiate_pre(linker.get(), module, &instance_pre));
    instance_pre_.reset(instance_pre);
    return ready;
  }

  Result<std::unique_ptr<GuestRunner>> NewGuest(const Host& host, const std::string& name,
                                                const std::vector<Tensor>& inputs,
                                                const std::vector<Tensor>& outputs) const override {
    ProcessOptions options;
    options.name = "bench";
    wasinn::Result<Process> process = Process::Create(host, options);
    if (!process) return std::unexpected(process.status().message());
    auto guest = std::make_unique<WasmtimeGuest>(engine_.get(), std::move(*process));
    if (Result<void> started = guest->Start(instance_pre_.get()); !started) return std::unexpected(started.error());
    if (Result<void> ready = guest->Prepare(name, inputs, outputs); !ready) return std::unexpected(ready.error());
    return guest;
  }

 private:
  const EnginePtr engine_{wasm_engine_new()};
  InstancePrePtr instance_pre_;
};

}  // namespace

Result<std::unique_ptr<GuestProgram>> CompileModule() {
  if (wasinn_bench_guest_size == 0) {
    return std::unexpected("this wasinn was built without a compiler for guests, so it has none to run");
  }
  auto program = std::make_unique<WasmtimeProgram>();
  if (Result<void> compiled = program->Compile(); !compiled) return std::unexpected(compiled.error());
  return program;
}

}  // namespace wasinn::cli::bench
