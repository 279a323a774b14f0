// Values of ONNX Runtime that are not tensors of numbers, and the hosts' tensors for them.
#pragma once

#include <cstdint>
#include <vector>

#include "common/aligned_buffer.h"
#include "common/strings.h"
#include "onnx/call_scope.h"
#include "onnx/ort_library.h"
#include "onnx/signature.h"

namespace wasinn::onnx {

// Makes the value on which ONNX Runtime computes for an input of strings.
OrtPtr<OrtValue> MakeStringTensor(const OrtLibrary& library, const backend::StringsOf& strings, MemoryBudget& budget);

// As above, for an output, in `buffer`; returns the dims. Memory beyond `budget` is WASINN_ERROR_TOO_LARGE.
std::vector<int64_t> ReadStrings(const OrtLibrary& library, const OrtValue* value, const Port& port,
                                 MemoryBudget& budget, backend::AlignedBuffer* buffer);
// Maps from classes to floats, as ZipMap makes them: f32 [N, classes], in the order of `port.classes`.
std::vector<int64_t> ReadClassMaps(const OrtLibrary& library, const OrtValue* value, const Port& port,
                                   MemoryBudget& budget, backend::AlignedBuffer* buffer);
// The element of a sequence of tensors that the port is.
std::vector<int64_t> ReadElement(const OrtLibrary& library, const OrtValue* value, const Port& port,
                                 MemoryBudget& budget, backend::AlignedBuffer* buffer);

}  // namespace wasinn::onnx
