// Signatures of inputs and outputs, and how their bytes are shown to a backend or copied from it.
#pragma once

#include <wasinn/backend.h>

#include <span>

#include "core/memory/copy.h"
#include "core/memory/tensor.h"
#include "core/status.h"
#include "core/words.h"

namespace wasinn::core {

[[gnu::cold]] inline Status NoSuchIndex(const char* what, uint32_t index, size_t count) {
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "there is no {} {}: the model has {}", what, index, count);
}

inline bool IsUnservable(const wasinn_io& io) { return (io.flags & WASINN_IO_UNSERVABLE) != 0; }

[[gnu::cold]] inline Status Unservable(const char* what, const wasinn_io& io, const char* backend) {
  return Status(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("{} '{}' is of type {}, which cannot be passed as a tensor of numbers", what, io.name,
                            io.type_name == nullptr ? "unknown" : io.type_name),
                backend);
}

[[gnu::cold]] inline Status NotThere(uint32_t index) {
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "output {} is not there: compute first", index);
}

// Checks a backend's signature against the rules of backend.h, so that nothing is read that does not exist.
Status CheckSignature(std::span<const wasinn_io* const> ios, const char* what, const char* backend);
// An output that was not wanted may have no bytes, whatever its shape.
Status CheckView(const wasinn_tensor& view, const char* backend);

// Copies an output into the beginning of a guest's buffer. If that is too small, only sets the size.
inline Status CopyOut(const wasinn_io& io, const wasinn_tensor& view, std::span<uint8_t> buffer, uint64_t& size,
                      CopyCount& count) {
  size = view.bytes;
  if (buffer.size() < view.bytes) {
    return Error(WASINN_ERROR_TOO_LARGE, "output '{}' has {} bytes, the buffer {}", io.name, view.bytes, buffer.size());
  }
  CopyTensorBytes(buffer.first(view.bytes), {static_cast<const uint8_t*>(view.data), view.bytes}, count);
  return Status();
}

}  // namespace wasinn::core
