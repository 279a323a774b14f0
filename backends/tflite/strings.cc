#include "tflite/strings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "common/dtype.h"
#include "common/throw.h"
#include "tflite/string_block.h"

namespace wasinn::tflite {

using backend::Throw;

uint64_t InputStrings::bytes() const {
  uint64_t bytes = string_block::TextBegin(strings_.size());
  for (uint64_t i = 0; i < strings_.size(); ++i) bytes += strings_.At(i).size();
  if (bytes <= INT_MAX) return bytes;
  Throw(WASINN_ERROR_TOO_LARGE, "input '{}': strings of {} bytes: TensorFlow Lite counts to {}", port_.name, bytes,
        INT_MAX);
}

void InputStrings::CopyInto(const TfLiteLibrary& library, TfLiteTensor* tensor) const {
  const uint64_t all = bytes();
  library.tensor_realloc(all, tensor);
  char* const block = static_cast<char*>(library.tensor_data(tensor));
  if (block == nullptr || library.tensor_byte_size(tensor) != all) {
    Throw(WASINN_ERROR_RUNTIME, "input '{}' has no memory", port_.name);
  }
  uint64_t end = string_block::TextBegin(strings_.size());
  string_block::SetNumber(block, 0, strings_.size());
  string_block::SetNumber(block, 1, end);
  for (uint64_t i = 0; i < strings_.size(); ++i) {
    const std::string_view text = strings_.At(i);
    if (text.size() > all - end) Throw(WASINN_ERROR_INVALID_ARGUMENT, "input '{}' changed meanwhile", port_.name);
    if (!text.empty()) std::memcpy(block + end, text.data(), text.size());
    end += text.size();
    string_block::SetNumber(block, i + 2, end);
  }
}

OutputStrings::OutputStrings(const TfLiteLibrary& library, const TfLiteTensor* tensor, const Port& port)
    : port_(port), data_(static_cast<const char*>(library.tensor_data(tensor))), dims_(library.DimsOf(tensor)) {
  const size_t bytes = data_ == nullptr ? 0 : library.tensor_byte_size(tensor);
  count_ = backend::TensorBytes(dims_, 1);
  if (library.tensor_type(tensor) == kTfLiteString && dims_.size() < WASINN_MAX_RANK &&
      (count_ == 0 || string_block::Holds({data_, bytes}, count_, &longest_))) {
    return;
  }
  Throw(WASINN_ERROR_RUNTIME, "output '{}' became a {} of dims [{}] and {} bytes: expected a {}", port.name,
        TfLiteName(library.tensor_type(tensor)), fmt::join(dims_, ", "), bytes, port.type_name);
}

std::string_view OutputStrings::At(uint64_t index) const {
  const int32_t from = string_block::NumberAt(data_, index + 1);
  return {data_ + from, static_cast<size_t>(string_block::NumberAt(data_, index + 2) - from)};
}

std::vector<int64_t> OutputStrings::CopyInto(backend::AlignedBuffer* memory) {
  memory->Fit(bytes());
  backend::StringsMemory copy(*memory, count_, longest_);
  for (uint64_t i = 0; i < count_; ++i) copy.Set(i, At(i));
  dims_.push_back(copy.width());
  return std::move(dims_);
}

}  // namespace wasinn::tflite
