// A tensor that a guest holds by itself: immutable, its bytes owned by the host or left where a framework made them.
#pragma once

#include <memory>
#include <span>

#include "core/memory/buffer_pool.h"
#include "core/memory/copy.h"
#include "core/memory/quota.h"
#include "core/memory/tensor.h"
#include "core/models/graph.h"

namespace wasinn::core {

// Where a guest's tensors lie, and what they are charged to. All of it outlives what it is given to.
struct TensorMemory {
  Quota& quota;
  BufferPool& pool;
  uint64_t pool_user;  // the guest, there
};

// Any thread, since nothing changes. What it is charged to must outlive it.
class SharedTensor {
 private:
  struct Private {};  // keeps the constructor ours, though make_shared calls it

 public:
  explicit SharedTensor(Private) {}
  // One copy of a guest's bytes. They need not fit the description: whoever uses them as one checks that.
  static Result<std::shared_ptr<const SharedTensor>> Copy(const TensorDesc& desc, std::span<const uint8_t> bytes,
                                                          BufferPool& pool, uint64_t pool_user, Reservation charge,
                                                          CopyCount& count);
  // Memory that has its bytes, and is charged. Both stay where they are if there is no memory for a tensor.
  static std::shared_ptr<const SharedTensor> Of(const TensorDesc& desc, size_t bytes, BufferPool::Buffer&& memory,
                                                Reservation&& charge);
  // Of nothing yet. An output of a context of `graph`, which is charged already, becomes it when it is there: nothing
  // that was taken is without someone who releases it.
  static std::shared_ptr<SharedTensor> New() { return std::make_shared<SharedTensor>(Private()); }
  void Adopt(std::shared_ptr<const Graph> graph, const TensorDesc& desc, const wasinn_tensor& taken,
             Reservation charge) noexcept;
  ~SharedTensor();
  SharedTensor(const SharedTensor&) = delete;
  SharedTensor& operator=(const SharedTensor&) = delete;

  const TensorDesc& desc() const { return desc_; }
  // Addresses of the host's memory only where `memory` is NULL.
  std::span<const uint8_t> bytes() const { return bytes_; }
  // As in wasinn_tensor: a device's, of the graph that made it; else NULL.
  const char* memory() const { return memory_; }
  // What it is charged to, before any other thread has it.
  void SetCharge(Reservation charge) const { charge_ = std::move(charge); }
  // The graph that made it; null for the host's memory.
  const Graph* origin() const { return graph_.get(); }

 private:
  TensorDesc desc_;
  std::span<const uint8_t> bytes_;
  const char* memory_ = nullptr;
  BufferPool::Buffer buffer_;           // or
  std::shared_ptr<const Graph> graph_;  // whose backend frees the bytes
  void* owner_ = nullptr;
  void (*release_)(void*) = nullptr;
  mutable Reservation charge_;
};

using TensorPtr = std::shared_ptr<const SharedTensor>;

// The description of a view, whose rank has been checked.
TensorDesc DescOf(const wasinn_tensor& tensor);

}  // namespace wasinn::core
