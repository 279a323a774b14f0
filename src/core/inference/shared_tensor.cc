#include "core/inference/shared_tensor.h"

#include <algorithm>
#include <utility>

namespace wasinn::core {

Result<TensorPtr> SharedTensor::Copy(const TensorDesc& desc, std::span<const uint8_t> bytes, BufferPool& pool,
                                     uint64_t pool_user, Reservation charge, CopyCount& count) {
  RETURN_IF_ERROR(charge.Resize(bytes.size()));
  BufferPool::Buffer memory = pool.Take(pool_user, bytes.size());
  CopyTensorBytes({memory.data(), bytes.size()}, bytes, count);
  return Of(desc, bytes.size(), std::move(memory), std::move(charge));
}

TensorPtr SharedTensor::Of(const TensorDesc& desc, size_t bytes, BufferPool::Buffer&& memory, Reservation&& charge) {
  const auto tensor = New();
  tensor->charge_ = std::move(charge);
  tensor->desc_ = desc;
  tensor->buffer_ = std::move(memory);
  tensor->bytes_ = {tensor->buffer_.data(), bytes};
  return tensor;
}

void SharedTensor::Adopt(std::shared_ptr<const Graph> graph, const TensorDesc& desc, const wasinn_tensor& taken,
                         Reservation charge) noexcept {
  charge_ = std::move(charge);
  desc_ = desc;
  bytes_ = {static_cast<const uint8_t*>(taken.data), taken.bytes};
  graph_ = std::move(graph);
  if (taken.memory != nullptr && graph_ != nullptr) memory_ = graph_->memory();
  owner_ = taken.owner;
  release_ = taken.release;
}

SharedTensor::~SharedTensor() {
  if (release_ != nullptr) release_(owner_);
}

}  // namespace wasinn::core
