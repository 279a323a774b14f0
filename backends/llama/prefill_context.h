// A llama context in which a long prompt is evaluated beside those who generate.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>

#include "llama/model.h"
#include "llama/threads.h"

namespace wasinn::llama {

// Of one sequence. It gives way between the operations of an evaluation: so its parts are as large as llama.cpp's quick
// kernels want them, and others wait for an operation, not for a part. One thread.
class PrefillContext {
 public:
  using Clock = std::chrono::steady_clock;
  // Tokens of a part: from so many on llama.cpp has its quick attention for CPUs.
  static constexpr uint32_t kPart = 64;

  // `give_way`: called before each large operation, with the time that it will probably take.
  PrefillContext(const Model& model, const Settings& settings, const Threads& threads, void* account,
                 std::function<void(Clock::duration)> give_way);
  PrefillContext(const PrefillContext&) = delete;
  PrefillContext& operator=(const PrefillContext&) = delete;

  static uint64_t Bytes(const Model& model, const Settings& settings);

  // How many of so many tokens come next: first what is too short for a whole part, while the text is short.
  size_t PartOf(size_t left) const { return (left - 1) % part_ + 1; }
  // A sequence of a context that has so many, each with a stream of its own in the memory.
  struct Stream {
    llama_context* context;
    uint32_t number, of;

    llama_seq_id id() const { return static_cast<llama_seq_id>(number); }
  };
  // What is evaluated there, from there. Throws WASINN_ERROR_RUNTIME and WASINN_ERROR_TOO_LARGE.
  void Take(const Stream& from) { Copy(from, own()); }
  void Give(const Stream& to) { Copy(own(), to); }
  // Whether that is possible: the memories of some models are of other forms than one cache of keys and values.
  bool CanExchange(const Stream& other) const { return IsEmpty(own()) && IsEmpty(other); }
  void Clear();
  // Evaluates a part behind what is held. llama.cpp's result: 0, or an error.
  int Evaluate(std::span<const llama_token> part, const std::atomic<bool>& cancelled);
  // Threads of the evaluation that gives way; NULL: there is none.
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
  Clock::time_point begun_;                        // the operation that is under way
  Clock::duration of_attention_{}, of_product_{};  // what the last ones took
};

}  // namespace wasinn::llama
