// The memory that ONNX Runtime takes for the constants of a model while it loads it.
#ifndef WASINN_BACKENDS_ONNX_LOAD_HEAP_H_
#define WASINN_BACKENDS_ONNX_LOAD_HEAP_H_

#include <atomic>
#include <cstddef>
#include <unordered_map>

#include "onnx/memory_budget.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

// When a model is loaded, ONNX Runtime computes what is constant ("folding"). It does so past every allocator that it
// can be given, with one that asks the C library; and a model of 100 bytes can ask for as much as it likes. So its
// calls of the C library come by here, and what a load takes is charged to its budget (docs/decisions/0028).
class LoadHeap {
 public:
  // From now on, the library's calls of the C library come by here. False: another build of this backend, brought by
  // another embedder, watches them already; it stays as it is, and so do its limits.
  static bool Watch(const OrtLibrary& library);

  // Where in the library the allocator of folding asks for memory. NULL: it cannot be watched there (that is tried out,
  // once for each library), and a model that nobody trusts must not be folded.
  static const void* SiteOf(const OrtLibrary& library, OrtEnv* env);

  LoadHeap(const void* site, MemoryBudget* budget) : site_(site), budget_(budget) {}
  LoadHeap(const LoadHeap&) = delete;
  LoadHeap& operator=(const LoadHeap&) = delete;

  // From now on Charge refuses all: that ends folding, which does not look whether its load was cancelled. Any thread.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  const void* site() const { return site_; }
  // False: there is no more.
  bool Charge(size_t bytes);
  // The same also when the load was cancelled, for what is not folding's alone: the rest of ONNX Runtime looks by
  // itself whether it was, and is not always ready for a vector that it does not get.
  bool ChargeUncancelled(size_t bytes);
  // What was charged has become this block.
  void Note(void* block, size_t bytes) noexcept;
  // It is freed; also for blocks that are none of this load's.
  void Forget(void* block);

 private:
  const void* const site_;
  MemoryBudget* const budget_;
  std::unordered_map<void*, size_t> blocks_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_LOAD_HEAP_H_
