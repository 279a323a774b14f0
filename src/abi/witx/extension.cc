// wasinn's own module for core modules, wasinn_ext_0. The digit is its version: a function never changes its meaning.
#include "abi/witx/call.h"

namespace wasinn::abi {
namespace {

using core::OutOfRange;
using core::Result;
using core::Status;

constexpr char kExtensionModule[] = "wasinn_ext_0";

// last_error(buffer_ptr, buffer_max, out_written): the last error of any thread of this guest.
Status LastError(const Invocation& call) {
  RETURN_IF_ERROR(CheckResult(call, call.arg(2)));
  return StoreText(call, call.arg(0), call.arg(1), call.arg(2), call.guest.LastError());
}

// describe(graph, buffer_ptr, buffer_max, out_written)
Status DescribeGraph(const Invocation& call) {
  RETURN_IF_ERROR(CheckResult(call, call.arg(3)));
  ASSIGN_OR_RETURN(std::string text, call.guest.Describe(call.arg(0)));
  return StoreText(call, call.arg(1), call.arg(2), call.arg(3), text);
}

// load_as(builders_ptr, builders_len, format_ptr, format_len, target, out_graph): load by the format's name.
Status LoadAs(const Invocation& call) {
  RETURN_IF_ERROR(CheckResult(call, call.arg(5)));
  ASSIGN_OR_RETURN(std::string format, DecodeName(call, "a format's name", call.arg(2), call.arg(3)));
  ASSIGN_OR_RETURN(wasinn_target target, DecodeTarget(call, call.arg(4)));
  ASSIGN_OR_RETURN(Parts parts, DecodeBuilders(call, call.arg(0), call.arg(1)));
  return StoreHandle(call, call.arg(5), call.guest.Load(parts, format, target));
}

// set_input_by_name(context, name_ptr, name_len, tensor_ptr)
Status SetInputByName(const Invocation& call, core::Context& context) {
  ASSIGN_OR_RETURN(std::string name, DecodeName(call, "an input's name", call.arg(1), call.arg(2)));
  core::TensorDesc tensor;
  std::span<const uint8_t> data;
  RETURN_IF_ERROR(DecodeTensor(call, call.arg(3), tensor, data));
  Result<uint32_t> index = context.graph()->FindInput(name);
  return index ? context.SetInput(*index, tensor, data) : std::move(index.error());
}

Result<uint32_t> FindOutput(const Invocation& call, core::Context& context, uint32_t address, uint32_t size) {
  ASSIGN_OR_RETURN(std::string name, DecodeName(call, "an output's name", address, size));
  return context.FindOutput(name);
}

// get_output_by_name(context, name_ptr, name_len, buffer_ptr, buffer_max, out_written)
Status GetOutputByName(const Invocation& call, core::Context& context) {
  ASSIGN_OR_RETURN(uint32_t index, FindOutput(call, context, call.arg(1), call.arg(2)));
  return StoreOutput(call, context, &core::Context::GetOutput, index, call.arg(3), call.arg(4), call.arg(5));
}

// A buffer at 0 only selects.
Status Want(const Invocation& call, core::Context& context, uint32_t index, uint32_t buffer, uint32_t size,
            uint32_t written) {
  if (buffer != 0) {
    RETURN_IF_ERROR(CheckResult(call, written));
    if (!call.memory.Range(buffer, size)) return OutOfRange("an output buffer", buffer, size);
  }
  return context.WantOutput({index, buffer, size, written});
}

// set_output(context, index, buffer_ptr, buffer_max, out_written): from now on compute only produces outputs that were
// set in this way, and writes this one to the buffer and its size to out_written.
Status SetOutput(const Invocation& call, core::Context& context) {
  return Want(call, context, call.arg(1), call.arg(2), call.arg(3), call.arg(4));
}

// set_output_by_name(context, name_ptr, name_len, buffer_ptr, buffer_max, out_written)
Status SetOutputByName(const Invocation& call, core::Context& context) {
  ASSIGN_OR_RETURN(uint32_t index, FindOutput(call, context, call.arg(1), call.arg(2)));
  return Want(call, context, index, call.arg(3), call.arg(4), call.arg(5));
}

// set_input_from_output(context, index, from_context, output_index): an output becomes an input without passing through
// the guest's memory.
Status SetInputFromOutput(const Invocation& call) {
  return call.guest.SetInputFromOutput(call.arg(0), call.arg(1), call.arg(2), call.arg(3));
}

constexpr wasinn_function kExtensionFunctions[] = {
    Row<"last_error", LastError, WASINN_ERROR_TOO_LARGE>(kExtensionModule, "iii"),
    Row<"describe", DescribeGraph, WASINN_ERROR_TOO_LARGE>(kExtensionModule, "iiii"),
    Row<"load_as", LoadAs>(kExtensionModule, "iiiiii", kRunsFramework),
    Row<"set_input_by_name", SetInputByName>(kExtensionModule, "iiii"),
    Row<"get_output_by_name", GetOutputByName, WASINN_ERROR_TOO_LARGE>(kExtensionModule, "iiiiii", kRunsFramework),
    Row<"set_input_from_output", SetInputFromOutput>(kExtensionModule, "iiii", kRunsFramework),
    Row<"set_output", SetOutput>(kExtensionModule, "iiiii"),
    Row<"set_output_by_name", SetOutputByName>(kExtensionModule, "iiiiii"),
    Row<"compute_once", ComputeOnce, WASINN_ERROR_TOO_LARGE>(kExtensionModule, "iiiii", kRunsFramework),
    Row<"compute_begin", ComputeBegin>(kExtensionModule, "i", kRunsFramework),
    Row<"compute_poll", ComputePoll, WASINN_ERROR_BUSY>(kExtensionModule, "i", kRunsFramework),
    Row<"compute_cancel", ComputeCancel>(kExtensionModule, "i"),
    Row<"compute_wait", ComputeWait, WASINN_ERROR_BUSY>(kExtensionModule, "iiii", WASINN_FUNCTION_MAY_BLOCK),
};

}  // namespace

std::span<const wasinn_function> ExtensionFunctions() { return kExtensionFunctions; }

}  // namespace wasinn::abi
