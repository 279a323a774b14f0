// Tensors of strings, between the hosts' form (common/strings.h) and TensorFlow Lite's (string_block.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/aligned_buffer.h"
#include "common/strings.h"
#include "tflite/signature.h"
#include "tflite/tflite_library.h"

namespace wasinn::tflite {

// The strings of an input, as they are bound. The bytes may change concurrently.
class InputStrings {
 public:
  // `dims`: without the last one, which is `width`.
  InputStrings(const Port& port, std::span<const int> dims, int64_t width, const void* data)
      : port_(port), dims_(dims.begin(), dims.end()), strings_(port, With(width), data) {}
  InputStrings(const InputStrings&) = delete;
  InputStrings& operator=(const InputStrings&) = delete;

  // In TensorFlow Lite's form. Throws WASINN_ERROR_INVALID_ARGUMENT if a length is not true, WASINN_ERROR_TOO_LARGE if
  // the places need more than 32 bits.
  uint64_t bytes() const;
  // The tensor has these dims. Throws like bytes().
  void CopyInto(const TfLiteLibrary& library, TfLiteTensor* tensor) const;

 private:
  std::span<const int64_t> With(int64_t width) {
    dims_.push_back(width);
    return dims_;
  }

  const Port& port_;
  std::vector<int64_t> dims_;
  const backend::StringsOf strings_;
};

// The strings of an output, after a run.
class OutputStrings {
 public:
  // Throws WASINN_ERROR_RUNTIME if they are not as many as the tensor's dims say, or not inside of its bytes.
  OutputStrings(const TfLiteLibrary& library, const TfLiteTensor* tensor, const Port& port);

  // In the hosts' form; UINT64_MAX: too many to count.
  uint64_t bytes() const { return backend::StringsMemory::BytesFor(port_, count_, longest_); }
  // Returns the dims in the hosts' form.
  std::vector<int64_t> CopyInto(backend::AlignedBuffer* memory);

 private:
  std::string_view At(uint64_t index) const;

  const Port& port_;
  const char* const data_;
  std::vector<int64_t> dims_;
  uint64_t count_ = 0, longest_ = 0;
};

}  // namespace wasinn::tflite
