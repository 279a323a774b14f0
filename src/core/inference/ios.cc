#include "core/inference/ios.h"

namespace wasinn::core {
namespace {

template <typename... Args>
Status Nonsense(const char* backend, fmt::format_string<Args...> text, Args&&... args) {
  return Status(WASINN_ERROR_RUNTIME, fmt::format(text, std::forward<Args>(args)...), backend);
}

Status CheckIo(const wasinn_io* io, const char* what, const char* backend) {
  if (io == nullptr) return Nonsense(backend, "an {} is not there", what);
  // The first version of the struct has all the fields that are read.
  if (io->struct_size < sizeof(wasinn_io)) {
    return Nonsense(backend, "an {} has struct_size {}: expected {} or more", what, io->struct_size, sizeof(wasinn_io));
  }
  if (io->name == nullptr) return Nonsense(backend, "an {} has no name", what);
  if (io->rank < -1 || (io->rank > 0 && io->dims == nullptr)) {
    return Nonsense(backend, "{} '{}' has rank {} without dimensions", what, io->name, io->rank);
  }
  if (io->rank <= WASINN_MAX_RANK) return Status();
  return Status(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("{} '{}' has {} dimensions, more than {}", what, io->name, io->rank, WASINN_MAX_RANK),
                backend);
}

}  // namespace

Status CheckSignature(std::span<const wasinn_io* const> ios, const char* what, const char* backend) {
  if (ios.data() == nullptr && !ios.empty()) {
    return Nonsense(backend, "{} {}s are not there", ios.size(), what);
  }
  for (const wasinn_io* io : ios) {
    RETURN_IF_ERROR(CheckIo(io, what, backend));
  }
  return Status();
}

Status CheckView(const wasinn_tensor& view, const char* backend) {
  if (view.rank > WASINN_MAX_RANK) {
    return Nonsense(backend, "the backend shows a tensor of {} dimensions, more than {}", view.rank, WASINN_MAX_RANK);
  }
  if (view.rank > 0 && view.dims == nullptr) return Nonsense(backend, "the backend shows a tensor without dimensions");
  if (view.bytes == 0) return Status();
  if (view.data != nullptr && ByteSize(view.dtype, {view.dims, view.rank}) == view.bytes) return Status();
  return Nonsense(backend, "the backend shows {} bytes, which are not there or not what their shape needs", view.bytes);
}

}  // namespace wasinn::core
