// The current thread's operation: PyTorch's hooks (allocator, printing, warnings, this backend's operator) have no user
// argument.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "common/log.h"

namespace wasinn::torch {

// The bytes of PyTorch's living memory for one load or one context, and their limit. Thread-safe.
class MemoryBudget {
 public:
  // 0: no limit.
  explicit MemoryBudget(uint64_t limit) { SetLimit(limit); }
  void SetLimit(uint64_t limit) { limit_.store(limit == 0 ? UINT64_MAX : limit, std::memory_order_relaxed); }

  // False if it would be too much: then it is recorded as refused.
  bool Take(uint64_t bytes);
  // Takes them in any case, but a later Take may be refused because of it.
  void TakeAnyway(uint64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void Give(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  void Refuse(uint64_t bytes) { refused_.store(bytes == 0 ? 1 : bytes, std::memory_order_relaxed); }

  void ForgetRefusal() { refused_.store(0, std::memory_order_relaxed); }
  // The size of a block that was refused; 0: none.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> limit_;
  std::atomic<uint64_t> used_ = 0;
  std::atomic<uint64_t> refused_ = 0;
};

class CallScope {
 public:
  struct Subject {
    const backend::Log* log = nullptr;
    std::shared_ptr<MemoryBudget> budget;
    const std::atomic<bool>* cancelled = nullptr;  // NULL: cannot be cancelled
    bool zero_fill = false;                        // new memory is zeroed: the model may show it to a guest
  };

  // `subject` outlives this.
  explicit CallScope(const Subject& subject) : outer_(current_) { current_ = this, subject_ = &subject; }
  ~CallScope() { current_ = outer_; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // NULL outside of any.
  static CallScope* Current() { return current_; }

  const Subject& subject() const { return *subject_; }
  // Throws if the call has been cancelled.
  void Poll() const {
    if (subject_->cancelled != nullptr && *subject_->cancelled) [[unlikely]]
      ThrowCancelled();
  }
  // The next blocks are counted, but neither refused nor used as a place to stop, because the code could not end there.
  void Spare(int blocks) { spared_ = blocks; }
  bool IsSpared() {
    if (spared_ == 0) return false;
    --spared_;
    return true;
  }
  // For a model's output and PyTorch's warnings. Only a few for each call.
  void Log(wasinn_log_level level, const std::string& message);

 private:
  [[noreturn]] static void ThrowCancelled();

  static thread_local CallScope* current_;

  CallScope* const outer_;
  const Subject* subject_ = nullptr;
  int messages_ = 0;
  int spared_ = 0;
};

// Without the trace of C++ functions, and with a limited length. Call it only in a catch block.
inline std::string MessageOfCurrentException() {
  constexpr size_t kLongest = 2000;
  std::string message;
  try {
    throw;
  } catch (const c10::Error& error) {
    message = error.what_without_backtrace();
  } catch (const std::bad_alloc&) {
    message = "not enough memory";
  } catch (const std::exception& error) {
    message = error.what();
  } catch (...) {
    message = "an exception of unknown type";
  }
  if (message.size() > kLongest) message = message.substr(0, kLongest) + " …";
  while (message.ends_with('\n') || message.ends_with(' ')) message.pop_back();
  return message;
}

// During its life, PyTorch's warnings of this thread go to the host's log.
class LogWarnings {
 private:
  class Handler final : public c10::WarningHandler {
    void process(const c10::Warning& warning) override {
      if (CallScope* scope = CallScope::Current()) scope->Log(WASINN_LOG_WARNING, warning.msg());
    }
  };

  Handler handler_;
  const c10::WarningUtils::WarningHandlerGuard guard_{&handler_};
};

// Installs the allocator of all CPU tensors of the OS process, once. Outside of a CallScope it only allocates.
void InstallAllocator();

// The requested bytes; no value if the memory is not from this allocator.
std::optional<size_t> AllocatedBytes(const c10::DataPtr& data);
// Removes a block from its budget: it belongs to another owner from now on.
void Uncharge(const c10::DataPtr& data);

}  // namespace wasinn::torch
