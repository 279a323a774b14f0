// A model's inputs and outputs, as its server describes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/ports.h"
#include "remote/answer.h"

namespace wasinn::remote {

// Limits beyond any model's inputs, outputs and names.
inline constexpr size_t kMostTensors = 1024, kMostName = 4096;

// type_name is the protocol's datatype.
struct Port : backend::Port {
  // A single BYTES element, whose bytes guests see unchanged.
  bool is_text = false;
  std::vector<int64_t> text_dims;  // the shape in which a text input is sent
};

// `dims`: empty: any shape. `is_input`: texts are opaque.
Port MakePort(const std::string& name, const std::string& datatype, std::span<const int64_t> dims, bool is_input);

class Signature : public backend::Ports<Port> {
 public:
  // A server is untrusted: throws WASINN_ERROR_UNSUPPORTED_OPERATION for a signature that no model has.
  explicit Signature(const Metadata& metadata);

  // Otherwise each answer has its own outputs.
  bool knows_outputs() const { return knows_outputs_; }

 private:
  bool knows_outputs_ = true;
};

}  // namespace wasinn::remote
