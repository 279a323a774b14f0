// Values of ONNX Runtime that are not tensors of numbers, and the tensors that hosts have for them: strings as u8, with one
// dimension more (WASINN_IO_STRINGS).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/aligned_buffer.h"
#include "onnx/call_scope.h"
#include "onnx/ort_library.h"
#include "onnx/signature.h"

namespace wasinn::onnx {

// Makes a port of strings of one whose dims are theirs. It stays UNSERVABLE if there is no room for one more dimension.
void MakeStrings(Port& port);

// The strings of an input. The bytes may change meanwhile.
class StringsOf {
 public:
  // WASINN_ERROR_INVALID_ARGUMENT: they are none.
  StringsOf(const Port& port, std::span<const int64_t> dims, const void* data);

  std::span<const int64_t> dims() const { return dims_; }
  uint64_t size() const { return size_; }
  // Throws WASINN_ERROR_INVALID_ARGUMENT.
  std::string_view At(uint64_t index) const;

 private:
  const Port& port_;
  std::span<const int64_t> dims_;
  uint64_t size_, width_;
  const uint8_t* data_;
};

// Makes the value on which ONNX Runtime computes for an input of strings.
OrtPtr<OrtValue> MakeStringTensor(const OrtLibrary& library, const StringsOf& strings, MemoryBudget& budget);

// The same of an output, in `buffer`; the dims of what lies there. Memory that `budget` does not have is WASINN_ERROR_TOO_LARGE.
std::vector<int64_t> ReadStrings(const OrtLibrary& library, const OrtValue* value, const Port& port,
                                 MemoryBudget& budget, backend::AlignedBuffer* buffer);
// Maps of classes to floats, as ZipMap makes them: f32 [N, classes], in the order of `port.classes`.
std::vector<int64_t> ReadClassMaps(const OrtLibrary& library, const OrtValue* value, const Port& port,
                                   MemoryBudget& budget, backend::AlignedBuffer* buffer);

}  // namespace wasinn::onnx
