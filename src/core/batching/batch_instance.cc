// Computes batches of a model, one at a time, on a thread of its own.
#include <algorithm>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "core/batching/batched_graph.h"

namespace wasinn::core {

class BatchInstance {
 public:
  explicit BatchInstance(BatchedGraph& model) : model_(model) {}
  BatchInstance(const BatchInstance&) = delete;
  BatchInstance& operator=(const BatchInstance&) = delete;
  // Returns when the queue stops.
  void Run() noexcept;

 private:
  bool Compute(Batch& batch);
  void Open() noexcept;
  static uint64_t MaxBytes(const Batch& batch);
  std::vector<Context::TensorInput> Gather(const Batch& batch) const;
  TensorPtr GatherOne(const Batch& batch, uint32_t index) const;
  void Scatter(Batch& batch, std::span<const Context::TensorOutput> computed) const;
  TensorPtr RowsOf(const SharedTensor& tensor, const BatchItem& item, uint32_t first_row) const;

  BatchedGraph& model_;
  std::unique_ptr<Context> context_;
  bool spent_ = false;  // it was cancelled for good
};

void BatchInstance::Run() noexcept {
  for (;;) {
    if (context_ == nullptr) Open();
    const std::unique_ptr<Batch> batch = model_.queue().Next();
    if (batch == nullptr) return;
    bool ok = false;
    try {
      ok = Compute(*batch);
    } catch (const std::exception&) {
      ok = false;  // not enough memory for so many at once
    }
    model_.queue().End(*batch, ok);
    if (std::exchange(spent_, false)) context_.reset();
  }
}

// Runs when an item waits, before a batch is taken: this may take long, and only an item that waits can leave.
void BatchInstance::Open() noexcept {
  if (!model_.queue().WaitForNeed()) return;
  try {
    if (Result<std::unique_ptr<Context>> made = model_.NewContext()) context_ = std::move(*made);
  } catch (const std::exception&) {
    context_.reset();  // treated as a failure
  }
}

// After any failure each item is computed by itself, and gets its own error.
bool BatchInstance::Compute(Batch& batch) {
  if (context_ == nullptr) return false;
  const std::vector<Context::TensorInput> given = Gather(batch);
  model_.queue().SetRead(batch, [this] {
    spent_ = true;
    context_->CancelForGood();
  });
  const std::function<void()> at_turn = [&] { model_.queue().SetBegun(batch); };
  context_->SetTerms({.max_bytes = MaxBytes(batch), .at_turn = &at_turn});
  std::pmr::vector<Context::TensorOutput> computed;
  const auto names = context_->Run(given, computed);
  context_->SetTerms({});
  if (!names) return false;
  const bool matches = std::ranges::all_of(computed, [&](const Context::TensorOutput& output) {
    if (output.tensor == nullptr) return false;  // some are known as other than tensors of numbers only after a run
    const TensorDesc& desc = output.tensor->desc();
    return desc.rank > 0 && desc.dims[0] == batch.rows;
  });
  model_.NoteBatch(matches);
  if (matches) Scatter(batch, computed);
  return matches;
}

// The sum of the bytes that the items may allocate by themselves.
uint64_t BatchInstance::MaxBytes(const Batch& batch) {
  uint64_t sum = 0;
  for (const BatchItemPtr& item : batch.items) {
    if (item->max_bytes == 0 || __builtin_add_overflow(sum, item->max_bytes, &sum)) return UINT64_MAX;
  }
  return sum;
}

std::vector<Context::TensorInput> BatchInstance::Gather(const Batch& batch) const {
  std::vector<Context::TensorInput> given;
  const std::span<const Input> first = batch.items.front()->inputs;
  for (uint32_t i = 0; i < first.size(); ++i) {
    if (first[i].set) given.push_back({i, GatherOne(batch, i)});
  }
  return given;
}

TensorPtr BatchInstance::GatherOne(const Batch& batch, uint32_t index) const {
  TensorDesc desc = batch.items.front()->inputs[index].desc;
  desc.dims[0] = batch.rows;
  size_t bytes = 0;
  for (const BatchItemPtr& item : batch.items) bytes += item->inputs[index].bytes.size();
  BufferPool::Buffer buffer = model_.pool().Take(model_.pool_user(), bytes);
  uint8_t* to = buffer.data();
  for (const BatchItemPtr& item : batch.items) {
    to = std::ranges::copy(item->inputs[index].bytes, to).out;
  }
  return SharedTensor::Of(desc, bytes, std::move(buffer), Reservation());
}

void BatchInstance::Scatter(Batch& batch, std::span<const Context::TensorOutput> computed) const {
  uint32_t row = 0;
  for (const BatchItemPtr& item : batch.items) {
    item->outputs.resize(computed.size());
    for (uint32_t i = 0; i < computed.size(); ++i) {
      const bool wanted = item->wanted.empty() || std::ranges::binary_search(item->wanted, i);
      item->outputs[i] = {std::string(computed[i].name), wanted ? RowsOf(*computed[i].tensor, *item, row) : nullptr};
    }
    row += item->rows;
  }
}

// Copies the rows: a caller that keeps its outputs must not keep those of others.
TensorPtr BatchInstance::RowsOf(const SharedTensor& tensor, const BatchItem& item, uint32_t first_row) const {
  const size_t bytes_of_row = tensor.bytes().size() / static_cast<size_t>(tensor.desc().dims[0]);
  TensorDesc desc = tensor.desc();
  desc.dims[0] = item.rows;
  const size_t bytes = bytes_of_row * item.rows;
  BufferPool::Buffer buffer = model_.pool().Take(item.pool_user, bytes);
  std::copy_n(tensor.bytes().data() + bytes_of_row * first_row, bytes, buffer.data());
  return SharedTensor::Of(desc, bytes, std::move(buffer), Reservation());
}

void* BatchedGraph::Work(void* model) {
  BatchInstance(*static_cast<BatchedGraph*>(model)).Run();
  return nullptr;
}

}  // namespace wasinn::core
