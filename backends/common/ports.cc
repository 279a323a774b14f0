#include "common/ports.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "common/dtype.h"
#include "common/throw.h"

namespace wasinn::backend {

bool Port::fixed_shape() const {
  return io.rank >= 0 && std::ranges::all_of(dims, [](int64_t dim) { return dim >= 0; });
}

uint64_t Port::bytes() const { return TensorBytes(dims, ElementSize(io.dtype)); }

void CheckBindable(const Port& port, const wasinn_tensor& tensor) {
  if (port.bindable() && tensor.bytes == port.bytes()) return;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "output '{}' cannot be bound to {} bytes: expected {}", port.name, tensor.bytes,
        port.bindable() ? fmt::format("{}", port.bytes()) : "an output that is bindable");
}

void ThrowUnbound(const Port& output) { Throw(WASINN_ERROR_INVALID_ARGUMENT, "output '{}' is not bound", output.name); }

void CheckRank(const std::string& name, size_t rank) {
  if (rank <= WASINN_MAX_RANK) return;
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "'{}' has {} dimensions: expected no more than {}", name, rank,
        WASINN_MAX_RANK);
}

void CheckTensor(const Port& port, const wasinn_tensor& tensor) {
  const std::span<const int64_t> dims(tensor.dims, tensor.rank);
  const uint64_t bytes = TensorBytes(dims, ElementSize(port.io.dtype));
  if (tensor.dtype == port.io.dtype && tensor.bytes == bytes) return;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "input '{}', of type {} and dims [{}]: expected {} bytes, found {}, of dtype {}",
        port.name, port.type_name, fmt::join(dims, ", "), bytes, tensor.bytes, tensor.dtype);
}

void ThrowNoPort(const char* kind, uint32_t index, size_t count) {
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "{} {}: the model has {}", kind, index, count);
}

void ThrowUnset(const Port& input) { Throw(WASINN_ERROR_INVALID_ARGUMENT, "input '{}' is not set", input.name); }

void ThrowTaken(std::string_view output) {
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "output '{}' was taken: compute again", output);
}

void ThrowUnshowable(const Port& output, std::string_view type, size_t rank) {
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
        "output '{}' became {} of {} dimensions: expected numbers, and no more than {}", output.name, type, rank,
        WASINN_MAX_RANK);
}

wasinn_tensor ViewOf(uint32_t dtype, std::span<const int64_t> dims, const void* data) {
  return {.struct_size = sizeof(wasinn_tensor),
          .dtype = dtype,
          .rank = static_cast<uint32_t>(dims.size()),
          .dims = dims.data(),
          .data = const_cast<void*>(data),
          .bytes = TensorBytes(dims, ElementSize(dtype))};
}

void ThrowUnservable(const char* kind, const Port& port) {
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "{} '{}' is of type {}: expected a tensor of numbers", kind, port.name,
        port.type_name);
}

}  // namespace wasinn::backend
