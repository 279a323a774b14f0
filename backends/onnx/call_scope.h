// What a thread is doing inside ONNX Runtime on our behalf.
#pragma once

#include <atomic>

#include "common/log.h"
#include "onnx/block_cache.h"
#include "onnx/memory_budget.h"

namespace wasinn::onnx {

// ONNX Runtime calls our allocator and our log function without saying for whom: its environment is one for the whole
// OS process, and with it all hosts, models and contexts share both. It calls them on the thread that called it, so
// that thread carries the answer. (Threads of its pool have no scope: what a kernel allocates on those is not counted.)
class CallScope {
 public:
  struct Subject {
    const backend::Log* log = nullptr;
    MemoryBudget* budget = nullptr;
    BlockCache* cache = nullptr;
    // An operation that was cancelled ends at its next allocation, too: ONNX Runtime looks at its terminate flag only
    // before a node, so never in a loop whose body has none left.
    const std::atomic<bool>* cancelled = nullptr;
  };

  explicit CallScope(const Subject& subject);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // That of the innermost scope of this thread; NULL outside of any.
  static const Subject* Current();

 private:
  const Subject subject_;
  const Subject* const outer_;
};

}  // namespace wasinn::onnx
