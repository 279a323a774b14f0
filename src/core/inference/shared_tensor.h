// A tensor as an object of a guest. It never changes. Its bytes are the host's, or stay where a framework made them.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "core/memory/buffer_pool.h"
#include "core/memory/copy.h"
#include "core/memory/quota.h"
#include "core/memory/tensor.h"
#include "core/models/graph.h"

namespace wasinn::core {

// The pool and the quota of a guest's tensors. The objects outlive all users.
struct TensorMemory {
  Quota& quota;
  BufferPool& pool;
  uint64_t pool_user;  // the guest's number in buffers
};

// Thread-safe, since nothing changes. The account that it is charged to must outlive it.
class SharedTensor {
 private:
  struct Private {};  // keeps the constructor private, though make_shared calls it

 public:
  explicit SharedTensor(Private) {}
  // Makes one copy of a guest's bytes. They need not fit the description: its users check that.
  static Result<std::shared_ptr<const SharedTensor>> Copy(const TensorDesc& desc, std::span<const uint8_t> bytes,
                                                          BufferPool& pool, uint64_t pool_user, Reservation charge,
                                                          CopyCount& count) {
    RETURN_IF_ERROR(charge.Resize(bytes.size()));
    BufferPool::Buffer memory = pool.Take(pool_user, bytes.size());
    CopyTensorBytes({memory.data(), bytes.size()}, bytes, count);
    return Of(desc, bytes.size(), std::move(memory), std::move(charge));
  }
  // Takes memory that has the bytes, and is charged. On failure both stay with the caller.
  static std::shared_ptr<const SharedTensor> Of(const TensorDesc& desc, size_t bytes, BufferPool::Buffer&& memory,
                                                Reservation&& charge) {
    const auto tensor = New();
    tensor->charge_ = std::move(charge);
    tensor->desc_ = desc;
    tensor->buffer_ = std::move(memory);
    tensor->bytes_ = {tensor->buffer_.data(), bytes};
    return tensor;
  }
  // An empty tensor, which becomes an output of a context of `graph` that is charged already. It exists before the
  // output is taken, so that there is always an owner to release that.
  static std::shared_ptr<SharedTensor> New() { return std::make_shared<SharedTensor>(Private()); }
  void Adopt(std::shared_ptr<const Graph> graph, const TensorDesc& desc, const wasinn_tensor& taken,
             Reservation charge) noexcept {
    charge_ = std::move(charge);
    desc_ = desc;
    bytes_ = {static_cast<const uint8_t*>(taken.data), taken.bytes};
    graph_ = std::move(graph);
    if (taken.memory != nullptr && graph_ != nullptr) memory_ = graph_->memory();
    owner_ = taken.owner;
    release_ = taken.release;
  }
  ~SharedTensor() {
    if (release_ != nullptr) release_(owner_);
  }
  SharedTensor(const SharedTensor&) = delete;
  SharedTensor& operator=(const SharedTensor&) = delete;

  const TensorDesc& desc() const { return desc_; }
  // Addresses of the host's memory only if `memory` is NULL.
  std::span<const uint8_t> bytes() const { return bytes_; }
  // As in wasinn_tensor: the device's memory of the graph that made it; else NULL.
  const char* memory() const { return memory_; }
  // Sets its charge, before any other thread has it.
  void SetCharge(Reservation charge) const { charge_ = std::move(charge); }
  // The graph that made it; NULL for the host's memory.
  const Graph* origin() const { return graph_.get(); }

 private:
  TensorDesc desc_;
  std::span<const uint8_t> bytes_;
  const char* memory_ = nullptr;
  BufferPool::Buffer buffer_;           // or
  std::shared_ptr<const Graph> graph_;  // its backend frees the bytes
  void* owner_ = nullptr;
  void (*release_)(void*) = nullptr;
  mutable Reservation charge_;
};

using TensorPtr = std::shared_ptr<const SharedTensor>;

}  // namespace wasinn::core
