// Owners for objects between an engine and the core: views, and tensors that a call consumes.
#pragma once

#include <wasinn/wit.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/host/guest.h"

namespace wasinn::abi {

// A view that keeps `owner` until it is released.
template <typename Owner>
wasinn_wit_view Keep(std::unique_ptr<Owner> owner, const void* data, size_t count) {
  return {data, count, owner.release(), [](void* kept) { delete static_cast<Owner*>(kept); }};
}

// Tensors that a call consumes in any case. They count as held until it ends.
class Owned {
 public:
  Owned(wasinn_guest& guest, std::span<const wasinn_wit_named_tensor> tensors) : guest_(guest), tensors_(tensors) {}
  ~Owned() {
    guest_.EndTensors(taken_);
    for (const wasinn_wit_named_tensor& named : tensors_.subspan(taken_)) (void)guest_.DropTensor(named.tensor);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  // Called once.
  core::Status Take(std::pmr::vector<core::Guest::NamedTensor>& found) {
    found.reserve(tensors_.size());
    for (const wasinn_wit_named_tensor& named : tensors_) {
      ASSIGN_OR_RETURN(core::TensorPtr tensor, guest_.TakeTensor(named.tensor));
      ++taken_;
      found.push_back({{named.name, named.name_size}, std::move(tensor)});
    }
    return core::Status();
  }

 private:
  wasinn_guest& guest_;
  const std::span<const wasinn_wit_named_tensor> tensors_;
  size_t taken_ = 0;  // the first ones
};

}  // namespace wasinn::abi
