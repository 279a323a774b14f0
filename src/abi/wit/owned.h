// What is owned on its way between an engine and a process: views that are shown, and tensors that a call consumes.
#pragma once

#include <wasinn/wit.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/process.h"

namespace wasinn::abi {

// A view that keeps `owner` until it is released.
template <typename Owner>
wasinn_wit_view Keep(std::unique_ptr<Owner> owner, const void* data, size_t count) {
  return {data, count, owner.release(), [](void* kept) { delete static_cast<Owner*>(kept); }};
}

// Tensors that a call owns: their reps go when the call ends, whatever becomes of it.
class Owned {
 public:
  Owned(wasinn_process& process, std::span<const wasinn_wit_named_tensor> tensors)
      : process_(process), tensors_(tensors) {}
  ~Owned() {
    for (const wasinn_wit_named_tensor& named : tensors_) (void)process_.DropTensor(named.tensor);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  core::Status Get(std::pmr::vector<core::Process::NamedTensor>& found) const {
    found.reserve(tensors_.size());
    for (const wasinn_wit_named_tensor& named : tensors_) {
      core::Result<core::TensorPtr> tensor = process_.GetTensor(named.tensor);
      if (!tensor) return std::move(tensor.error());
      found.push_back({{named.name, named.name_size}, std::move(*tensor)});
    }
    return core::Status();
  }

 private:
  wasinn_process& process_;
  const std::span<const wasinn_wit_named_tensor> tensors_;
};

}  // namespace wasinn::abi
