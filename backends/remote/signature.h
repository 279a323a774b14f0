// The inputs and outputs of a model, as its server tells them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/ports.h"
#include "remote/metadata.h"

namespace wasinn::remote {

// More inputs or outputs than any model has, and longer names.
inline constexpr size_t kMostTensors = 1024, kMostName = 4096;

// type_name is the protocol's datatype.
struct Port : backend::Port {
  // One text of BYTES, whose bytes guests see as they are.
  bool is_text = false;
  std::vector<int64_t> text_dims;  // of an input that is a text: the shape in which it is sent
};

// `dims`: none: of any shape. `is_input`: texts are opaque.
Port MakePort(const std::string& name, const std::string& datatype, std::span<const int64_t> dims, bool is_input);

class Signature : public backend::Ports<Port> {
 public:
  // A server may be anybody: WASINN_ERROR_UNSUPPORTED_OPERATION for what no model has.
  explicit Signature(const Metadata& metadata);

  // Or each answer tells its own.
  bool knows_outputs() const { return knows_outputs_; }

 private:
  bool knows_outputs_ = true;
};

}  // namespace wasinn::remote
