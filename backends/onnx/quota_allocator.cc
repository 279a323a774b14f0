#include "onnx/quota_allocator.h"

#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "common/aligned_buffer.h"
#include "onnx/call_scope.h"

namespace wasinn::onnx {

namespace {

// Precedes each block; as large as the alignment, so that the block is aligned, too.
struct alignas(backend::kBufferAlignment) Header {
  void* block;         // the result of malloc
  size_t capacity;     // its size
  size_t charged;      // the requested bytes
  uint64_t operation;  // MemoryBudget::id of the charged operation; 0: none
};

class Cancelled : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return "cancelled"; }
};

// Aligned by hand: glibc keeps small blocks for malloc in each thread, and aligned_alloc searches for one, which takes
// about 0.1 µs more in each run.
Header* NewBlock(size_t bytes, BlockCache* cache) {
  constexpr size_t kMaxBefore = alignof(Header) - alignof(std::max_align_t);
  size_t capacity = backend::PaddedSize(bytes) + sizeof(Header) + kMaxBefore;
  void* block = cache != nullptr ? cache->Take(capacity, &capacity) : nullptr;
  if (block == nullptr) block = std::malloc(capacity);
  if (block == nullptr) throw std::bad_alloc();
  void* header = block;
  size_t space = capacity;
  std::align(alignof(Header), sizeof(Header), header, space);
  return new (header) Header{block, capacity, bytes, 0};
}

// ONNX Runtime's environment is one for the whole OS process, and so are the objects that were given to it. This
// records the host that brought them and removes them. It contains nothing of any host. The allocators are never freed,
// because sessions of the program itself may use the environment's.
struct ProcessWide {
  struct Shared {
    std::unique_ptr<QuotaAllocator> allocator;
    int users = 0;
  };

  std::mutex mutex;
  std::map<const OrtApi*, Shared> of_library;
};

ProcessWide& Process() {
  static ProcessWide* const process = new ProcessWide;
  return *process;
}

}  // namespace

QuotaAllocator::QuotaAllocator(const OrtLibrary& library) : OrtAllocator{}, memory_info_(library.CpuMemory()) {
  // The version selects the existing functions, and is that of the headers, not of the library.
  OrtAllocator::version = ORT_API_VERSION;
  OrtAllocator::Alloc = &Allocate;
  OrtAllocator::Reserve = &Allocate;
  OrtAllocator::Free = &Deallocate;
  OrtAllocator::Info = &MemoryInfo;
}

void* QuotaAllocator::Allocate(OrtAllocator* /*self*/, size_t bytes) {
  if (bytes == 0) return nullptr;
  const CallScope::Subject* scope = CallScope::Current();
  if (scope != nullptr && scope->cancelled != nullptr && *scope->cancelled) throw Cancelled();
  MemoryBudget* budget = scope != nullptr ? scope->budget : nullptr;
  if (budget != nullptr) budget->Charge(bytes);
  Header* header = NewBlock(bytes, scope != nullptr ? scope->cache : nullptr);
  if (budget != nullptr) header->operation = budget->id();
  return header + 1;
}

void QuotaAllocator::Deallocate(OrtAllocator* /*self*/, void* data) {
  if (data == nullptr) return;
  auto* header = static_cast<Header*>(data) - 1;
  const CallScope::Subject* scope = CallScope::Current();
  if (scope != nullptr && scope->budget != nullptr && scope->budget->id() == header->operation) {
    scope->budget->Refund(header->charged);
  }
  const bool kept = scope != nullptr && scope->cache != nullptr && scope->cache->Give(header->block, header->capacity);
  if (!kept) std::free(header->block);
}

AllocatorLease::AllocatorLease(const OrtLibrary& library, OrtEnv* env) : api_(&library.api()), env_(env) {
  ProcessWide& process = Process();
  const std::lock_guard lock(process.mutex);
  ProcessWide::Shared& shared = process.of_library[api_];
  if (shared.allocator == nullptr) shared.allocator = std::make_unique<QuotaAllocator>(library);
  if (shared.users == 0) {
    OrtStatus* status = api_->RegisterAllocator(env, shared.allocator.get());
    held_ = status == nullptr;
    api_->ReleaseStatus(status);
    if (!held_) return;
  }
  held_ = true;
  ++shared.users;
}

AllocatorLease::~AllocatorLease() {
  if (!held_) return;
  ProcessWide& process = Process();
  const std::lock_guard lock(process.mutex);
  ProcessWide::Shared& shared = process.of_library[api_];
  if (--shared.users > 0) return;
  api_->ReleaseStatus(api_->UnregisterAllocator(env_, shared.allocator->memory_info()));
}

}  // namespace wasinn::onnx
