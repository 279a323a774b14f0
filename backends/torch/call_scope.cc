#include "torch/call_scope.h"

#include "common/error.h"

namespace wasinn::torch {

thread_local CallScope* CallScope::current_ = nullptr;

bool MemoryBudget::Take(uint64_t bytes) {
  const uint64_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes <= limit_ && before <= limit_ - bytes) return true;
  Give(bytes);
  Refuse(bytes);
  return false;
}

void CallScope::ThrowCancelled() { throw backend::Error(WASINN_ERROR_TIMEOUT, "the compute was cancelled"); }

void CallScope::Log(wasinn_log_level level, const std::string& message) {
  constexpr int kMost = 10;
  constexpr size_t kLongest = 2000;
  if (messages_ > kMost || subject_->log == nullptr) return;
  if (++messages_ > kMost) {
    subject_->log->Write(level, "torch: further messages of this call are left out");
    return;
  }
  std::string text = "torch: " + message.substr(0, kLongest);
  while (text.ends_with('\n')) text.pop_back();
  subject_->log->Write(level, text);
}

}  // namespace wasinn::torch
