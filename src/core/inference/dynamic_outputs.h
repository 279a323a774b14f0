// The outputs of a model whose outputs are only known after a run.
#pragma once

#include <wasinn/backend.h>

#include <algorithm>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace wasinn::core {

// A copy of a backend's list of the outputs of one compute: a guest's list of names may outlive the next compute.
class DynamicOutputs {
 public:
  // More than any model has, and cheap to keep.
  static constexpr uint32_t kMost = 4096;
  static constexpr uint64_t kFree = 64u << 10;

  explicit DynamicOutputs(std::span<const wasinn_io* const> ios) {
    for (const wasinn_io* io : ios) {
      wasinn_io& copy = ios_.emplace_back(*io);  // of this version's size, which was checked
      copy.struct_size = sizeof(wasinn_io);
      copy.name = names_.emplace_back(io->name).c_str();
      if (io->rank > 0) copy.dims = dims_.emplace_back(io->dims, io->dims + io->rank).data();
      pointers_.push_back(&copy);
      bytes_ +=
          sizeof(wasinn_io) + names_.back().size() + static_cast<uint64_t>(std::max(io->rank, 0)) * sizeof(int64_t);
    }
  }
  DynamicOutputs(const DynamicOutputs&) = delete;
  DynamicOutputs& operator=(const DynamicOutputs&) = delete;

  std::span<const wasinn_io* const> ios() const { return pointers_; }
  // The bytes for which a guest pays. Most models' lists are tiny compared with its tensors, and free.
  uint64_t bytes() const { return bytes_ <= kFree ? 0 : bytes_; }

 private:
  std::deque<std::string> names_;
  std::deque<std::vector<int64_t>> dims_;
  std::deque<wasinn_io> ios_;
  std::vector<const wasinn_io*> pointers_;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::core
