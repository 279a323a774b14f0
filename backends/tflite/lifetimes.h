// How long each tensor of a graph is needed.
#pragma once

#include <vector>

#include "tflite/model_scan.h"
#include "tflite/schema.h"

namespace wasinn::tflite {

// Whether its value is in the model's buffers.
bool IsConstant(const schema::Tensor& tensor, const Tables<schema::Buffer>* buffers);

// Of each tensor of a graph. What is made of constants alone is made once, and stays.
std::vector<Lifetime> LivesOf(const schema::SubGraph& graph, const Tables<schema::Buffer>* buffers);

}  // namespace wasinn::tflite
