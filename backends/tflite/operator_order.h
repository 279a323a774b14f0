// The order of a graph's operators: whether each finds what it takes, and how long each tensor is needed.
#ifndef WASINN_BACKENDS_TFLITE_OPERATOR_ORDER_H_
#define WASINN_BACKENDS_TFLITE_OPERATOR_ORDER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tflite/model_scan.h"
#include "tflite/schema.h"

namespace wasinn::tflite {

// Throws WASINN_INVALID_ENCODING.
[[noreturn]] void ThrowInvalid(const std::string& what);

// Of at least so many bytes, for most elements have more than one.
uint64_t BytesOf(std::span<const int32_t> shape);

// Whether its value is in the model's buffers.
bool IsConstant(const schema::Tensor& tensor, const Tables<schema::Buffer>* buffers);

// Operators run in the order of the file. TensorFlow Lite believes that each finds its inputs there: where one waits
// for a later one, or for itself, it writes outside of its own memory when it parts the graph for a delegate. The
// indices are checked already.
void CheckOrder(const schema::SubGraph& graph, const Tables<schema::Buffer>* buffers, Trust trust);

// Of each tensor of a graph that CheckOrder has passed. What is made of constants alone is made once, and stays.
std::vector<Lifetime> LivesOf(const schema::SubGraph& graph, const Tables<schema::Buffer>* buffers);

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_OPERATOR_ORDER_H_
