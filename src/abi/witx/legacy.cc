// The module `wasi_nn` of guests that were built with WAMR's first header. Its functions have the names of
// wasi_ephemeral_nn, but layouts and numbers of their own (wamr/core/iwasm/libraries/wasi-nn/include/wasi_nn.h).
#include <algorithm>

#include "abi/witx/call.h"

namespace wasinn::abi {
namespace {

using core::OutOfRange;
using core::Status;

constexpr char kLegacyModule[] = "wasi_nn";

struct GuestArray {
  uint32_t address;
  uint32_t size;  // in elements
};
static_assert(sizeof(GuestArray) == 8);

struct LegacyTensor {
  uint32_t dims_address;  // of a GuestArray
  uint8_t type;           // guests built before June 2025 wrote 32 bits, of which this is the first byte
  uint8_t padding[3];     // newer guests leave it as it is
  uint32_t data_address;  // the dimensions give the number of bytes
};
static_assert(sizeof(LegacyTensor) == 12);

// load(builder_array_ptr, encoding, target, out_graph)
Status LegacyLoad(const Invocation& call) {
  RETURN_IF_ERROR(CheckResult(call, call.arg(3)));
  ASSIGN_OR_RETURN(const char* encoding, DecodeEncoding(call, call.arg(1)));
  ASSIGN_OR_RETURN(wasinn_target target, DecodeTarget(call, call.arg(2)));
  const auto array = call.memory.Load<GuestArray>(call.arg(0));
  if (!array) return OutOfRange("the record of graph builders", call.arg(0), sizeof(GuestArray));
  ASSIGN_OR_RETURN(Parts parts, DecodeBuilders(call, array->address, array->size));
  return StoreHandle(call, call.arg(3), call.guest.Load(parts, encoding, target));
}

// set_input(context, index, tensor_ptr)
Status LegacySetInput(const Invocation& call, core::Context& context) {
  const auto given = call.memory.Load<LegacyTensor>(call.arg(2));
  if (!given) return OutOfRange("a tensor", call.arg(2), sizeof(LegacyTensor));
  const auto dims = call.memory.Load<GuestArray>(given->dims_address);
  if (!dims) return OutOfRange("the record of dimensions", given->dims_address, sizeof(GuestArray));
  const auto dtype = call.profile.dtype(given->type);
  if (!dtype)
    return core::Error(WASINN_ERROR_INVALID_ARGUMENT, "{} is not a tensor type of this interface", given->type);
  core::TensorDesc tensor;
  tensor.dtype = *dtype;
  RETURN_IF_ERROR(DecodeDims(call, dims->address, dims->size, tensor));
  const auto size = core::ByteSize(tensor.dtype, tensor.shape());
  if (!size || *size > UINT32_MAX) {
    return core::Error(WASINN_ERROR_INVALID_ARGUMENT, "a tensor {} is larger than a guest's memory",
                       core::Describe(tensor));
  }
  const auto data = call.memory.Range(given->data_address, static_cast<uint32_t>(*size));
  if (!data) return OutOfRange("the data of a tensor", given->data_address, *size);
  return context.SetInput(call.arg(1), tensor, *data);
}

// get_output(context, index, buffer_ptr, size_ptr), in elements of the output's type: the buffer's size in, the
// output's size out. WAMR's TensorFlow Lite counts "the number of fp32, not bytes"; text, which its llama.cpp counts in
// bytes, is of u8.
Status LegacyGetOutput(const Invocation& call, core::Context& context) {
  const auto room = call.memory.Load<uint32_t>(call.arg(3));
  if (!room) return OutOfRange("the size of a buffer", call.arg(3), sizeof(uint32_t));
  ASSIGN_OR_RETURN(const uint32_t dtype, context.OutputDtype(call.arg(1)));
  const auto element = static_cast<uint32_t>(base::ElementSize(dtype));
  if (element == 0) return core::Error(WASINN_ERROR_UNSUPPORTED_OPERATION, "output {} has no known type", call.arg(1));
  const auto buffer = call.memory.Range(call.arg(2), *room, element);
  if (!buffer) return OutOfRange("an output buffer", call.arg(2), uint64_t{*room} * element);
  uint64_t needed = 0;
  Status status = context.GetOutput(call.arg(1), *buffer, needed);
  if (!status.ok() && status.code() != WASINN_ERROR_TOO_LARGE) return status;
  const auto elements = static_cast<uint32_t>(std::min<uint64_t>(needed / element, UINT32_MAX));
  RETURN_IF_ERROR(StoreResult(call, call.arg(3), elements));
  return status;
}

template <FunctionName kName, auto kFunction, wasinn_code kAnswer = WASINN_OK>
constexpr wasinn_function LegacyRow(const char* params, uint32_t flags = 0) {
  return Row<kName, kFunction, kAnswer, &kLegacy>(kLegacyModule, params, flags);
}

constexpr wasinn_function kLegacyFunctions[] = {
    LegacyRow<"load", LegacyLoad>("iiii", kRunsFramework),
    LegacyRow<"load_by_name", LoadByName>("iii", kRunsFramework),
    LegacyRow<"init_execution_context", InitExecutionContext>("ii", kRunsFramework),
    LegacyRow<"set_input", LegacySetInput>("iii"),
    LegacyRow<"compute", Compute>("i", kRunsFramework),
    LegacyRow<"get_output", LegacyGetOutput, WASINN_ERROR_TOO_LARGE>("iiii", kRunsFramework),
};

}  // namespace

std::span<const wasinn_function> LegacyFunctions() { return kLegacyFunctions; }

}  // namespace wasinn::abi
