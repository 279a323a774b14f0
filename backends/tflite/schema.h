// What of TensorFlow Lite's schema of models is looked at.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tflite/schema.fbs.h"  // flatc's

namespace wasinn::tflite {

using Numbers = flatbuffers::Vector<int32_t>;
template <typename Table>
using Tables = flatbuffers::Vector<flatbuffers::Offset<Table>>;

// An absent vector has none.
template <typename T>
uint32_t SizeOf(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}
inline std::span<const int32_t> SpanOf(const Numbers* numbers) {
  return numbers == nullptr ? std::span<const int32_t>() : std::span(numbers->data(), numbers->size());
}
inline std::string_view TextOf(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

// Operators with a meaning here.
enum Operator : int32_t {
  kAveragePool = 1,
  kConv = 3,
  kDepthwiseConv = 4,
  kL2Pool = 12,
  kMaxPool = 17,
  kTransposeConv = 67,
  kConv3d = 132,
  kConv3dTranspose = 141,
  kCustom = 32,
  kDiv = 42,
  kFloorMod = 95,
  kIf = 118,
  kWhile = 119,
  kCallOnce = 129,
  kHashtable = 136,
  kHashtableSize = 139,
  kVarHandle = 142,
  kAssignVariable = 144,
  kRandomNormal = 146,
  kRandomUniform = 148,
  kMultinomial = 149,
};

}  // namespace wasinn::tflite
