#include "oip/datatype.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace wasinn::oip {
namespace {

// tensor-type of wasi:nn
enum : uint32_t { kFp16 = 0, kFp32 = 1, kFp64 = 2, kBf16 = 3, kU8 = 4, kI32 = 5, kI64 = 6 };

// A type without a number in wasi:nn travels bit for bit, as in core/memory/tensor.h. Of two that travel alike, the
// first is the one in wasi:nn.
constexpr Datatype kAll[] = {
    {"FP16", WASINN_DTYPE_F16, 2, kFp16, 1},  {"FP32", WASINN_DTYPE_F32, 4, kFp32, 1},
    {"FP64", WASINN_DTYPE_F64, 8, kFp64, 1},  {"BF16", WASINN_DTYPE_BF16, 2, kBf16, 1},
    {"UINT8", WASINN_DTYPE_U8, 1, kU8, 1},    {"INT32", WASINN_DTYPE_I32, 4, kI32, 1},
    {"INT64", WASINN_DTYPE_I64, 8, kI64, 1},  {"INT8", WASINN_DTYPE_I8, 1, kU8, 1},
    {"BOOL", WASINN_DTYPE_BOOL, 1, kU8, 1},   {"UINT16", WASINN_DTYPE_U16, 2, kU8, 2},
    {"INT16", WASINN_DTYPE_I16, 2, kU8, 2},   {"UINT32", WASINN_DTYPE_U32, 4, kI32, 1},
    {"UINT64", WASINN_DTYPE_U64, 8, kI64, 1}, {"BYTES", WASINN_DTYPE_UNKNOWN, 0, kU8, 1},
};

template <typename Is>
const Datatype* Find(const Is& is) {
  const auto* found = std::ranges::find_if(kAll, is);
  return found == std::end(kAll) ? nullptr : found;
}

std::optional<std::span<const uint8_t>> First(std::span<const uint8_t> tensor) {
  if (tensor.size() < kLengthBytes) return {};
  uint32_t length = 0;
  std::memcpy(&length, tensor.data(), kLengthBytes);  // little-endian, like the host
  if (tensor.size() - kLengthBytes < length) return {};
  return tensor.subspan(kLengthBytes, length);
}

}  // namespace

const Datatype* FindDatatype(std::string_view name) {
  return Find([&](const Datatype& one) { return one.name == name; });
}

const Datatype* FindDatatype(wasinn_dtype dtype) {
  return dtype == WASINN_DTYPE_UNKNOWN ? nullptr : Find([&](const Datatype& one) { return one.dtype == dtype; });
}

const Datatype& Bytes() { return kAll[std::size(kAll) - 1]; }

const Datatype& OfWit(uint32_t tensor_type) {
  return *Find([&](const Datatype& one) { return one.wit == tensor_type; });
}

void AppendElement(std::string& tensor, std::span<const uint8_t> element) {
  const auto length = static_cast<uint32_t>(element.size());
  tensor.append(reinterpret_cast<const char*>(&length), kLengthBytes);
  tensor.append(reinterpret_cast<const char*>(element.data()), element.size());
}

std::optional<std::vector<std::string_view>> Elements(std::span<const uint8_t> tensor) {
  std::vector<std::string_view> elements;
  while (!tensor.empty()) {
    const auto element = First(tensor);
    if (!element) return {};
    elements.emplace_back(reinterpret_cast<const char*>(element->data()), element->size());
    tensor = tensor.subspan(kLengthBytes + element->size());
  }
  return elements;
}

std::optional<uint64_t> CountElements(std::span<const uint8_t> tensor) {
  uint64_t elements = 0;
  for (; !tensor.empty(); ++elements) {
    const auto element = First(tensor);
    if (!element) return {};
    tensor = tensor.subspan(kLengthBytes + element->size());
  }
  return elements;
}

std::optional<std::span<const uint8_t>> OnlyElement(std::span<const uint8_t> tensor) {
  const auto element = First(tensor);
  if (!element || kLengthBytes + element->size() != tensor.size()) return {};
  return element;
}

}  // namespace wasinn::oip
