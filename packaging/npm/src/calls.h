// The arguments and results of wit.h's functions, as C++ types.
#pragma once

#include <wasinn/wit.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

namespace wasinn::node {

struct Tensor {
  uint32_t type = 0;  // the position of a case of tensor-type
  std::vector<uint32_t> dimensions;
  std::vector<uint8_t> data;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct Named {  // a tensor that the guest already has
  std::string name;
  uint32_t rep;
};

Result<uint32_t> LoadByName(Guest& guest, const std::string& name, const std::string& config);
Result<uint32_t> Load(Guest& guest, const std::vector<std::vector<uint8_t>>& parts, const std::string& encoding,
                      Target target);
Result<std::string> Describe(Guest& guest, uint32_t graph);
Result<uint32_t> NewContext(Guest& guest, uint32_t graph);
// Copies the bytes.
Result<uint32_t> NewTensor(Guest& guest, uint32_t type, const std::vector<uint32_t>& dimensions, const uint8_t* data,
                           size_t size);
// The context owns the inputs from here on, even if the call fails.
Result<std::vector<NamedTensor>> Compute(Guest& guest, uint32_t context, const std::vector<Named>& inputs);

}  // namespace wasinn::node
