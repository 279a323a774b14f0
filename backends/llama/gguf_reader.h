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

// By GGUF's numbers.
enum class GgufType : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

struct GgufValue {
  GgufType type = GgufType::kU8;  // of the value, or of an array's elements
  bool is_array = false;
  uint64_t count = 1;              // elements of an array
  std::span<const uint8_t> bytes;  // of all elements, within the file

  // The number, where it is one that fits; a float never is.
  std::optional<int64_t> Integer() const;
  std::optional<bool> Bool() const;
  std::optional<std::string_view> String() const;
  // Of an array of strings, in order.
  void ForEachString(const std::function<void(std::string_view)>& visit) const;
  // Of an array of whole numbers of 32 bits.
  std::optional<int64_t> IntegerAt(uint64_t index) const;
};

struct GgufTensor {
  std::string_view name;
  uint64_t dims[4] = {1, 1, 1, 1};
  uint32_t type = 0;  // by ggml's numbers
};

// Views of a file's bytes. Throws WASINN_ERROR_INVALID_ENCODING that says what is wrong.
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
