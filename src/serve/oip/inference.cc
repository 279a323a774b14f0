#include "serve/oip/inference.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace wasinn::serve {

void AddDim(InputTensor& tensor, int64_t dim) {
  if (tensor.shape.size() == WASINN_MAX_RANK) {
    ThrowInvalid("input '{}' has more than {} dimensions", tensor.name, WASINN_MAX_RANK);
  }
  if (dim < 0) ThrowInvalid("input '{}': {} is not a dimension", tensor.name, dim);
  tensor.shape.push_back(dim);
}

uint64_t CountElements(const InputTensor& tensor) {
  uint64_t elements = 1;
  for (const int64_t dim : tensor.shape) {
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(dim), &elements)) {
      ThrowInvalid("input '{}': no tensor can have its shape", tensor.name);
    }
  }
  return elements;
}

StringRecords ToRecords(const InputTensor& input, Charge& charge) {
  const auto count = CountElements(input);
  const auto given = CountElements(input.bytes());
  if (!given) ThrowInvalid("input '{}' has bytes that are not BYTES: lengths and elements", input.name);
  if (*given != count) ThrowInvalid("input '{}' has {} elements, not {}", input.name, *given, count);
  if (!charge.Add(count * sizeof(std::string_view))) throw NoMemory();
  const std::vector<std::string_view> elements = *Elements(input.bytes());
  uint64_t width = kLengthBytes, bytes = 0;
  for (const std::string_view element : elements) width = std::max<uint64_t>(width, kLengthBytes + element.size());
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  const bool fits = width <= kMax && !__builtin_mul_overflow(count, width, &bytes) && charge.Add(bytes);
  if (!fits) {
    Throw(WASINN_ERROR_TOO_LARGE,
          "input '{}': {} strings, the longest of {} bytes, are more than the "
          "server may hold",
          input.name, count, width - kLengthBytes);
  }
  StringRecords records;
  for (const int64_t dim : input.shape) {
    if (std::cmp_greater(dim, kMax)) ThrowInvalid("input '{}': {} is not a dimension", input.name, dim);
    records.shape.push_back(static_cast<uint32_t>(dim));
  }
  records.shape.push_back(static_cast<uint32_t>(width));
  records.bytes.reserve(bytes);
  for (const std::string_view element : elements) {
    AppendElement(records.bytes, {reinterpret_cast<const uint8_t*>(element.data()), element.size()});
    records.bytes.append(width - kLengthBytes - element.size(), '\0');
  }
  return records;
}

void ToElements(OutputTensor& output) {
  const auto wrong = [&] { Throw(WASINN_ERROR_RUNTIME, "output '{}' is not of strings", output.name); };
  if (output.shape.empty()) wrong();
  const auto width = static_cast<uint64_t>(output.shape.back());
  output.shape.pop_back();
  auto bytes = std::make_shared<std::string>();
  for (std::span<const uint8_t> left = output.bytes; !left.empty(); left = left.subspan(width)) {
    uint32_t length = 0;
    if (width < kLengthBytes || left.size() < width) wrong();
    std::memcpy(&length, left.data(), kLengthBytes);  // little-endian, like the host
    if (length > width - kLengthBytes) wrong();
    bytes->append(reinterpret_cast<const char*>(left.data()), kLengthBytes + length);
  }
  output.datatype = &Bytes();
  output.bytes = {reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()};
  output.owner = std::move(bytes);
}

}  // namespace wasinn::serve
