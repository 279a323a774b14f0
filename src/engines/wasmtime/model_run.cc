#include "engines/guest_model.h"

#include <wasinn/wasmtime.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "engines/guest_run.h"
#include "engines/memories.h"
#include "engines/not_served.h"
#include "engines/wasm_file.h"
#include "engines/wasm_sections.h"
#include "engines/wasmtime/bytes.h"
#include "engines/wasmtime/compile.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/model_abi.h"
#include "engines/wasmtime/new_engine.h"
#include "engines/wasmtime/store_run.h"
#include "engines/wasmtime/wasi.h"

namespace wasinn::wasmtime {
namespace {

using engines::EngineOptions;
using engines::Exit;
using engines::MemoryType;
using engines::ModelAnswer;
using engines::ModelRequest;
using engines::ModelTensor;
using engines::Result;
using engines::RunOptions;

using ModelPtr = std::unique_ptr<wasinn_component_model, Deleter<wasinn_component_model_delete>>;
using AnswerPtr = std::shared_ptr<const wasinn_model_answer>;

// By the position in wasinn:serve's enum.
constexpr std::array kDtypes = {WASINN_DTYPE_BOOL, WASINN_DTYPE_U8,     WASINN_DTYPE_U16,  WASINN_DTYPE_U32,
                                WASINN_DTYPE_U64,  WASINN_DTYPE_I8,     WASINN_DTYPE_I16,  WASINN_DTYPE_I32,
                                WASINN_DTYPE_I64,  WASINN_DTYPE_F16,    WASINN_DTYPE_BF16, WASINN_DTYPE_F32,
                                WASINN_DTYPE_F64,  WASINN_DTYPE_UNKNOWN};

uint32_t PositionOf(wasinn_dtype dtype) {
  return static_cast<uint32_t>(std::ranges::find(kDtypes, dtype) - kDtypes.begin());
}

wasinn_guest* GuestOfModel(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

wasinn_model_tensor TensorToC(const ModelTensor& tensor) {
  return {ToC(tensor.name),
          PositionOf(tensor.dtype),
          tensor.shape.data(),
          tensor.shape.size(),
          {tensor.data.data(), tensor.data.size()}};
}

ModelTensor TensorFromC(const wasinn_model_tensor& tensor) {
  return {
      FromC(tensor.name), kDtypes[tensor.datatype], {tensor.shape, tensor.rank}, {tensor.data.data, tensor.data.size}};
}

// The `user` of the call's functions.
struct Calling {
  const engines::GuestRun& run;
  const ModelRequest* request;  // NULL: nothing is charged

  static bool IsInterrupted(void* user) { return static_cast<const Calling*>(user)->run.interrupted(); }
  static bool Charge(void* user, size_t bytes) {
    const ModelRequest* const request = static_cast<const Calling*>(user)->request;
    return request == nullptr || request->charge(bytes);
  }
};

class ComponentModel final : public engines::GuestModel {
 public:
  ComponentModel(EnginePtr engine, ModelPtr model, LimitedCode code)
      : engine_(std::move(engine)), model_(std::move(model)), code_(std::move(code)) {}

  Exit Describe(const RunOptions& options, uint64_t most_bytes, engines::ModelIos& ios) const override {
    AnswerPtr answer;
    const Exit exit = Run(options, {.most_bytes = most_bytes}, nullptr, wasinn_component_model_describe, answer);
    if (answer == nullptr) return exit;
    const std::span all(answer->tensors, answer->n_tensors);
    for (const wasinn_model_tensor& tensor : all) {
      auto& of = ios.inputs.size() < answer->n_inputs ? ios.inputs : ios.outputs;
      const auto* shape = reinterpret_cast<const int64_t*>(tensor.shape);
      of.push_back({std::string(FromC(tensor.name)), kDtypes[tensor.datatype], {shape, shape + tensor.rank}});
    }
    return exit;
  }

  Exit Infer(const RunOptions& options, const ModelRequest& request, ModelAnswer& answer) const override {
    std::vector<wasinn_model_tensor> inputs;
    std::vector<wasinn_bytes> outputs;
    inputs.reserve(request.inputs.size());
    outputs.reserve(request.outputs.size());
    for (const ModelTensor& input : request.inputs) inputs.push_back(TensorToC(input));
    for (const std::string_view output : request.outputs) outputs.push_back(ToC(output));
    wasinn_model_call call = {.most_bytes = request.most_bytes,
                              .inputs = inputs.data(),
                              .n_inputs = inputs.size(),
                              .outputs = outputs.data(),
                              .n_outputs = outputs.size()};
    AnswerPtr given;
    Exit exit = Run(options, call, &request, wasinn_component_model_infer, given);
    if (given == nullptr) return exit;
    using Kind = ModelAnswer::Kind;
    answer.kind = std::array{Kind::kTensors, Kind::kInvalidArgument, Kind::kFailed}.at(given->refusal);
    answer.message = FromC(given->message);
    for (const wasinn_model_tensor& one : std::span(given->tensors, given->n_tensors)) {
      answer.tensors.push_back(TensorFromC(one));
    }
    answer.owner = std::move(given);
    return exit;
  }

 private:
  using Function = decltype(wasinn_component_model_infer);

  Exit Run(const RunOptions& options, const wasinn_model_call& asked, const ModelRequest* request, Function* function,
           AnswerPtr& answer) const {
    Exit exit = RunInStore(engine_, code_, options, [&](wasmtime_context_t* context, const engines::GuestRun& run) {
      Calling calling{run, request};
      wasinn_model_call call = asked;
      call.struct_size = sizeof call;
      call.user = &calling;
      call.is_interrupted = Calling::IsInterrupted;
      call.charge = Calling::Charge;
      return RunIn(context, options, call, function, answer);
    });
    if (exit.kind != Exit::Kind::kExited) answer = nullptr;
    return exit;
  }

  Exit RunIn(wasmtime_context_t* context, const RunOptions& options, const wasinn_model_call& call, Function* function,
             AnswerPtr& answer) const {
    if (Result<void> wasi = SetWasi(context, options); !wasi) return Exit::Failed(wasi.error());
    wasinn_wasmtime_component_set_up(context, options.guest);
    wasinn_model_answer* given = nullptr;
    wasmtime_error_t* error = function(model_.get(), context, &call, &given);
    if (given != nullptr)
      answer = AnswerPtr(
          given, [](auto* one) { wasinn_component_model_answer_delete(const_cast<wasinn_model_answer*>(one)); });
    return ToExit(error);
  }

  EnginePtr engine_;
  ModelPtr model_;
  LimitedCode code_;
};

class WasmtimeModelEngine final : public engines::ModelEngine {
 public:
  static Result<std::unique_ptr<engines::ModelEngine>> New(const EngineOptions& options) {
    Result<EnginePtr> engine = NewEngine(options);
    if (!engine) return std::unexpected(engine.error());
    std::unique_ptr<WasmtimeModelEngine> made(new WasmtimeModelEngine(options, std::move(*engine)));
    if (Result<void> defined = made->Define(); !defined) return std::unexpected(defined.error());
    return made;
  }

  Result<std::unique_ptr<engines::GuestModel>> Load(const std::string& path) const override {
    auto loaded = LoadFile(path);
    if (!loaded) return std::unexpected(path + ": " + loaded.error());
    return loaded;
  }

 private:
  WasmtimeModelEngine(const EngineOptions& options, EnginePtr engine)
      : options_(options),
        engine_(std::move(engine)),
        linker_(wasmtime_component_linker_new(engine_.get())),
        compiler_(options) {}

  Result<void> Define() {
    // First, because it shows whether this Wasmtime can serve components.
    auto linked = TakeStatus(wasinn_wasmtime_component_link(linker_.get(), nullptr, GuestOfModel, nullptr));
    if (!linked) return linked;
    if (wasinn_component_link_model == nullptr) {
      return std::unexpected(
          "this Wasmtime library cannot serve components as models; docs/components.md explains how to get one that "
          "can");
    }
    return TakeError(wasinn_component_link_model(linker_.get()));
  }

  Result<std::unique_ptr<engines::GuestModel>> LoadFile(const std::string& path) const {
    Result<engines::WasmFile> file = engines::ReadWasmFile(path);
    if (!file) return std::unexpected(file.error());
    if (file->kind == engines::WasmKind::kText) {
      Result<std::string> wasm = engines::ParseText(file->bytes, options_.compile);
      if (!wasm) return std::unexpected(wasm.error());
      file->bytes = std::move(*wasm);
    }
    if (engines::KindOf(file->bytes) != engines::WasmKind::kComponent) return NoComponent();
    if (auto why = engines::FirstNotServed(file->bytes, {})) return std::unexpected(*why);  // compiling may take long
    std::vector<MemoryType> memories = engines::MemoriesOf(file->bytes);
    if (auto may = engines::CheckNoneIsShared(memories); !may) return std::unexpected(may.error());
    const Result<ComponentPtr> component = compiler_.Component(engine_.get(), ProgramKind::kComponent, *file);
    if (!component) return std::unexpected(component.error());
    return Link(*component, {std::move(memories), options_.metered, engines::LargestInstance(file->bytes),
                             engines::TablesOf(file->bytes)});
  }

  static std::unexpected<std::string> NoComponent() {
    return std::unexpected(std::string("this is not a component, and only components can be models"));
  }

  Result<std::unique_ptr<engines::GuestModel>> Link(const ComponentPtr& component, LimitedCode code) const {
    wasinn_component_model* model = nullptr;
    auto linked = TakeError(wasinn_component_model_new(linker_.get(), component.get(), &model));
    if (!linked) return std::unexpected(linked.error());
    return std::make_unique<ComponentModel>(EnginePtr(wasmtime_engine_clone(engine_.get())), ModelPtr(model),
                                            std::move(code));
  }

  const EngineOptions options_;
  const EnginePtr engine_;
  const ComponentLinkerPtr linker_;
  const Compiler compiler_;
};

}  // namespace
}  // namespace wasinn::wasmtime

namespace wasinn::engines {

Result<std::unique_ptr<ModelEngine>> NewWasmtimeModelEngine(const EngineOptions& options) {
  return wasmtime::WasmtimeModelEngine::New(options);
}

}  // namespace wasinn::engines
