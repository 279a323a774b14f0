#include "abi/wit/extension.h"

#include <string>
#include <string_view>
#include <vector>

#include "abi/limits.h"
#include "abi/profiles.h"
#include "abi/wit/outcome.h"
#include "abi/wit/owned.h"
#include "core/inference/scratch_memory.h"

namespace wasinn::abi {

using core::Fail;
using core::Guest;
using core::Result;
using core::Status;

namespace {

wasinn_wit_view ToView(std::string text) {
  auto owned = std::make_unique<std::string>(std::move(text));
  const void* data = owned->data();
  const size_t size = owned->size();
  return Keep(std::move(owned), data, size);
}

}  // namespace

// ---- inspect

wasinn_status* WitLastError(wasinn_guest* guest, wasinn_wit_view* out) {
  return WithGuest(guest, [&]() -> Status {
    *out = ToView(guest->LastError());
    return {};
  });
}

wasinn_status* WitDescribe(wasinn_guest* guest, uint32_t graph, wasinn_wit_view* out) {
  return WithGuest(guest, [&]() -> Status {
    ASSIGN_OR_RETURN(std::string text, guest->Describe(graph));
    *out = ToView(std::move(text));
    return {};
  });
}

// ---- generate

namespace {

// The newest piece of the first output, which has the generated text. Pieces are short.
Result<std::string> PieceOf(core::Context& context) {
  std::string text(64, '\0');
  uint64_t size = 0;
  const auto get = [&] { return context.GetPiece(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}, size); };
  Status status = get();
  if (status.code() == WASINN_ERROR_TOO_LARGE && size > text.size()) {
    text.resize(size);
    status = get();
  }
  if (!status.ok()) return std::unexpected(std::move(status));
  text.resize(size);
  return text;
}

Result<uint32_t> Nothing(Status status) {
  if (!status.ok()) return std::unexpected(std::move(status));
  return 0;
}

}  // namespace

wasinn_status* WitStart(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs, size_t count,
                        wasinn_wit_result* out) {
  return WithResult(guest, "start", *out, [&]() -> Result<uint32_t> {
    Owned owned(*guest, {inputs, count});
    core::ScratchMemory scratch;
    std::pmr::vector<Guest::NamedTensor> tensors(&scratch.resource);
    RETURN_IF_ERROR(owned.Take(tensors));
    return Nothing(guest->Start(context, tensors));
  });
}

wasinn_status* WitNext(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out, uint32_t* has_piece,
                       wasinn_wit_view* piece) {
  *has_piece = 0;
  *piece = {};
  return WithResult(guest, "next", *out, [&]() -> Result<uint32_t> {
    Guest::Use use(*guest, context);
    if (!use) return std::unexpected(use.TakeError());
    Status status = use->Step();
    if (status.code() == WASINN_ERROR_END_OF_SEQUENCE) return 0;
    if (!status.ok()) return std::unexpected(std::move(status));
    ASSIGN_OR_RETURN(std::string text, PieceOf(*use));
    *has_piece = 1;
    *piece = ToView(std::move(text));
    return 0;
  });
}

wasinn_status* WitFinish(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out) {
  return WithResult(guest, "finish", *out, [&]() -> Result<uint32_t> {
    Guest::Use use(*guest, context);
    return Nothing(use ? use->Finish() : use.TakeError());
  });
}

// ---- configure

Result<uint32_t> LoadParts(Guest& guest, std::span<const wasinn_bytes> builders, std::string_view format,
                           uint32_t target) {
  const auto known = kWit.target(target);
  if (!known) return Fail(WASINN_ERROR_INVALID_ARGUMENT, "{} is not an execution-target of wasi:nn", target);
  const uint32_t limit = guest.limits().max_builders;
  if (builders.size() > limit || (builders.data() == nullptr && !builders.empty())) {
    return Fail(WASINN_ERROR_TOO_LARGE, "a model of {} parts is over the limit of {}", builders.size(), limit);
  }
  std::vector<std::span<const uint8_t>> parts;
  parts.reserve(builders.size());
  for (const wasinn_bytes& part : builders) parts.emplace_back(part.data, part.size);
  return guest.Load(parts, format, *known);
}

wasinn_status* WitLoadAs(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, const char* format,
                         size_t format_size, uint32_t target, wasinn_wit_result* out) {
  return WithResult(guest, "load-as", *out, [&]() -> Result<uint32_t> {
    const uint32_t limit = guest->limits().max_name_bytes;
    if (format_size > limit) {
      return Fail(WASINN_ERROR_TOO_LARGE, "a format's name of {} bytes is longer than the limit of {}", format_size,
                  limit);
    }
    return LoadParts(*guest, {builders, count}, {format, format_size}, target);
  });
}

wasinn_status* WitLoadByNameWithConfig(wasinn_guest* guest, const char* name, size_t size, const char* config,
                                       size_t config_size, wasinn_wit_result* out) {
  return WithResult(guest, "load-by-name", *out, [&]() -> Result<uint32_t> {
    if (config_size > kMaxConfigBytes) {
      return Fail(WASINN_ERROR_TOO_LARGE, "a configuration of {} bytes is longer than the limit of {}", config_size,
                  kMaxConfigBytes);
    }
    return guest->LoadByName({name, size}, std::string(config, config_size));
  });
}

wasinn_status* WitSelectOutputs(wasinn_guest* guest, uint32_t context, const wasinn_bytes* names, size_t count,
                                wasinn_wit_result* out) {
  return WithResult(guest, "select-outputs", *out, [&]() -> Result<uint32_t> {
    constexpr size_t kMost = 4096;
    if (count > kMost || (names == nullptr && count > 0))
      return Fail(WASINN_ERROR_TOO_LARGE, "{} names of outputs are more than {}", count, kMost);
    std::vector<std::string_view> wanted;
    for (const wasinn_bytes& name : std::span(names, count)) {
      wanted.emplace_back(reinterpret_cast<const char*>(name.data), name.size);
    }
    return Nothing(guest->SelectOutputs(context, wanted));
  });
}

}  // namespace wasinn::abi
