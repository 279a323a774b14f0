#include "torch/call_scope.h"

#include <c10/core/CPUAllocator.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "common/aligned_buffer.h"
#include "common/throw.h"

namespace wasinn::torch {

namespace {

// In front of each block. It has the size of the alignment, so that the block is aligned, too.
struct alignas(backend::kBufferAlignment) BlockHeader {
  size_t bytes = 0;
  std::shared_ptr<MemoryBudget> budget;
};
static_assert(sizeof(BlockHeader) == backend::kBufferAlignment);

BlockHeader* HeaderOf(void* data) { return static_cast<BlockHeader*>(data) - 1; }

void UnchargeHeader(BlockHeader* header) {
  if (header->budget == nullptr) return;
  header->budget->Give(header->bytes);
  header->budget.reset();
}

void Free(void* data) {
  if (data == nullptr) return;
  BlockHeader* header = HeaderOf(data);
  UnchargeHeader(header);
  header->~BlockHeader();
  std::free(header);
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    // The null pointers of empty tensors are not counted.
    if (bytes == 0) return {nullptr, nullptr, &Free, cpu};
    CallScope* scope = CallScope::Current();
    std::shared_ptr<MemoryBudget> budget;
    if (scope != nullptr) {
      const bool spared = scope->IsSpared();
      if (!spared) scope->Poll();
      budget = scope->subject().budget;
      if (budget != nullptr && spared) budget->TakeAnyway(bytes);
      if (budget != nullptr && !spared && !budget->Take(bytes)) throw std::bad_alloc();
    }
    void* block = bytes > PTRDIFF_MAX / 2
                      ? nullptr
                      : std::aligned_alloc(backend::kBufferAlignment, backend::PaddedSize(bytes) + sizeof(BlockHeader));
    if (block == nullptr) {
      if (budget != nullptr) budget->Give(bytes), budget->Refuse(bytes);
      throw std::bad_alloc();
    }
    auto* header = new (block) BlockHeader{.bytes = bytes, .budget = std::move(budget)};
    void* data = header + 1;
    if (scope != nullptr && scope->subject().zero_fill) std::memset(data, 0, bytes);
    return {data, data, &Free, cpu};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &Free; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
};

}  // namespace

thread_local CallScope* CallScope::current_ = nullptr;

bool MemoryBudget::Take(uint64_t bytes) {
  const uint64_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes <= limit_ && before <= limit_ - bytes) return true;
  Give(bytes);
  Refuse(bytes);
  return false;
}

void CallScope::ThrowCancelled() { backend::Throw(WASINN_ERROR_TIMEOUT, "the compute was cancelled"); }

void CallScope::Log(wasinn_log_level level, const std::string& message) {
  constexpr int kMax = 10;
  constexpr size_t kLongest = 2000;
  if (messages_ > kMax || subject_->log == nullptr) return;
  if (++messages_ > kMax) {
    subject_->log->Write(level, "torch: further messages of this call are left out");
    return;
  }
  std::string text = "torch: " + message.substr(0, kLongest);
  while (text.ends_with('\n')) text.pop_back();
  subject_->log->Write(level, text);
}

void InstallAllocator() {
  // Never freed: tensors may outlive everything.
  static std::once_flag once;
  std::call_once(once, [] { c10::SetCPUAllocator(new CountingAllocator, /*priority=*/100); });
}

std::optional<size_t> AllocatedBytes(const c10::DataPtr& data) {
  if (data.get_deleter() != &Free) return std::nullopt;
  return data.get_context() == nullptr ? 0 : HeaderOf(data.get_context())->bytes;
}

void Uncharge(const c10::DataPtr& data) {
  if (data.get_deleter() == &Free && data.get_context() != nullptr) UnchargeHeader(HeaderOf(data.get_context()));
}

}  // namespace wasinn::torch
