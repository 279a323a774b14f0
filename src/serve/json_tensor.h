// A tensor's elements in JSON: in one array or in nested ones, row-major.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>

#include "serve/inference.h"

namespace wasinn::serve {

// As Failure, whose reader is deep inside simdjson's loops, which throw too.
[[noreturn]] void ThrowInvalid(std::string message);

class JsonTensor {
 public:
  // As many elements as its shape has are read into what is the tensor's own.
  JsonTensor(InputTensor& tensor, uint64_t elements) : tensor_(tensor), elements_(elements) {}
  // Throws Failure, or what simdjson does.
  void Read(simdjson::ondemand::value data);

 private:
  void ReadNested(simdjson::ondemand::value data, size_t depth);
  void ReadElement(simdjson::ondemand::value& element);
  template <typename T>
  void Append(T number);
  template <typename T>
  void AppendInteger(simdjson::ondemand::value& element);

  InputTensor& tensor_;
  const uint64_t elements_;
  uint64_t n_read_ = 0;
};

// The same of an output, appended: one array. A number that JSON has not, as NaN, is null.
void AppendJson(std::string& text, const OutputTensor& tensor);

}  // namespace wasinn::serve
