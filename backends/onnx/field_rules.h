// The fields of onnx.proto that matter before ONNX Runtime parses a model.
#pragma once

#include <cstdint>

namespace wasinn::onnx {

// The messages of onnx.proto that lead to what we look for.
enum class Message : uint8_t {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kValueInfo,
  kType,
  kTensorType,
  kTraining,
  kFunction,
  kEntry,
};

// What is in a field: a message, or something that a handler reads.
enum class Content : uint8_t {
  kMessage,
  kText,
  kNumber,
  kNumbers,  // whose product counts
  kAnything,
  kElements,  // numbers of as few bytes as they need, which become all alike
  kString,    // what may become an element of a tensor
};

struct FieldRule {
  Message in;
  uint8_t number;
  Content content;
  Message message;  // of kMessage
  bool repeated;
};

// Null: nothing of this field is looked at.
const FieldRule* FindRule(Message in, uint32_t number);

// What parsing makes of each object of Protocol Buffers beyond its own bytes.
inline constexpr uint64_t kBytesOfField = 64;
// Likewise of a field with this rule, which may be null.
uint64_t ParsedBytes(const FieldRule* rule);

// Of a node's operator, or of a function.
bool IsDomain(const FieldRule& rule);

}  // namespace wasinn::onnx
