
#include <vector>

#include "abi/witx/call.h"

namespace wasinn::abi {

using core::Result;
using core::Status;

// load_by_name(name_ptr, name_len, out_graph)
Status LoadByName(const Invocation& call) {
  RETURN_IF_ERROR(CheckResult(call, call.arg(2)));
  ASSIGN_OR_RETURN(std::string name, DecodeName(call, "a model's name", call.arg(0), call.arg(1)));
  return StoreHandle(call, call.arg(2), call.guest.LoadByName(name));
}

// init_execution_context(graph, out_context)
Status InitExecutionContext(const Invocation& call) {
  RETURN_IF_ERROR(CheckResult(call, call.arg(1)));
  return StoreHandle(call, call.arg(1), call.guest.InitContext(call.arg(0)));
}

// compute(context). Writes the outputs of set_output (wasinn_ext_0) to their buffers.
Status Compute(const Invocation& call, core::Context& context) { return context.Compute(&call.memory); }

namespace {

constexpr char kWitxModule[] = "wasi_ephemeral_nn";

// load(builders_ptr, builders_len, encoding, target, out_graph)
Status Load(const Invocation& call) {
  RETURN_IF_ERROR(CheckResult(call, call.arg(4)));
  ASSIGN_OR_RETURN(const char* encoding, DecodeEncoding(call, call.arg(2)));
  ASSIGN_OR_RETURN(wasinn_target target, DecodeTarget(call, call.arg(3)));
  ASSIGN_OR_RETURN(Parts parts, DecodeBuilders(call, call.arg(0), call.arg(1)));
  return StoreHandle(call, call.arg(4), call.guest.Load(parts, encoding, target));
}

// After an error of set_input: adds a hint if the guest may have used the numbers of types before wasi-nn 0.4. Its
// number of bytes then fits that type, and not the type that its number means now.
Status GuessOldNumbers(const Invocation& call, const core::TensorDesc& tensor, std::span<const uint8_t> data,
                       Status status) {
  const auto number = call.profile.dtype_number(tensor.dtype);
  const auto old = number ? kWitx01.dtype(*number) : std::nullopt;
  if (!old || core::ByteSize(tensor.dtype, tensor.shape()) == data.size()) return status;
  core::TensorDesc meant = tensor;
  meant.dtype = *old;
  if (core::ByteSize(meant.dtype, meant.shape()) != data.size()) return status;
  return core::Error(
      WASINN_ERROR_INVALID_ARGUMENT,
      "{}; its {} bytes are as many as {} takes: was the guest built with wasi-nn before 0.4? --dialect witx-0.1 "
      "(policy.dialect) has its numbers",
      status.message(), data.size(), core::Describe(meant));
}

// set_input(context, index, tensor_ptr)
Status SetInput(const Invocation& call, core::Context& context) {
  core::TensorDesc tensor;
  std::span<const uint8_t> data;
  RETURN_IF_ERROR(DecodeTensor(call, call.arg(2), tensor, data));
  Status status = context.SetInput(call.arg(1), tensor, data);
  if (status.code() != WASINN_ERROR_INVALID_ARGUMENT) return status;
  return GuessOldNumbers(call, tensor, data, std::move(status));
}

// get_output(context, index, buffer_ptr, buffer_max, out_written)
Status GetOutput(const Invocation& call, core::Context& context) {
  return StoreOutput(call, context, &core::Context::GetOutput, call.arg(1), call.arg(2), call.arg(3), call.arg(4));
}

// ---- WasmEdge's extensions (its wasi_nn plugin): configuration, release, and generation step by step

// load_by_name_with_config(name_ptr, name_len, config_ptr, config_len, out_graph)
Status LoadByNameWithConfig(const Invocation& call) {
  RETURN_IF_ERROR(CheckResult(call, call.arg(4)));
  ASSIGN_OR_RETURN(std::string name, DecodeName(call, "a model's name", call.arg(0), call.arg(1)));
  ASSIGN_OR_RETURN(std::string config, DecodeText(call, "a configuration", call.arg(2), call.arg(3), kMaxConfigBytes));
  return StoreHandle(call, call.arg(4), call.guest.LoadByName(name, config));
}

// unload(graph)
Status Unload(const Invocation& call) { return call.guest.DropGraph(call.arg(0)); }

// finalize_execution_context(context)
Status FinalizeExecutionContext(const Invocation& call) { return call.guest.DropContext(call.arg(0)); }

// compute_single(context): the next piece of a generation.
Status ComputeSingle(const Invocation&, core::Context& context) { return context.Step(); }

// get_output_single(context, index, buffer_ptr, buffer_max, out_written)
Status GetOutputSingle(const Invocation& call, core::Context& context) {
  return StoreOutput(call, context, &core::Context::GetPiece, call.arg(1), call.arg(2), call.arg(3), call.arg(4));
}

// fini_single(context)
Status FiniSingle(const Invocation&, core::Context& context) { return context.Finish(); }

constexpr wasinn_function kWitxFunctions[] = {
    Row<"load", Load>(kWitxModule, "iiiii", kRunsFramework),
    Row<"load_by_name", LoadByName>(kWitxModule, "iii", kRunsFramework),
    Row<"init_execution_context", InitExecutionContext>(kWitxModule, "ii", kRunsFramework),
    Row<"set_input", SetInput>(kWitxModule, "iii"),
    Row<"compute", Compute>(kWitxModule, "i", kRunsFramework),
    Row<"get_output", GetOutput, WASINN_ERROR_TOO_LARGE>(kWitxModule, "iiiii", kRunsFramework),
    Row<"load_by_name_with_config", LoadByNameWithConfig>(kWitxModule, "iiiii", kRunsFramework),
    Row<"unload", Unload>(kWitxModule, "i", kRunsFramework),
    Row<"finalize_execution_context", FinalizeExecutionContext>(kWitxModule, "i", kRunsFramework),
    Row<"compute_single", ComputeSingle, WASINN_ERROR_END_OF_SEQUENCE>(kWitxModule, "i", kRunsFramework),
    Row<"get_output_single", GetOutputSingle, WASINN_ERROR_TOO_LARGE>(kWitxModule, "iiiii", kRunsFramework),
    Row<"fini_single", FiniSingle>(kWitxModule, "i", kRunsFramework),
};

}  // namespace

std::span<const wasinn_function> WitxFunctions() { return kWitxFunctions; }

std::span<const wasinn_function* const> AllFunctions() {
  static const std::vector<const wasinn_function*> all = [] {
    std::vector<const wasinn_function*> rows;
    for (const auto part : {WitxFunctions(), ExtensionFunctions(), LegacyFunctions()}) {
      for (const wasinn_function& row : part) rows.push_back(&row);
    }
    return rows;
  }();
  return all;
}

}  // namespace wasinn::abi
