#include "abi/wit/call.h"

#include <algorithm>
#include <iterator>

#include "abi/profiles.h"
#include "core/text.h"

namespace wasinn::abi {

using core::Fail;
using core::Guest;
using core::Result;
using core::Status;
using core::TensorPtr;

wasinn_status* Trap(const Status& status) {
  if (status.ok()) return nullptr;
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): a string's, so with a NUL
  return wasinn_status_new(status.code(), status.message().data());
}

Status ToErrorObject(wasinn_guest& guest, const char* function, const Status& status, wasinn_wit_result& out) {
  guest.Report(function, status);
  std::string message = core::WithoutPaths(status.message());  // only the log has them
  if (!status.backend().empty()) message = std::string(status.backend()) + ": " + message;
  ASSIGN_OR_RETURN(uint32_t error, guest.NewError(kWit.error(status.code()), status.code(), std::move(message)));
  out = {.is_error = 1, .rep = error};
  return {};
}

// ---- Values

wasinn_wit_view ToView(std::string text) {
  auto owned = std::make_unique<std::string>(std::move(text));
  const void* data = owned->data();
  const size_t size = owned->size();
  return Keep(std::move(owned), data, size);
}

namespace {

// The result of `compute`, with the owner of its names. One block of memory for most models.
struct NamedOutputs {
  std::shared_ptr<const void> names;
  wasinn_wit_named_tensor few[4];
  std::vector<wasinn_wit_named_tensor> many;
};

}  // namespace

wasinn_wit_view ToView(Guest& guest, std::shared_ptr<const void> names, std::pmr::vector<Guest::Output>& outputs) {
  Guest::UnreportedOutputs unreported(guest, outputs);
  auto named = std::make_unique<NamedOutputs>();
  named->names = std::move(names);
  wasinn_wit_named_tensor* items = named->few;
  if (outputs.size() > std::size(named->few)) {
    named->many.resize(outputs.size());
    items = named->many.data();
  }
  std::ranges::transform(outputs, items, [](const Guest::Output& output) {
    return wasinn_wit_named_tensor{output.name.data(), output.name.size(), output.tensor};
  });
  unreported.SetReported();
  return Keep(std::move(named), items, outputs.size());
}

Status Owned::Take() {
  found_.reserve(tensors_.size());
  for (const wasinn_wit_named_tensor& named : tensors_) {
    ASSIGN_OR_RETURN(TensorPtr tensor, guest_.TakeTensor(named.tensor));
    counted_ = ++taken_;
    found_.push_back({{named.name, named.name_size}, std::move(tensor)});
  }
  return Status();
}

// Pieces are short.
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

Result<ModelParts> PartsOf(const Guest& guest, std::span<const wasinn_bytes> builders, uint32_t target) {
  const auto known = kWit.target(target);
  if (!known) return Fail(WASINN_ERROR_INVALID_ARGUMENT, "{} is not an execution-target of wasi:nn", target);
  const uint32_t limit = guest.limits().max_builders;
  if (builders.size() > limit || (builders.data() == nullptr && !builders.empty())) {
    return Fail(WASINN_ERROR_TOO_LARGE, "a model of {} parts is over the limit of {}", builders.size(), limit);
  }
  ModelParts parts{.bytes = {}, .target = *known};
  parts.bytes.reserve(builders.size());
  for (const wasinn_bytes& part : builders) parts.bytes.emplace_back(part.data, part.size);
  return parts;
}

Result<const char*> EncodingOf(uint32_t encoding) {
  const auto known = kWit.encoding(encoding);
  if (!known) return Fail(WASINN_ERROR_INVALID_ENCODING, "{} is not a graph-encoding of wasi:nn", encoding);
  return *known;
}

}  // namespace wasinn::abi
