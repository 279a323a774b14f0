#include "bench/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace wasinn::bench {
namespace {

// Small, fast, and good enough; it gives the same numbers on every machine.
class Random {
 public:
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_ = 1;
};

template <typename T, typename Make>
void FillWith(Buffer& buffer, Make make) {
  for (size_t at = 0; at + sizeof(T) <= buffer.size(); at += sizeof(T)) {
    const T value = static_cast<T>(make());
    std::memcpy(buffer.data() + at, &value, sizeof(T));
  }
}

void Fill(Dtype dtype, Random& random, Buffer& buffer) {
  switch (dtype) {
    case WASINN_DTYPE_F16:  // 0.5 to 1, by its bits
      return FillWith<uint16_t>(buffer, [&] { return 0x3800 | (random.Next() & 0x3ff); });
    case WASINN_DTYPE_BF16:
      return FillWith<uint16_t>(buffer, [&] { return 0x3f00 | (random.Next() & 0x7f); });
    case WASINN_DTYPE_F32:
      return FillWith<float>(buffer, [&] { return static_cast<float>(random.Next() >> 40) * 0x1p-24f; });
    case WASINN_DTYPE_F64:
      return FillWith<double>(buffer, [&] { return static_cast<double>(random.Next() >> 11) * 0x1p-53; });
    case WASINN_DTYPE_U8:
    case WASINN_DTYPE_I8:
      return FillWith<uint8_t>(buffer, [&] { return random.Next() & 0x7f; });
    case WASINN_DTYPE_U16:
    case WASINN_DTYPE_I16:
      return FillWith<uint16_t>(buffer, [&] { return random.Next() & 0x7f; });
    case WASINN_DTYPE_U32:
    case WASINN_DTYPE_I32:
      return FillWith<uint32_t>(buffer, [&] { return random.Next() & 1; });
    case WASINN_DTYPE_U64:
    case WASINN_DTYPE_I64:
      return FillWith<uint64_t>(buffer, [&] { return random.Next() & 1; });
    case WASINN_DTYPE_BOOL:
      return FillWith<uint8_t>(buffer, [&] { return random.Next() & 1; });
    case WASINN_DTYPE_UNKNOWN:
      return;
  }
}

// The shape to use: each dimension as the model declares it, else as the user sets it, else 1.
Result<std::vector<int64_t>> ShapeOf(const Io& io, const Shapes& shapes) {
  const auto given = shapes.find(io.name);
  if (given == shapes.end() && !io.has_rank) {
    return std::unexpected(fmt::format(
        "the model does not say which shape input '{}' has: --shape {}=1x3x8x8, or what it takes", io.name, io.name));
  }
  if (given == shapes.end()) {
    std::vector<int64_t> dims = io.dims;
    for (int64_t& dim : dims) dim = dim < 0 ? 1 : dim;
    return dims;
  }
  const std::vector<int64_t>& dims = given->second;
  bool fits = !io.has_rank || dims.size() == io.dims.size();
  for (size_t i = 0; fits && i < io.dims.size(); ++i) fits = io.dims[i] < 0 || io.dims[i] == dims[i];
  if (fits) return dims;
  return std::unexpected(fmt::format("input '{}' takes [{}], --shape says [{}]", io.name, fmt::join(io.dims, ", "),
                                     fmt::join(dims, ", ")));
}

Result<size_t> SizeOf(const Io& io, std::span<const int64_t> dims) {
  size_t bytes = ElementSize(io.dtype);
  for (const int64_t dim : dims) {
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(dim), &bytes) || bytes > UINT32_MAX) {
      return std::unexpected(
          fmt::format("input '{}' of [{}] is more than a guest can hold", io.name, fmt::join(dims, ", ")));
    }
  }
  return bytes;
}

Result<Tensor> MakeInput(Io io, uint32_t index, const Shapes& shapes, Random& random) {
  if (io.dtype == WASINN_DTYPE_UNKNOWN) io.dtype = WASINN_DTYPE_F32;
  Result<std::vector<int64_t>> dims = ShapeOf(io, shapes);
  if (!dims) return std::unexpected(dims.error());
  const Result<size_t> size = SizeOf(io, *dims);
  if (!size) return std::unexpected(size.error());
  Tensor tensor{index, io.name, io.dtype, std::move(*dims), Buffer(*size)};
  if ((io.flags & WASINN_IO_STRINGS) == 0) Fill(io.dtype, random, tensor.data);  // zeros are empty strings
  return tensor;
}

Result<void> CheckServable(const Io& io, const char* what) {
  // If the type is unknown, the model takes any type, as in TorchScript.
  if ((io.flags & WASINN_IO_UNSERVABLE) == 0) return {};
  return std::unexpected(fmt::format("{} '{}' is of type {}, which bench cannot pass", what, io.name,
                                     io.type_name.empty() ? "?" : io.type_name));
}

}  // namespace

Buffer::Buffer(size_t size) : size_(size) {
  constexpr size_t kAlignment = 64;
  const size_t room = (size + kAlignment) / kAlignment * kAlignment;
  data_.reset(static_cast<uint8_t*>(std::aligned_alloc(kAlignment, room)));
  if (data_ == nullptr) throw std::bad_alloc();
  std::memset(data_.get(), 0, room);
}

size_t ElementSize(Dtype dtype) {
  switch (dtype) {
    case WASINN_DTYPE_U8:
    case WASINN_DTYPE_I8:
    case WASINN_DTYPE_BOOL:
      return 1;
    case WASINN_DTYPE_F16:
    case WASINN_DTYPE_BF16:
    case WASINN_DTYPE_U16:
    case WASINN_DTYPE_I16:
      return 2;
    case WASINN_DTYPE_F32:
    case WASINN_DTYPE_U32:
    case WASINN_DTYPE_I32:
      return 4;
    case WASINN_DTYPE_F64:
    case WASINN_DTYPE_U64:
    case WASINN_DTYPE_I64:
      return 8;
    case WASINN_DTYPE_UNKNOWN:
      break;
  }
  return 0;
}

Result<std::vector<Tensor>> MakeInputs(const Signature& signature, const Shapes& shapes) {
  for (const auto& [name, dims] : shapes) {
    const bool known = std::ranges::any_of(signature.inputs, [&](const Io& io) { return io.name == name; });
    if (!known) return std::unexpected(fmt::format("--shape: the model has no input '{}'", name));
  }
  Random random;
  std::vector<Tensor> inputs;
  for (uint32_t i = 0; i < signature.inputs.size(); ++i) {
    const Io& io = signature.inputs[i];
    if ((io.flags & WASINN_IO_OPTIONAL) != 0) continue;
    if (const Result<void> servable = CheckServable(io, "input"); !servable) return std::unexpected(servable.error());
    Result<Tensor> input = MakeInput(io, i, shapes, random);
    if (!input) return std::unexpected(input.error());
    inputs.push_back(std::move(*input));
  }
  return inputs;
}

Result<std::vector<Tensor>> MakeOutputs(const Signature& signature) {
  std::vector<Tensor> outputs;
  for (uint32_t i = 0; i < signature.outputs.size(); ++i) {
    const Io& io = signature.outputs[i];
    if (const Result<void> servable = CheckServable(io, "output"); !servable) return std::unexpected(servable.error());
    outputs.push_back({i, io.name, io.dtype, {}, Buffer()});
  }
  return outputs;
}

}  // namespace wasinn::bench
