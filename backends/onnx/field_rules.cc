#include "onnx/field_rules.h"

namespace wasinn::onnx {
namespace {

constexpr Message kNone = Message::kModel;

constexpr FieldRule kRules[] = {
    {Message::kModel, 7, Content::kMessage, Message::kGraph, false},
    {Message::kModel, 14, Content::kMessage, Message::kEntry, true},
    {Message::kModel, 20, Content::kMessage, Message::kTraining, true},
    {Message::kModel, 25, Content::kMessage, Message::kFunction, true},
    {Message::kGraph, 1, Content::kMessage, Message::kNode, true},
    {Message::kGraph, 5, Content::kMessage, Message::kTensor, true},
    {Message::kGraph, 11, Content::kMessage, Message::kValueInfo, true},
    {Message::kGraph, 12, Content::kMessage, Message::kValueInfo, true},
    {Message::kGraph, 15, Content::kMessage, Message::kSparseTensor, true},
    {Message::kNode, 4, Content::kText, kNone, false},  // op_type
    {Message::kNode, 5, Content::kMessage, Message::kAttribute, true},
    {Message::kNode, 7, Content::kText, kNone, false},         // domain
    {Message::kAttribute, 1, Content::kText, kNone, false},    // name
    {Message::kAttribute, 4, Content::kString, kNone, false},  // s
    {Message::kAttribute, 5, Content::kMessage, Message::kTensor, false},
    {Message::kAttribute, 6, Content::kMessage, Message::kGraph, false},
    {Message::kAttribute, 8, Content::kElements, kNone, true},  // ints
    {Message::kAttribute, 9, Content::kString, kNone, true},    // strings
    {Message::kAttribute, 10, Content::kMessage, Message::kTensor, true},
    {Message::kAttribute, 11, Content::kMessage, Message::kGraph, true},
    {Message::kAttribute, 22, Content::kMessage, Message::kSparseTensor, false},
    {Message::kAttribute, 23, Content::kMessage, Message::kSparseTensor, true},
    {Message::kTensor, 5, Content::kElements, kNone, true},   // int32_data
    {Message::kTensor, 6, Content::kString, kNone, true},     // string_data
    {Message::kTensor, 7, Content::kElements, kNone, true},   // int64_data
    {Message::kTensor, 11, Content::kElements, kNone, true},  // uint64_data
    {Message::kTensor, 13, Content::kAnything, kNone, true},  // external_data
    {Message::kTensor, 14, Content::kNumber, kNone, false},   // data_location
    {Message::kSparseTensor, 1, Content::kMessage, Message::kTensor, false},
    {Message::kSparseTensor, 2, Content::kMessage, Message::kTensor, false},
    {Message::kSparseTensor, 3, Content::kNumbers, kNone, true},  // dims
    {Message::kValueInfo, 1, Content::kText, kNone, false},       // name
    {Message::kValueInfo, 2, Content::kMessage, Message::kType, false},
    {Message::kType, 1, Content::kMessage, Message::kTensorType, false},
    {Message::kTensorType, 2, Content::kAnything, kNone, false},  // shape
    {Message::kTraining, 1, Content::kMessage, Message::kGraph, false},
    {Message::kTraining, 2, Content::kMessage, Message::kGraph, false},
    {Message::kFunction, 1, Content::kText, kNone, false},  // name
    {Message::kFunction, 7, Content::kMessage, Message::kNode, true},
    {Message::kFunction, 10, Content::kText, kNone, false},  // domain
    {Message::kFunction, 11, Content::kMessage, Message::kAttribute, true},
    {Message::kEntry, 1, Content::kText, kNone, false},  // key
};

// What parsing makes of a field beyond its own bytes: an object of Protocol Buffers for each (a string is one), and of
// some messages also what a session keeps for them. In a file they may be of two bytes.
constexpr uint64_t kBytesOfNode = 4096, kBytesOfValue = 2048;

}  // namespace

const FieldRule* FindRule(Message in, uint32_t number) {
  for (const FieldRule& rule : kRules) {
    if (rule.in == in && rule.number == number) return &rule;
  }
  return nullptr;
}

uint64_t ParsedBytes(const FieldRule* rule) {
  if (rule == nullptr || rule->content != Content::kMessage) return kBytesOfField;
  if (rule->message == Message::kNode) return kBytesOfNode;
  return rule->in == Message::kGraph ? kBytesOfValue : kBytesOfField;
}

bool IsDomain(const FieldRule& rule) {
  return (rule.in == Message::kNode && rule.number == 7) || (rule.in == Message::kFunction && rule.number == 10);
}

}  // namespace wasinn::onnx
