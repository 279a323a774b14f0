// Decodes many conversations in one batch.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "common/reservation.h"
#include "llama/logits_taker.h"
#include "llama/media_batch.h"
#include "llama/model.h"
#include "llama/prefill_context.h"
#include "llama/state.h"
#include "llama/threads.h"

namespace wasinn::llama {

// One llama context with a slot for each of several conversations, and a thread that decodes: in each batch one token
// of each generating conversation, and parts of new prompts. Long prompts are evaluated in another llama context
// meanwhile. Thread-safe, but only a slot's holder may use it.
class Batcher {
 public:
  // Throws WASINN_ERROR_TOO_LARGE if the llama context needs more than `max_bytes`; 0: no limit. `account`: pays for
  // it.
  Batcher(const Model& model, const Settings& settings, uint32_t slots, uint64_t max_bytes, void* account);
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  size_t capacity() const { return capacity_; }
  size_t batch_size() const { return batch_size_; }
  const StateKind& kind() const { return kind_; }
  bool can_shift() const { return can_shift_; }

  // A conversation that will hold slots, and its guest.
  struct Holder {
    uint64_t name = 0;
    uint64_t guest = 0;
  };
  // `guest`: the guest's account; NULL: a guest of its own.
  Holder NewHolder(const void* guest) {
    const uint64_t name = ++last_holder_;
    return {name, guest == nullptr ? name : reinterpret_cast<uint64_t>(guest)};
  }

  // A held slot, until it is released or lost. It is lost if others wait, and it was unused for two seconds, or its
  // guest has more slots than others that want one.
  struct Lease {
    size_t slot = 0;
    uint64_t number = 0;
    size_t kept = 0;  // the number of tokens that are evaluated there
  };
  struct Text {
    std::span<const llama_token> tokens;
    std::span<const MediaSpan> media;
  };
  // Waits for a slot, preferably the holder's last one. The guest with the fewest slots comes first, and its contexts
  // in the order of calls. Keeps the evaluated tokens that `text` begins with, except the last one; with `whole` all of
  // them or none. Throws WASINN_ERROR_TIMEOUT if cancelled.
  Lease Acquire(const Holder& holder, const Text& text, bool reuse, bool whole, const std::atomic<bool>& cancelled);
  // The holder may come back soon, but others that wait get the slot after a moment.
  void Rest(const Lease& lease);
  // Frees the slot. Its tokens stay for its last holder, until another one needs the slot.
  void Release(const Lease& lease);
  // The holder is gone.
  void Forget(const Holder& holder);

  // Removes `discarded` tokens after the first `kept`.
  struct Shift {
    size_t kept = 0, discarded = 0;
  };
  struct Work {
    std::span<const llama_token> tokens;  // all tokens of the text
    const MediaPrompt* media = nullptr;   // of the tokens; encoded as far as they will be evaluated
    LogitsTaker* taker = nullptr;
    Shift shift{};  // comes first
  };
  // Keeps the tokens of the lease, evaluates the others (at least one), and passes the last one's logits to the taker,
  // if any. False: the slot was lost, and the taker got nothing. After an error the slot is empty.
  bool Evaluate(const Lease& lease, const Work& work, const std::atomic<bool>& cancelled);

  // Copies the slot's tokens. False: the slot was lost. Throws WASINN_ERROR_TOO_LARGE.
  bool Save(const Lease& lease, State* state, const std::atomic<bool>& cancelled);
  // Replaces the slot's tokens with the state's. False: the slot was lost, or is empty now.
  bool Load(const Lease& lease, const State& state, const std::atomic<bool>& cancelled);

 private:
  using Clock = std::chrono::steady_clock;

  struct Slot;
  // Work on a slot between decodes.
  using Job = std::function<void(Slot*, llama_seq_id)>;

  // A call of Evaluate or Do, on the caller's stack: a caller that wakes late still finds its own result.
  struct Evaluation {
    Work work;
    const std::atomic<bool>* cancelled = nullptr;
    const Job* job = nullptr;  // instead of tokens
    bool kept = false;         // tokens of another text were removed
    size_t done = 0;           // evaluated tokens; at first the lease's
    size_t begun = 0;          // its first value
    bool waiting = true;       // false: the result is there
    std::exception_ptr error = nullptr;
  };

  struct Slot {
    uint64_t holder = 0;  // the last one
    uint64_t guest = 0;   // its owner while it is taken
    bool taken = false;
    uint64_t lease = 0;
    Clock::time_point since, used;  // when it was taken, and when its holder fetched the last result
    bool wanted = false;            // by another guest: it is lost after the current batch
    bool rests = false;             // it may be lost after a moment
    bool expected = false;          // its holder got a token, and will probably want the next one
    bool generates = false;         // its holder got a token
    Held held;
    Evaluation* evaluation = nullptr;  // the running call, which belongs to the holder
    // In the current batch.
    size_t in_batch = 0;
    int32_t last_index = 0;

