// The tensors with which a model is timed.
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

// Zeroed bytes on a boundary of 64, so that no side is slow only because of where malloc puts its memory.
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
  uint32_t index = 0;  // among the model's inputs or outputs
  std::string name;
  Dtype dtype = WASINN_DTYPE_UNKNOWN;
  std::vector<int64_t> dims;
  Buffer data;
};

size_t ElementSize(Dtype dtype);

// Shapes by the names of inputs; open dimensions are 1.
using Shapes = std::map<std::string, std::vector<int64_t>>;

// Every input that a guest must set, filled with pseudo-random numbers that are the same in each run: 0 to 1 for
// floats, small numbers for small integers, 0 or 1 for large integers, which are often indices. If the model does not
// declare the type of an input, it is f32.
Result<std::vector<Tensor>> MakeInputs(const Signature& signature, const Shapes& shapes);

// Every output, with only its name set. The native side fills in what is unknown before a run.
Result<std::vector<Tensor>> MakeOutputs(const Signature& signature);

}  // namespace wasinn::bench
