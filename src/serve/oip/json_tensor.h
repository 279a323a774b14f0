// A tensor's elements in JSON: in one array or in nested ones, row-major.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// Reads as many elements as its shape has into the tensor's own bytes, each as an exact element of its type, or as the
// nearest float. Throws Failure.
void ReadJson(InputTensor& tensor, uint64_t elements, simdjson::dom::element data);

// Appends an output as one array. Throws Failure for values that JSON lacks: NaN, infinities, invalid UTF-8.
void AppendJson(std::string& text, const OutputTensor& tensor);
// The most bytes that it can have.
uint64_t MaxJson(const OutputTensor& tensor);

}  // namespace wasinn::serve
