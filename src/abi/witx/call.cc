#include "abi/witx/call.h"

#include <optional>

namespace wasinn::abi {

using core::Error;
using core::Guest;
using core::GuestMemory;
using core::OutOfRange;
using core::Result;
using core::Status;

namespace {

// The layout of a graph_builder, a list of bytes, in guest memory.
struct GuestList {
  uint32_t address;
  uint32_t size;
};
static_assert(sizeof(GuestList) == 8);

// The layout of a tensor in guest memory.
struct GuestTensor {
  uint32_t dims_address;
  uint32_t dims_count;
  uint8_t type;
  uint8_t padding[3];
  uint32_t data_address;
  uint32_t data_size;
};
static_assert(sizeof(GuestTensor) == 20);

// Under a presence.
template <typename F>
uint32_t Run(const Errors& errors, const F& function, const Invocation& call) noexcept {
  return ErrnoOf(errors, call, [&] {
    return call.memory.exists() ? function(call)
                                : Status(WASINN_ERROR_MISSING_MEMORY, "the guest module exports no memory");
  });
}

}  // namespace

Result<Parts> DecodeBuilders(const Invocation& call, uint32_t address, uint32_t count) {
  const uint32_t limit = call.guest.limits().max_builders;
  if (count > limit)
    return core::Fail(WASINN_ERROR_TOO_LARGE, "a model of {} parts is over the limit of {}", count, limit);
  Parts parts;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t element = uint64_t{address} + uint64_t{i} * sizeof(GuestList);
    const auto list = element > UINT32_MAX ? std::nullopt : call.memory.Load<GuestList>(static_cast<uint32_t>(element));
    if (!list) return std::unexpected(OutOfRange("the array of graph builders", address, count * sizeof(GuestList)));
    const auto bytes = call.memory.Range(list->address, list->size);
    if (!bytes) return std::unexpected(OutOfRange("a graph builder", list->address, list->size));
    parts.emplace_back(*bytes);
  }
  return parts;
}

Status DecodeDims(const Invocation& call, uint32_t address, uint32_t count, core::TensorDesc& tensor) {
  if (count > WASINN_MAX_RANK) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "a tensor of {} dimensions is over the limit of {}", count,
                 WASINN_MAX_RANK);
  }
  const auto dims = call.memory.Range(address, count, sizeof(uint32_t));
  if (!dims) return OutOfRange("the dimensions of a tensor", address, uint64_t{count} * sizeof(uint32_t));
  tensor.rank = count;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t dim;
    std::memcpy(&dim, dims->data() + size_t{i} * sizeof(dim), sizeof(dim));
    tensor.dims[i] = dim;
  }
  return Status();
}

Result<const char*> DecodeEncoding(const Invocation& call, uint32_t number) {
  const std::optional<const char*> encoding = call.profile.encoding(number), of_wasmedge = WasmEdgeFormat(number);
  if (encoding && !of_wasmedge) return *encoding;
  if (of_wasmedge) {
    const Status known = call.guest.CheckFormat(*of_wasmedge);
    if (encoding && known.ok()) return *encoding;
    return core::Fail(WASINN_ERROR_INVALID_ENCODING,
                      "encoding {} ({} in WasmEdge's numbers) is served by no backend: {}", number, *of_wasmedge,
                      known.ok() ? "the guest's dialect has other numbers" : known.message());
  }
  return core::Fail(WASINN_ERROR_INVALID_ENCODING, "{} is not an encoding of wasi-nn", number);
}

Result<wasinn_target> DecodeTarget(const Invocation& call, uint32_t number) {
  if (const auto target = call.profile.target(number)) return *target;
  return core::Fail(WASINN_ERROR_INVALID_ARGUMENT, "{} is not an execution target of wasi-nn", number);
}

Result<std::string> DecodeText(const Invocation& call, const char* what, uint32_t address, uint32_t size,
                               uint32_t limit) {
  const auto text = call.memory.Range(address, size);
  if (!text) return std::unexpected(OutOfRange(what, address, size));
  if (size > limit)
    return core::Fail(WASINN_ERROR_TOO_LARGE, "{} of {} bytes is longer than the limit of {}", what, size, limit);
  return std::string(reinterpret_cast<const char*>(text->data()), text->size());
}

Result<std::string> DecodeName(const Invocation& call, const char* what, uint32_t address, uint32_t size) {
  return DecodeText(call, what, address, size, call.guest.limits().max_name_bytes);
}

