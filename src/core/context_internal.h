// What the source files of Context share.
#pragma once

#include <algorithm>
#include <span>

#include "core/context.h"

namespace wasinn::core {

inline Status NoSuchIndex(const char* what, uint32_t index, size_t count) {
  return Error(WASINN_INVALID_ARGUMENT, "there is no {} {}: the model has {}", what, index, count);
}

inline bool IsUnservable(const wasinn_io& io) { return (io.flags & WASINN_IO_UNSERVABLE) != 0; }

inline Status Unservable(const char* what, const wasinn_io& io, const char* backend) {
  return Status(WASINN_UNSUPPORTED_OPERATION,
                fmt::format("{} '{}' is of type {}, which cannot be passed as a tensor of numbers", what, io.name,
                            io.type_name == nullptr ? "unknown" : io.type_name),
                backend);
}

inline bool IsStatic(const wasinn_io& io) {
  return io.rank >= 0 && io.dtype != WASINN_DTYPE_UNKNOWN &&
         std::all_of(io.dims, io.dims + io.rank, [](int64_t dim) { return dim >= 0; });
}

// Whether a compute or step that ended so has outputs: a model that generates has filled its context with them.
inline bool LeavesOutputs(const Status& status) {
  return status.ok() || status.code() == WASINN_CONTEXT_FULL || status.code() == WASINN_END_OF_SEQUENCE;
}

// A framework may treat a bool of 2 as it likes. `bytes` are ours: no guest writes them any more.
inline Status CheckBools(uint32_t dtype, std::span<const uint8_t> bytes, const wasinn_io& io) {
  if (dtype != WASINN_BOOL || std::ranges::none_of(bytes, [](uint8_t byte) { return byte > 1; })) return Status();
  return Error(WASINN_INVALID_ARGUMENT, "input '{}': a bool is one byte, 0 or 1", io.name);
}

inline Status TooManyDimensions(const wasinn_tensor& tensor) {
  return Error(WASINN_RUNTIME_ERROR, "the backend shows a tensor of {} dimensions, more than {}", tensor.rank,
               WASINN_MAX_RANK);
}

// Of bytes that a backend is to read.
inline wasinn_tensor ViewOf(const TensorDesc& tensor, std::span<const uint8_t> bytes) {
  return {.struct_size = sizeof(wasinn_tensor),
          .dtype = tensor.dtype,
          .rank = tensor.rank,
          .dims = tensor.dims,
          // What is const to the guest is to the backend, too.
          .data = const_cast<uint8_t*>(bytes.data()),
          .bytes = bytes.size(),
          .owner = nullptr,
          .release = nullptr};
}

// An output into the beginning of a guest's buffer, or its size alone if that is too small.
inline Status CopyOut(const wasinn_io& io, const wasinn_tensor& view, std::span<uint8_t> buffer, uint64_t& size,
                      CopyCount& count) {
  size = view.bytes;
  if (buffer.size() < view.bytes) {
    return Error(WASINN_TOO_LARGE, "output '{}' has {} bytes, the buffer {}", io.name, view.bytes, buffer.size());
  }
  CopyTensorBytes(buffer.first(view.bytes), {static_cast<const uint8_t*>(view.data), view.bytes}, count);
  return Status();
}

}  // namespace wasinn::core
