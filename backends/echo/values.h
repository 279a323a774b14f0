// The values in a slot of echo: inputs and outputs, and generated text.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <string>
#include <vector>

namespace wasinn::echo {

struct Buffer {
  wasinn_tensor tensor{};
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;
  bool there = false;

  // Only allocates if it is too small. `data`: memory of another owner, or NULL.
  void Set(const wasinn_tensor& given, void* data = nullptr) {
    tensor = given;
    there = true;
    dims.assign(given.dims, given.dims + given.rank);
    if (data == nullptr && bytes.size() != given.bytes) bytes = std::vector<uint8_t>(given.bytes);
    tensor.dims = dims.data();
    tensor.data = data == nullptr ? bytes.data() : data;
  }
};

// Generated text, as a tensor of bytes.
class Text {
 public:
  void Set(std::string text) {
    text_.swap(text);
    dim_ = static_cast<int64_t>(text_.size());
  }
  void Append(const char* data, size_t size) { Set(text_ + std::string(data, size)); }
  size_t size() const { return text_.size(); }
  wasinn_tensor View() {
    return {.struct_size = sizeof(wasinn_tensor),
            .dtype = WASINN_DTYPE_U8,
            .rank = 1,
            .dims = &dim_,
            .data = text_.data(),
            .bytes = text_.size(),
            .owner = nullptr,
            .release = nullptr};
  }

 private:
  std::string text_;
  int64_t dim_ = 0;
};

}  // namespace wasinn::echo