Status DecodeTensor(const Invocation& call, uint32_t address, core::TensorDesc& tensor,
                    std::span<const uint8_t>& data) {
  const auto given = call.memory.Load<GuestTensor>(address);
  if (!given) return OutOfRange("a tensor", address, sizeof(GuestTensor));
  const auto dtype = call.profile.dtype(given->type);
  if (!dtype) return Error(WASINN_ERROR_INVALID_ARGUMENT, "{} is not a tensor type of wasi-nn", given->type);
  RETURN_IF_ERROR(DecodeDims(call, given->dims_address, given->dims_count, tensor));
  const auto bytes = call.memory.Range(given->data_address, given->data_size);
  if (!bytes) return OutOfRange("the data of a tensor", given->data_address, given->data_size);
  tensor.dtype = *dtype;
  data = *bytes;
  return Status();
}

Status StoreResult(const Invocation& call, uint32_t address, uint32_t value) {
  if (call.memory.Store(address, value)) return Status();
  return OutOfRange("the place for the result", address, sizeof(value));
}
Status CheckResult(const Invocation& call, uint32_t address) {
  if (call.memory.Range(address, sizeof(uint32_t))) return Status();
  return OutOfRange("the place for the result", address, sizeof(uint32_t));
}

Status StoreHandle(const Invocation& call, uint32_t address, Result<uint32_t> handle) {
  if (!handle) return std::move(handle.error());
  return StoreResult(call, address, *handle);
}

Status StoreText(const Invocation& call, uint32_t address, uint32_t size, uint32_t written, std::string_view text) {
  const auto buffer = call.memory.Range(address, size);
  if (!buffer) return OutOfRange("a buffer", address, size);
  const auto needed = static_cast<uint32_t>(std::min<size_t>(text.size(), UINT32_MAX));
  if (text.size() <= size) std::memcpy(buffer->data(), text.data(), text.size());
  if (Status stored = StoreResult(call, written, needed); !stored.ok() || text.size() <= size) return stored;
  return Error(WASINN_ERROR_TOO_LARGE, "a text has {} bytes, the buffer {}", text.size(), size);
}

Status StoreOutput(const Invocation& call, core::Context& context, OutputOf get, uint32_t index, uint32_t address,
                   uint32_t size, uint32_t written) {
  RETURN_IF_ERROR(CheckResult(call, written));
  const auto buffer = call.memory.Range(address, size);
  if (!buffer) return OutOfRange("an output buffer", address, size);
  uint64_t needed = 0;
  Status status = (context.*get)(index, *buffer, needed);
  if (!status.ok() && status.code() != WASINN_ERROR_TOO_LARGE) return status;
  const auto stored_size = static_cast<uint32_t>(std::min<uint64_t>(needed, UINT32_MAX));
  RETURN_IF_ERROR(StoreResult(call, written, stored_size));
  return status;
}

uint32_t Enter(const Errors& errors, Function function, wasinn_guest* guest, const wasinn_memory* memory,
               const void* args, size_t stride) noexcept {
  if (guest == nullptr) return kWitx.error(WASINN_ERROR_RUNTIME);
  const Guest::Call presence(*guest);
  if (!presence) return kWitx.error(WASINN_ERROR_RUNTIME);
  return Run(errors, function,
             {*guest, errors.profile != nullptr ? *errors.profile : ProfileOf(guest->dialect()), GuestMemory(*memory),
              static_cast<const uint8_t*>(args), stride});
}

uint32_t Enter(const Errors& errors, ContextFunction function, wasinn_guest* guest, const wasinn_memory* memory,
               const void* args, size_t stride) noexcept {
  if (guest == nullptr) return kWitx.error(WASINN_ERROR_RUNTIME);
  const Guest::Use context(*guest, FirstArgument(args));
  std::optional<Guest::Call> presence;
  if ((!context || guest->is_closing()) && !presence.emplace(*guest)) return kWitx.error(WASINN_ERROR_RUNTIME);
  const auto on_context = [&](const Invocation& call) {
    return context ? function(call, *context) : context.TakeError();
  };
  return Run(errors, on_context,
             {*guest, errors.profile != nullptr ? *errors.profile : ProfileOf(guest->dialect()), GuestMemory(*memory),
              static_cast<const uint8_t*>(args), stride});
}

}  // namespace wasinn::abi
