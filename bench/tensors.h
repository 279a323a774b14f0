// The tensors that a model is timed with.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <expected>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

namespace wasinn::bench {

template <typename T>
using Result = std::expected<T, std::string>;

// Bytes on a boundary of 64, so that no side is slow by an accident of malloc. Zeroed.
class Buffer {
 public:
  explicit Buffer(size_t size = 0);
  uint8_t* data() { return data_.get(); }
  std::span<uint8_t> bytes() { return {data_.get(), size_}; }
  std::span<const uint8_t> bytes() const { return {data_.get(), size_}; }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t* data) const { std::free(data); }
  };
  size_t size_;
  std::unique_ptr<uint8_t[], Free> data_;
};

struct Tensor {
  uint32_t index = 0;  // among the model's inputs, or outputs
  std::string name;
  Dtype dtype = WASINN_DTYPE_UNKNOWN;
  std::vector<int64_t> dims;
  Buffer data;
};

size_t ElementSize(Dtype dtype);

// Shapes by the names of inputs; what they leave open is 1.
using Shapes = std::map<std::string, std::vector<int64_t>>;

// Every input that a guest must set, filled with pseudo-random numbers that are the same in each run: 0 to 1 for
// floats, small numbers for small integers, 0 or 1 for large ones, which are often indices. Where the model does not
// say of which type an input is, it is of f32.
Result<std::vector<Tensor>> MakeInputs(const Signature& signature, const Shapes& shapes);

// Every output, described by its name alone: what is not known before a run is for the native side to fill in.
Result<std::vector<Tensor>> MakeOutputs(const Signature& signature);

}  // namespace wasinn::bench
