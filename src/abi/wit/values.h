// Arguments and results of wasi:nn's functions, in the forms of the core.
#pragma once

#include <wasinn/wit.h>

#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/host/guest.h"

namespace wasinn::abi {

// A view that keeps `owner` until it is released.
template <typename Owner>
wasinn_wit_view Keep(std::unique_ptr<Owner> owner, const void* data, size_t count) {
  return {data, count, owner.release(), [](void* kept) { delete static_cast<Owner*>(kept); }};
}
wasinn_wit_view ToView(std::string text);
// The outputs of a compute; `names` keeps their names.
wasinn_wit_view ToView(std::shared_ptr<const void> names, std::span<const core::Guest::Output> outputs);

// Tensors that a call consumes in any case. They count as held until it ends.
class Owned {
 public:
  Owned(wasinn_guest& guest, std::span<const wasinn_wit_named_tensor> tensors) : guest_(guest), tensors_(tensors) {}
  ~Owned() {
    guest_.EndTensors(counted_);
    for (const wasinn_wit_named_tensor& named : tensors_.subspan(taken_)) (void)guest_.DropTensor(named.tensor);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  // Called once.
  core::Status Take(std::pmr::vector<core::Guest::NamedTensor>& found);
  // The number that counts as held. From now on the caller ends that.
  size_t TakeCount() { return std::exchange(counted_, 0); }

 private:
  wasinn_guest& guest_;
  const std::span<const wasinn_wit_named_tensor> tensors_;
  size_t taken_ = 0, counted_ = 0;  // the first ones
};

// The newest piece of the first output, which has the generated text.
core::Result<std::string> PieceOf(core::Context& context);

// The parts of a model and its target, a number of wasi:nn. NULL `builders` with a count are too many.
struct ModelParts {
  std::vector<std::span<const uint8_t>> bytes;
  wasinn_target target;
};
core::Result<ModelParts> PartsOf(const core::Guest& guest, std::span<const wasinn_bytes> builders, uint32_t target);
// The format of a graph-encoding's number.
core::Result<const char*> EncodingOf(uint32_t encoding);

}  // namespace wasinn::abi
