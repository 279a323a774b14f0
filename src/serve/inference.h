// One inference by the Open Inference Protocol's words, whatever it came over.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "serve/datatype.h"

namespace wasinn::serve {

// Why something was not done. The code tells who is at fault, and so what status a client gets.
struct Failure {
  wasinn_code code;
  std::string message;
};
inline Failure Invalid(std::string message) { return {WASINN_INVALID_ARGUMENT, std::move(message)}; }
template <typename T>
using Outcome = std::expected<T, Failure>;

struct InputTensor {
  std::string name;
  const Datatype* datatype = nullptr;
  std::vector<int64_t> shape;
  std::span<const uint8_t> lent;  // of the request's body; or
  std::string own;

  std::span<const uint8_t> bytes() const {
    return own.empty() ? lent : std::span(reinterpret_cast<const uint8_t*>(own.data()), own.size());
  }
};

struct OutputTensor {
  std::string name;
  const Datatype* datatype = nullptr;
  std::vector<int64_t> shape;
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;  // of the bytes
};

struct InferRequest {
  std::string model, version;  // version "": the default one
  std::vector<InputTensor> inputs;
  std::vector<std::string> outputs;  // empty: all
};

struct InferResponse {
  std::string model, version;
  std::vector<OutputTensor> outputs;
};

}  // namespace wasinn::serve
