// Many conversations in one batch.
#ifndef WASINN_BACKENDS_LLAMA_BATCHER_H_
#define WASINN_BACKENDS_LLAMA_BATCHER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "common/cancel_gate.h"
#include "llama/model.h"
#include "llama/sampler.h"
#include "llama/threads.h"

namespace wasinn::llama {

// One llama context with a place for each of some conversations, and a thread that decodes: every time one token of
// each that generates, and of new ones a part of their prompt. Any thread, but each place by its holder only.
class Batcher {
 public:
  // `max_bytes`: throws WASINN_TOO_LARGE where the llama context would take more; 0: no limit.
  Batcher(const Model& model, const Settings& settings, uint32_t places, uint64_t max_bytes);
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  size_t capacity() const { return capacity_; }

  // A name for one who will hold places.
  uint64_t NewHolder() { return ++last_holder_; }
  // Waits for a place, in the order of calls; its own last one where that is free. Throws WASINN_TIMEOUT where it was
  // cancelled meanwhile.
  size_t Acquire(uint64_t holder, const backend::CancelGate& gate);
  // For the next one. What it holds stays there for its last holder, until another one needs the place.
  void Release(size_t place);
  // The holder is no more.
  void Forget(uint64_t holder);

  // What is evaluated in a place that is held: empty where another one was there meanwhile.
  const std::vector<llama_token>& held(size_t place) const { return places_[place].held; }
  // Keeps the first `keep` of what is held, evaluates these behind them, and chooses the token that follows. After an
  // error nothing is held any more.
  llama_token Next(size_t place, size_t keep, std::span<const llama_token> tokens, Sampler* sampler,
                   const backend::CancelGate& gate);

 private:
  using Clock = std::chrono::steady_clock;

  struct Place {
    uint64_t holder = 0;  // the last one
    bool taken = false;
    std::vector<llama_token> held;
    // What its holder waits for.
    bool waiting = false;
    bool expected = false;  // it has got a token, and will probably want the next one
    size_t keep = 0;
    bool kept = false;  // the rest was forgotten
    std::span<const llama_token> tokens;
    size_t done = 0;  // of these, evaluated
    Sampler* sampler = nullptr;
    const backend::CancelGate* gate = nullptr;
    llama_token token = 0;
    std::exception_ptr error;
    // In the batch that is being decoded.
    size_t in_batch = 0;
    int32_t last_index = 0;
  };

  static bool AreAllCancelled(void* self);
  size_t FreePlaceFor(uint64_t holder) const;
  void Run();
  // With the lock.
  bool IsAnyWaiting() const;
  void AwaitExpected(std::unique_lock<std::mutex>* lock);
  void DropCancelled();
  void FillBatch();
  void Add(Place* place, size_t n);
  void TakeResults(int failed);
  void Finish(Place* place, std::exception_ptr error);

  const Model& model_;
  const LlamaLibrary& library_;
  const Threads threads_;
  ContextPtr context_;
  llama_batch batch_ = {};
  size_t batch_size_ = 0;
  size_t capacity_ = 0;
  std::atomic<uint64_t> last_holder_ = 0;
  std::mutex mutex_;
  std::condition_variable work_;   // for the thread
  std::condition_variable done_;   // for holders
  std::condition_variable freed_;  // for those who wait for a place
  std::vector<Place> places_;
  std::vector<const backend::CancelGate*> decoding_;  // whose tokens are in the batch; changed between decodes only
  std::deque<uint64_t> queue_;                        // tickets of those who wait for a place
  uint64_t last_ticket_ = 0;
  Clock::duration last_decode_{};
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_BATCHER_H_
