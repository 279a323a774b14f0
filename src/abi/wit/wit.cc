
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/profiles.h"
#include "abi/wit/call.h"

namespace wasinn::abi {
namespace {

using core::Error;
using core::Fail;
using core::Guest;
using core::Result;
using core::Status;
using core::TensorDesc;
using core::TensorPtr;

// The end of a resource.
template <Status (Guest::*kDrop)(uint32_t)>
wasinn_status* Drop(wasinn_guest* guest, uint32_t resource) {
  return WithGuest(guest, [&] { return (guest->*kDrop)(resource); });
}

// ---- tensor

wasinn_status* TensorNew(wasinn_guest* guest, const uint32_t* dimensions, size_t rank, uint32_t type,
                         const uint8_t* data, size_t size, uint32_t* tensor) {
  return WithGuest(guest, [&]() -> Status {
    if (rank > WASINN_MAX_RANK) {
      return Error(WASINN_ERROR_TOO_LARGE, "a tensor of {} dimensions is over the limit of {}", rank, WASINN_MAX_RANK);
    }
    const auto dtype = kWit.dtype(type);
    if (!dtype) return Error(WASINN_ERROR_INVALID_ARGUMENT, "{} is not a tensor-type of wasi:nn", type);
    TensorDesc desc;
    desc.dtype = *dtype;
    desc.rank = static_cast<uint32_t>(rank);
    std::copy_n(dimensions, rank, desc.dims);
    ASSIGN_OR_RETURN(*tensor, guest->NewTensor(desc, {data, size}));
    return {};
  });
}

// The description for a guest, whether it or a model made the tensor.
TensorDesc DescOf(const TensorPtr& tensor) {
  return core::ShowAs(tensor->desc(), [](uint32_t dtype) { return kWit.dtype_number(dtype).has_value(); });
}

wasinn_status* TensorDimensions(wasinn_guest* guest, uint32_t tensor, wasinn_wit_view* out) {
  return WithGuest(guest, [&]() -> Status {
    ASSIGN_OR_RETURN(TensorPtr found, guest->GetTensor(tensor));
    const TensorDesc desc = DescOf(found);
    auto dims = std::make_unique<std::vector<uint32_t>>();
    for (int64_t dim : desc.shape()) dims->push_back(static_cast<uint32_t>(std::min<int64_t>(dim, UINT32_MAX)));
    const void* data = dims->data();
    const size_t count = dims->size();
    *out = Keep(std::move(dims), data, count);
    return {};
  });
}

wasinn_status* TensorType(wasinn_guest* guest, uint32_t tensor, uint32_t* out) {
  return WithGuest(guest, [&]() -> Status {
    ASSIGN_OR_RETURN(TensorPtr found, guest->GetTensor(tensor));
    const uint32_t dtype = DescOf(found).dtype;
    const std::optional<uint32_t> number = kWit.dtype_number(dtype);
    if (!number) return Error(WASINN_ERROR_UNSUPPORTED_OPERATION, "wasi:nn has no tensor-type for {}", dtype);
    *out = *number;
    return {};
  });
}

// The engine makes the only copy, from here into guest memory.
wasinn_status* TensorData(wasinn_guest* guest, uint32_t tensor, wasinn_wit_view* out) {
  return WithGuest(guest, [&]() -> Status {
    ASSIGN_OR_RETURN(TensorPtr found, guest->GetTensor(tensor));
    const std::span<const uint8_t> bytes = found->bytes();
    guest->CountCopyOut(bytes.size());
    *out = Keep(std::make_unique<TensorPtr>(std::move(found)), bytes.data(), bytes.size());
    return {};
  });
}

// ---- wasinn:ext, the extensions for components beyond wasi:nn

wasinn_status* GuestLastError(wasinn_guest* guest, wasinn_wit_view* out) {
  return WithGuest(guest, [&]() -> Status {
    *out = ToView(guest->LastError());
    return {};
  });
}

wasinn_status* GraphDescribe(wasinn_guest* guest, uint32_t graph, wasinn_wit_view* out) {
  return WithGuest(guest, [&]() -> Status {
    ASSIGN_OR_RETURN(std::string text, guest->Describe(graph));
    *out = ToView(std::move(text));
    return {};
  });
}

wasinn_status* ContextStart(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs, size_t count,
                            wasinn_wit_result* out) {
  return WithResult(guest, "start", *out, [&]() -> Status {
    Owned owned(*guest, {inputs, count});
    RETURN_IF_ERROR(owned.Take());
    return guest->Start(context, owned.tensors());
  });
}

wasinn_status* ContextNext(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out, uint32_t* has_piece,
                           wasinn_wit_view* piece) {
  *has_piece = 0;
  *piece = {};
  return WithContext(guest, "next", context, *out, [&](core::Context& its) -> Status {
    Status status = its.Step();
    if (status.code() == WASINN_ERROR_END_OF_SEQUENCE) return Status();
    if (!status.ok()) return status;
    ASSIGN_OR_RETURN(std::string text, PieceOf(its));
    *has_piece = 1;
    *piece = ToView(std::move(text));
    return Status();
  });
}

wasinn_status* ContextFinish(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out) {
  return WithContext(guest, "finish", context, *out, [](core::Context& its) { return its.Finish(); });
}

wasinn_status* GraphLoadAs(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, const char* format,
                           size_t format_size, uint32_t target, wasinn_wit_result* out) {
  return WithResult(guest, "load-as", *out, [&]() -> Result<uint32_t> {
    const uint32_t limit = guest->limits().max_name_bytes;
    if (format_size > limit) {
      return Fail(WASINN_ERROR_TOO_LARGE, "a format's name of {} bytes is longer than the limit of {}", format_size,
                  limit);
    }
    ASSIGN_OR_RETURN(const ModelParts parts, PartsOf(*guest, {builders, count}, target));
    return guest->Load(parts.bytes, {format, format_size}, parts.target);
  });
}

wasinn_status* GraphLoadByNameWithConfig(wasinn_guest* guest, const char* name, size_t size, const char* config,
                                         size_t config_size, wasinn_wit_result* out) {
  return WithResult(guest, "load-by-name", *out, [&]() -> Result<uint32_t> {
    if (config_size > kMaxConfigBytes) {
      return Fail(WASINN_ERROR_TOO_LARGE, "a configuration of {} bytes is longer than the limit of {}", config_size,
                  kMaxConfigBytes);
    }
    return guest->LoadByName({name, size}, std::string(config, config_size));
  });
}

wasinn_status* ContextSelectOutputs(wasinn_guest* guest, uint32_t context, const wasinn_bytes* names, size_t count,
                                    wasinn_wit_result* out) {
  return WithContext(guest, "select-outputs", context, *out, [&](core::Context& its) -> Status {
    constexpr size_t kMax = 4096;
    if (count > kMax || (names == nullptr && count > 0))
      return Error(WASINN_ERROR_TOO_LARGE, "{} names of outputs are more than {}", count, kMax);
    std::vector<uint32_t> wanted;
    for (const wasinn_bytes& name : std::span(names, count)) {
      ASSIGN_OR_RETURN(const uint32_t index, its.FindOutput({reinterpret_cast<const char*>(name.data), name.size}));
      wanted.push_back(index);
    }
    return its.SelectOutputs(wanted);
  });
}

// ---- graph

wasinn_status* GraphLoad(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, uint32_t encoding,
                         uint32_t target, wasinn_wit_result* out) {
  return WithResult(guest, "load", *out, [&]() -> Result<uint32_t> {
    ASSIGN_OR_RETURN(const char* known, EncodingOf(encoding));
    ASSIGN_OR_RETURN(const ModelParts parts, PartsOf(*guest, {builders, count}, target));
    return guest->Load(parts.bytes, known, parts.target);
  });
}

wasinn_status* GraphLoadByName(wasinn_guest* guest, const char* name, size_t size, wasinn_wit_result* out) {
  return WithResult(guest, "load-by-name", *out, [&] { return guest->LoadByName({name, size}); });
}

wasinn_status* GraphInitExecutionContext(wasinn_guest* guest, uint32_t graph, wasinn_wit_result* out) {
  return WithResult(guest, "init-execution-context", *out, [&] { return guest->InitContext(graph); });
}

// ---- inference

wasinn_status* ContextCompute(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs,
                              size_t count, wasinn_wit_result* out, wasinn_wit_view* outputs) {
  *outputs = {};
  return WithResult(guest, "compute", *out, [&]() -> Status {
    Owned owned(*guest, {inputs, count});
    RETURN_IF_ERROR(owned.Take());
    core::ScratchMemory scratch;
    std::pmr::vector<Guest::Output> computed(&scratch.resource);
    ASSIGN_OR_RETURN(auto names, guest->Run(context, owned.tensors(), computed));
    *outputs = ToView(*guest, std::move(names), computed);
    return {};
  });
}

wasinn_status* ContextSetInput(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* input,
                               wasinn_wit_result* out) {
  return WithResult(guest, "set-input", *out, [&]() -> Status {
    Owned owned(*guest, {input, 1});
    RETURN_IF_ERROR(owned.Take());
    Guest::Use use(*guest, context);
    if (!use) return use.TakeError();
    const Guest::NamedTensor& given = owned.tensors().front();
    ASSIGN_OR_RETURN(const uint32_t index, use->graph()->FindInput(given.name));
    return use->SetInput(index, given.tensor);
  });
}

wasinn_status* ContextComputeSet(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out) {
  return WithContext(guest, "compute", context, *out, [](core::Context& its) { return its.Compute(nullptr); });
}

wasinn_status* ContextGetOutput(wasinn_guest* guest, uint32_t context, const char* name, size_t size,
                                wasinn_wit_result* out) {
  return WithContext(guest, "get-output", context, *out, [&](core::Context& its) -> Result<uint32_t> {
    ASSIGN_OR_RETURN(const uint32_t index, its.FindOutput({name, size}));
    ASSIGN_OR_RETURN(TensorPtr tensor, its.TakeOutput(index));
    return guest->Hold(std::move(tensor));
  });
}

// ---- errors

wasinn_status* ErrorNew(wasinn_guest* guest, uint32_t code, const char* data, size_t size, uint32_t* error) {
  return WithGuest(guest, [&]() -> Status {
    constexpr size_t kMax = 64 << 10;
    if (size > kMax) return Error(WASINN_ERROR_TOO_LARGE, "an error of {} bytes is over the limit of {}", size, kMax);
    ASSIGN_OR_RETURN(*error, guest->NewError(code, WASINN_OK, std::string(data, size)));
    return {};
  });
}

template <auto kField>
wasinn_status* ErrorField(wasinn_guest* guest, uint32_t error, uint32_t* out) {
  return WithGuest(guest, [&]() -> Status {
    ASSIGN_OR_RETURN(const auto found, guest->GetError(error));
    *out = (*found).*kField;
    return {};
  });
}

wasinn_status* ErrorData(wasinn_guest* guest, uint32_t error, wasinn_wit_view* out) {
  return WithGuest(guest, [&]() -> Status {
    ASSIGN_OR_RETURN(auto found, guest->GetError(error));
    const std::string& message = found->message;
    *out = Keep(std::make_unique<std::decay_t<decltype(found)>>(found), message.data(), message.size());
    return {};
  });
}

// ---- calls whose callers do not wait

wasinn_status* Begin(wasinn_guest* guest, void (*run)(void* user), void* user) {
  return WithGuest(guest, [&]() -> Status {
    // The caller gets the report while the call is still inside.
    auto presence = std::make_shared<const Guest::Call>(*guest);
    if (!*presence) return Error(WASINN_ERROR_RUNTIME, "the guest is closed");
    return guest->Begin([presence = std::move(presence), run, user] { run(user); });
  });
}

constexpr wasinn_wit_functions kWitFunctions = {.struct_size = sizeof(wasinn_wit_functions),
                                                .tensor_new = TensorNew,
                                                .tensor_dimensions = TensorDimensions,
                                                .tensor_type = TensorType,
                                                .tensor_data = TensorData,
                                                .tensor_drop = Drop<&Guest::DropTensor>,
                                                .graph_load = GraphLoad,
                                                .graph_load_by_name = GraphLoadByName,
                                                .graph_init_execution_context = GraphInitExecutionContext,
                                                .graph_drop = Drop<&Guest::DropGraph>,
                                                .context_compute = ContextCompute,
                                                .context_set_input = ContextSetInput,
                                                .context_compute_set = ContextComputeSet,
                                                .context_get_output = ContextGetOutput,
                                                .context_drop = Drop<&Guest::DropContext>,
                                                .error_new = ErrorNew,
                                                .error_code = ErrorField<&Guest::GuestError::number>,
                                                .error_data = ErrorData,
                                                .error_drop = Drop<&Guest::DropError>,
                                                .last_error = GuestLastError,
                                                .describe = GraphDescribe,
                                                .context_start = ContextStart,
                                                .context_next = ContextNext,
                                                .context_finish = ContextFinish,
                                                .graph_load_by_name_with_config = GraphLoadByNameWithConfig,
                                                .context_select_outputs = ContextSelectOutputs,
                                                .graph_load_as = GraphLoadAs,
                                                .begin = Begin,
                                                .error_status = ErrorField<&Guest::GuestError::code>,
                                                .task_load = TaskLoad,
                                                .task_load_by_name = TaskLoadByName,
                                                .task_compute = TaskCompute,
                                                .task_generate = TaskGenerate,
                                                .task_step = TaskStep,
                                                .task_take = TaskTake,
                                                .task_free = TaskFree};

}  // namespace

const wasinn_wit_functions& WitFunctions() { return kWitFunctions; }

}  // namespace wasinn::abi
