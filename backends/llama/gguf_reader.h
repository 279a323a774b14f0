// The structure of a GGUF file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::llama {

// GGUF's numbers.
enum class GgufType : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

struct GgufValue {
  GgufType type = GgufType::kU8;  // of the value, or of the elements of an array
  bool is_array = false;
  uint64_t count = 1;              // elements of an array
  std::span<const uint8_t> bytes;  // of all elements, within the file

  // The number, if it fits; empty for floats.
  std::optional<int64_t> Integer() const;
  std::optional<bool> Bool() const;
  std::optional<std::string_view> String() const;
  // For an array of strings, in order.
  void ForEachString(const std::function<void(std::string_view)>& visit) const;
  // For an array of 32-bit integers.
  std::optional<int64_t> IntegerAt(uint64_t index) const;
};

struct GgufTensor {
  std::string_view name;
  uint64_t dims[4] = {1, 1, 1, 1};
  uint32_t type = 0;  // ggml's number
};

// Views of a file's bytes. Throws WASINN_ERROR_INVALID_ENCODING with the reason.
class GgufFile {
 public:
  explicit GgufFile(std::span<const uint8_t> bytes);

  const GgufValue* Find(std::string_view key) const;
  const std::vector<GgufTensor>& tensors() const { return tensors_; }

 private:
  std::map<std::string_view, GgufValue> values_;
  std::vector<GgufTensor> tensors_;
};

}  // namespace wasinn::llama
