// The inputs of a context.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <span>
#include <vector>

#include "remote/signature.h"

namespace wasinn::remote {

// The host's memory, as it is bound. One thread at a time.
class Inputs {
 public:
  struct Input {
    const Port* port = nullptr;
    const void* data = nullptr;
    uint64_t bytes = 0;
    std::vector<int64_t> dims;  // as they are sent
  };

  explicit Inputs(const Signature& signature);

  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index) { is_set_[index] = false; }
  // That none is missing. Then those that are set are there.
  void Choose();
  std::span<const Input* const> set() const { return set_; }

 private:
  const Signature& signature_;
  std::vector<Input> inputs_;
  std::vector<bool> is_set_;
  std::vector<const Input*> set_;
};

}  // namespace wasinn::remote
