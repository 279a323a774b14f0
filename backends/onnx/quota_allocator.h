// ONNX Runtime's CPU allocator for the sessions of this backend.
#pragma once

#include "onnx/ort_library.h"

namespace wasinn::onnx {

// ONNX Runtime has no limit on the memory of a run, but its environment can be given an allocator, which sessions then
// use for values, outputs and weights. This one takes memory from malloc and charges it to the budget of the calling
// thread's CallScope; outside of a scope it only allocates.
class QuotaAllocator : public OrtAllocator {
 public:
  explicit QuotaAllocator(const OrtLibrary& library);
  QuotaAllocator(const QuotaAllocator&) = delete;
  QuotaAllocator& operator=(const QuotaAllocator&) = delete;

  const OrtMemoryInfo* memory_info() const { return memory_info_.get(); }

 private:
  static void* ORT_API_CALL Allocate(OrtAllocator* self, size_t bytes);
  static void ORT_API_CALL Deallocate(OrtAllocator* self, void* data);
  static const OrtMemoryInfo* ORT_API_CALL MemoryInfo(const OrtAllocator* self) {
    return static_cast<const QuotaAllocator*>(self)->memory_info();
  }

  const OrtPtr<OrtMemoryInfo> memory_info_;
};

// A host's use of the only allocator that an environment can have. It exists while any host of the OS process uses it.
class AllocatorLease {
 public:
  AllocatorLease(const OrtLibrary& library, OrtEnv* env);
  ~AllocatorLease();
  AllocatorLease(const AllocatorLease&) = delete;
  AllocatorLease& operator=(const AllocatorLease&) = delete;

  // False: the program has given the environment another one.
  bool held() const { return held_; }

 private:
  const OrtApi* const api_;
  OrtEnv* const env_;
  bool held_ = false;
};

}  // namespace wasinn::onnx