    bool IsWaiting() const { return evaluation != nullptr && evaluation->waiting; }
    // Tokens that are left to evaluate.
    size_t Left() const { return IsWaiting() ? evaluation->work.tokens.size() - evaluation->done : 0; }
    // The left tokens before the next image or sound; 0 if that is next.
    size_t TextLeft() const;
    bool IsAtMedia() const { return Left() > 0 && TextLeft() == 0; }
  };

  struct Waiting {
    uint64_t ticket = 0;
    uint64_t guest = 0;
  };
  class Turn;

  static bool AreAllCancelled(void* self);
  static std::exception_ptr ErrorOf(int failed) noexcept;
  // Waits for the end of a call. Returns with the lock held.
  void Await(Slot* mine, Evaluation* call, std::unique_lock<std::mutex>* lock);
  bool Do(const Lease& lease, const Job& job, const std::atomic<bool>& cancelled);
  void Run();
  // Passes decoded logits on, without the lock, because it copies much.
  void TakeLogits();
  // These functions need the lock.
  size_t FreeSlotFor(uint64_t holder) const;
  size_t SlotsOf(uint64_t guest) const;
  size_t SlotsLeftTo(uint64_t guest) const;  // without marked ones
  bool IsNext(uint64_t ticket) const;
  void TakeBack(uint64_t guest);
  size_t TakeTurn(const Holder& holder, uint64_t ticket);
  bool IsAnyWaiting() const;
  void AwaitExpected(std::unique_lock<std::mutex>* lock);
  // One round; releases the lock while llama.cpp computes. Does not throw, like the functions below: slots get their
  // errors. False: there was nothing to decode.
  bool Decode(std::unique_lock<std::mutex>* lock);
  void Measure(std::chrono::duration<double> step);
  void DropCancelled();
  void RunJobs();
  // Removes tokens that new calls do not keep.
  void DropUnkept();
  void DropUnkept(Slot* slot, llama_memory_t memory);
  // Whether others' prompts delay its next token.
  bool IsHeldUp(const Slot& slot) const;
  bool IsAnyHeldUp() const;
  // False: text is next, or there are no images.
  bool FillMedia();
  void FillBatch();
  void Add(Slot* slot, size_t n);
  void TakeResults(const std::exception_ptr& error);
  void Forget(Slot* slot);
  void Finish(Slot* slot, std::exception_ptr error);
  // ---- Long prompts
  static bool NeedsPrefill(const Model& model, const Settings& settings, uint32_t slots);
  static bool IsLong(const Slot& slot);
  bool IsForPrefill(const Slot& slot) const;
  Slot* NextPrefill();
  PrefillContext::Stream StreamOf(const Slot& slot) const;
  void BeginPrefill(Slot* slot);
  void EndPrefill();
  void Prefill(Slot* slot, std::unique_lock<std::mutex>* lock);
  // Called before an operation for a long prompt. `next`: the duration of the operation.
  void GiveWay(Clock::duration next);

  const Model& model_;
  const LlamaLibrary& library_;
  const Threads threads_;
  backend::Reservation reservation_;  // destroyed after the llama contexts
  ContextPtr context_;
  std::unique_ptr<PrefillContext> prefill_;  // NULL: all prompts share batches with generated tokens
  Slot* prefilled_ = nullptr;                // the slot of its prompt
  size_t prefill_slot_ = 0;                  // the slot of the last one
  size_t in_turn_ = 0;                       // its tokens in this turn
  Clock::time_point slice_end_;              // then generating slots are due
  llama_batch batch_ = {};
  MediaBatch media_batch_;
  llama_batch media_part_ = {};  // the part of an image in the current decode
  bool at_once_ = false;         // its tokens see each other
  bool was_media_ = false;       // the last batch was an image's
  size_t media_slot_ = 0;        // its slot
  size_t batch_size_ = 0;
  size_t capacity_ = 0;
  StateKind kind_;
  bool can_shift_ = false;
  std::atomic<uint64_t> last_holder_ = 0;
  std::mutex mutex_;
  std::condition_variable work_;   // wakes the thread
  std::condition_variable done_;   // wakes holders
  std::condition_variable freed_;  // wakes calls that wait for a slot
  std::vector<Slot> slots_;
  std::vector<const std::atomic<bool>*> decoding_;  // of the batch's calls; changes only between decodes
  std::vector<Slot*> prompts_;                      // with more than one token left
  std::vector<Waiting> queue_;                      // calls that wait for a slot, in order
  uint64_t last_ticket_ = 0;
  Clock::duration last_decode_{};
  std::chrono::duration<double> step_{};  // of a decode without prompts
  size_t generating_ = 0;                 // generated tokens in the last batch
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wasinn::llama
