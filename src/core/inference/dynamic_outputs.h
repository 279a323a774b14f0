// The outputs of a model that only a run tells.
#pragma once

#include <wasinn/backend.h>

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace wasinn::core {

// What a backend told of the outputs of one compute, copied: a guest's list of names may outlive the next compute.
class DynamicOutputs {
 public:
  // More than any model has, and little to keep.
  static constexpr uint32_t kMost = 4096;
  static constexpr uint64_t kFree = 64u << 10;

  explicit DynamicOutputs(std::span<const wasinn_io* const> ios);
  DynamicOutputs(const DynamicOutputs&) = delete;
  DynamicOutputs& operator=(const DynamicOutputs&) = delete;

  std::span<const wasinn_io* const> ios() const { return pointers_; }
  // The bytes for which a guest pays. Those of most models are nothing beside its tensors.
  uint64_t bytes() const { return bytes_ <= kFree ? 0 : bytes_; }

 private:
  std::deque<std::string> names_;
  std::deque<std::vector<int64_t>> dims_;
  std::deque<wasinn_io> ios_;
  std::vector<const wasinn_io*> pointers_;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::core
