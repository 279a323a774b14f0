// A llama context that evaluates a long prompt while others generate.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>

#include "llama/model.h"
#include "llama/threads.h"

namespace wasinn::llama {

// Has one sequence. It yields between the operations of an evaluation: so its parts can be as large as llama.cpp's fast
// kernels want, and others wait for an operation instead of a part. Used by one thread.
class PrefillContext {
 public:
  using Clock = std::chrono::steady_clock;
  // The tokens of a part: llama.cpp's fast attention for CPUs needs this many.
  static constexpr uint32_t kPart = 64;

  // `give_way`: called before each large operation, with its expected duration.
  PrefillContext(const Model& model, const Settings& settings, const Threads& threads, void* account,
                 std::function<void(Clock::duration)> give_way);
  PrefillContext(const PrefillContext&) = delete;
  PrefillContext& operator=(const PrefillContext&) = delete;

  static uint64_t Bytes(const Model& model, const Settings& settings);

  // The tokens of the next part: a short part comes first, while the text is short.
  size_t PartOf(size_t left) const { return (left - 1) % part_ + 1; }
  // A sequence of a context with `of` sequences, each with its own stream in the memory.
  struct Stream {
    llama_context* context;
    uint32_t number, of;

    llama_seq_id id() const { return static_cast<llama_seq_id>(number); }
  };
  // Copies evaluated tokens. Throws WASINN_ERROR_RUNTIME and WASINN_ERROR_TOO_LARGE.
  void Take(const Stream& from) { Copy(from, own()); }
  void Give(const Stream& to) { Copy(own(), to); }
  // Whether that is possible: some models have other memories than one KV cache.
  bool CanExchange(const Stream& other) const { return IsEmpty(own()) && IsEmpty(other); }
  void Clear();
  // Evaluates a part after the held tokens. Returns llama.cpp's result: 0, or an error.
  int Evaluate(std::span<const llama_token> part, const std::atomic<bool>& cancelled);
  // The threads of the current evaluation; NULL: none is running.
  const Threads::Lease* lease() const { return lease_; }

 private:
  static bool IsCancelled(void* self) { return *static_cast<PrefillContext*>(self)->cancelled_; }
  Stream own() const { return {context_.get(), 0, 1}; }
  bool IsEmpty(const Stream& stream) const;
  void Copy(const Stream& from, const Stream& to);
  static bool IsObserved(ggml_tensor* operation, bool before, void* self);

  const Model& model_;
  const LlamaLibrary& library_;
  const Threads& threads_;
  void* const account_;
  const std::function<void(Clock::duration)> give_way_;
  const size_t part_;
  ContextPtr context_;
  const std::atomic<bool>* cancelled_ = nullptr;
  const Threads::Lease* lease_ = nullptr;
  Clock::time_point begun_;                            // start of the current operation
  Clock::duration attention_time_{}, product_time_{};  // durations of the last ones
};

}  // namespace wasinn::llama
