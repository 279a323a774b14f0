// A tensor's elements in JSON: in one array or in nested ones, row-major.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>

#include "serve/oip/inference.h"

namespace wasinn::serve {

class JsonTensor {
 public:
  // Reads as many elements as its shape has into the tensor's own bytes, each as an exact element of its type, or as
  // the nearest float.
  JsonTensor(InputTensor& tensor, uint64_t elements) : tensor_(tensor), elements_(elements) {}
  // Throws Failure.
  void Read(simdjson::dom::element data);

 private:
  // `depth`: how many arrays are around it.
  void ReadNested(simdjson::dom::array data, size_t depth);
  void ReadNext(simdjson::dom::element element);
  [[noreturn]] void ThrowNesting() const;
  void ReadElement(simdjson::dom::element element);
  template <typename T>
  void Append(T number);
  // Clients that only have floats write 7 as 7.0, and true as 1.0.
  template <typename T>
  Outcome<T> Whole(simdjson::dom::element element) const;
  template <typename T>
  void AppendInteger(simdjson::dom::element element);
  template <typename T>
  void AppendFloat(simdjson::dom::element element);
  void AppendBool(simdjson::dom::element element);

  InputTensor& tensor_;
  const uint64_t elements_;
  uint64_t n_read_ = 0;
};

// Appends an output as one array. Throws Failure for values that JSON lacks: NaN, infinities, invalid UTF-8.
void AppendJson(std::string& text, const OutputTensor& tensor);
// The most bytes that it can have.
uint64_t MostJson(const OutputTensor& tensor);

}  // namespace wasinn::serve
