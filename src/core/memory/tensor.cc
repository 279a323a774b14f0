#include "core/memory/tensor.h"

#include <utility>

#include "base/tensor_bytes.h"
#include "core/words.h"

namespace wasinn::core {
namespace {

// How a guest may write a type that its ABI has no number for. Only these pairs match.
struct StandIn {
  uint32_t model, guest;
  bool doubled;  // the guest's last dimension counts bytes, two for each element
};
constexpr StandIn kStandIns[] = {
    {WASINN_DTYPE_I8, WASINN_DTYPE_U8, false},   {WASINN_DTYPE_BOOL, WASINN_DTYPE_U8, false},
    {WASINN_DTYPE_U32, WASINN_DTYPE_I32, false}, {WASINN_DTYPE_U64, WASINN_DTYPE_I64, false},
    {WASINN_DTYPE_I16, WASINN_DTYPE_U8, true},   {WASINN_DTYPE_U16, WASINN_DTYPE_U8, true},
    {WASINN_DTYPE_BF16, WASINN_DTYPE_U8, true}};

Status Mismatch(const wasinn_io& io, const TensorDesc& given) {
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "input '{}' takes {}, given {}", io.name, Describe(io), Describe(given));
}

// Rewrites a description in bytes to elements of two bytes; false if it is not one. A scalar of the model is [2] there.
bool HalveLastDimension(const wasinn_io& io, TensorDesc& tensor) {
  if (tensor.rank == 0 || tensor.dims[tensor.rank - 1] % 2 != 0) return false;
  tensor.dims[tensor.rank - 1] /= 2;
  if (io.rank == 0 && tensor.rank == 1 && tensor.dims[0] == 1) tensor.rank = 0;
  return true;
}

bool MatchDtype(const wasinn_io& io, TensorDesc& tensor) {
  if (io.dtype == WASINN_DTYPE_UNKNOWN || io.dtype == tensor.dtype) return true;
  for (const StandIn& pair : kStandIns) {
    if (pair.model != io.dtype || pair.guest != tensor.dtype) continue;
    if (pair.doubled && !HalveLastDimension(io, tensor)) return false;
    tensor.dtype = io.dtype;
    return true;
  }
  return false;
}

bool MatchShape(const wasinn_io& io, TensorDesc& tensor) {
  if (io.rank < 0) return true;
  if (io.rank == 0 && tensor.rank == 1 && tensor.dims[0] == 1) tensor.rank = 0;
  if ((io.flags & WASINN_IO_ROW) != 0 && io.rank == 2 && tensor.rank == 1) {
    tensor.rank = 2;
    tensor.dims[1] = std::exchange(tensor.dims[0], 1);
  }
  if (static_cast<uint32_t>(io.rank) != tensor.rank) return false;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (io.dims[i] >= 0 && io.dims[i] != tensor.dims[i]) return false;
  }
  return true;
}

// `tensor`: the guest's description, which is rewritten.
Status Match(const wasinn_io& io, const TensorDesc& given, uint64_t bytes, TensorDesc& tensor) {
  if ((io.flags & WASINN_IO_OPAQUE) != 0) {
    if (given.dtype != WASINN_DTYPE_U8) return Mismatch(io, given);
    tensor.rank = 1;
    tensor.dims[0] = static_cast<int64_t>(bytes);
    return Status();
  }
  if (!MatchDtype(io, tensor) || !MatchShape(io, tensor)) return Mismatch(io, given);
  std::optional<uint64_t> expected = ByteSize(tensor.dtype, tensor.shape());
  if (!expected) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "input '{}': the size of {} overflows", io.name, Describe(given));
  }
  if (*expected != bytes) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "input '{}': {} needs {} bytes, given {}", io.name, Describe(given),
                 *expected, bytes);
  }
  return Status();
}

}  // namespace

std::optional<uint64_t> ByteSize(uint32_t dtype, std::span<const int64_t> shape) {
  if (std::ranges::any_of(shape, [](int64_t dim) { return dim < 0; })) return std::nullopt;
  const uint64_t bytes = base::TensorBytes(shape, base::ElementSize(dtype));
  return bytes > INT64_MAX ? std::nullopt : std::optional(bytes);
}

uint64_t MissingBytes(uint32_t dtype, std::span<const int64_t> shape) {
  if (std::ranges::find(shape, 0) == shape.end()) return 0;
  uint64_t bytes = base::ElementSize(dtype);
  for (const int64_t dim : shape) {
    if (dim != 0 && __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return UINT64_MAX;
  }
  return bytes;
}

bool IsStatic(const wasinn_io& io) {
  return io.rank >= 0 && io.dtype != WASINN_DTYPE_UNKNOWN &&
         std::all_of(io.dims, io.dims + io.rank, [](int64_t dim) { return dim >= 0; });
}

std::optional<uint64_t> StaticSize(const wasinn_io& io) {
  if (!IsStatic(io)) return std::nullopt;
  return ByteSize(io.dtype, {io.dims, static_cast<size_t>(io.rank)});
}

// Built in place and returned by one name: a description is copied once, and not again at the return.
Result<TensorDesc> MatchInput(const wasinn_io& io, const TensorDesc& given, uint64_t bytes) {
  Result<TensorDesc> tensor(given);
  if (Status status = Match(io, given, bytes, *tensor); !status.ok()) tensor = std::unexpected(std::move(status));
  return tensor;
}

TensorDesc ShowAs(const TensorDesc& tensor, bool (*has)(uint32_t dtype)) {
  TensorDesc shown = tensor;
  if (has(tensor.dtype)) return shown;
  for (const StandIn& pair : kStandIns) {
    if (pair.model != tensor.dtype) continue;
    shown.dtype = pair.guest;
    if (!pair.doubled) break;
    if (shown.rank == 0) shown.dims[shown.rank++] = 1;
    // A tensor of no bytes may have any dimensions.
    int64_t& last = shown.dims[shown.rank - 1];
    if (__builtin_mul_overflow(last, 2, &last)) last = INT64_MAX;
    break;
  }
  return shown;
}

std::string Describe(uint32_t dtype, int32_t rank, const int64_t* dims) {
  std::string text = std::string(DtypeName(dtype)) + " [";
  if (rank < 0) text += "...";
  for (int32_t i = 0; i < rank; ++i) {
    if (i > 0) text += ", ";
    text += dims[i] < 0 ? "?" : std::to_string(dims[i]);
  }
  return text + "]";
}

std::string Describe(const wasinn_io& io) {
  if ((io.flags & WASINN_IO_OPAQUE) != 0) return "u8 of any length";
  return Describe(io.dtype, io.rank, io.dims);
}

std::string Describe(const TensorDesc& tensor) {
  return Describe(tensor.dtype, static_cast<int32_t>(tensor.rank), tensor.dims);
}

}  // namespace wasinn::core
