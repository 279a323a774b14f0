#include "serve/oip/bytes.h"

#include <cstring>

namespace wasinn::serve {
namespace {

std::optional<std::span<const uint8_t>> First(std::span<const uint8_t> tensor) {
  if (tensor.size() < kLengthBytes) return {};
  uint32_t length = 0;
  std::memcpy(&length, tensor.data(), kLengthBytes);  // little-endian, like the host
  if (tensor.size() - kLengthBytes < length) return {};
  return tensor.subspan(kLengthBytes, length);
}

}  // namespace

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

}  // namespace wasinn::serve
