// Many conversations in one batch.
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

// One llama context with a place for each of some conversations, and a thread that decodes: every time one token of
// each that generates, and the prompts of new ones. Long prompts are evaluated in another llama context meanwhile. Any
// thread, but each place by its holder only.
class Batcher {
 public:
  // `max_bytes`: throws WASINN_ERROR_TOO_LARGE where the llama context would take more; 0: no limit.
  // `account`: who pays for it.
  Batcher(const Model& model, const Settings& settings, uint32_t places, uint64_t max_bytes, void* account);
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  size_t capacity() const { return capacity_; }
  size_t batch_size() const { return batch_size_; }
  const StateKind& kind() const { return kind_; }
  bool can_shift() const { return can_shift_; }

  // One who will hold places, and the guest that it belongs to.
  struct Holder {
    uint64_t name = 0;
    uint64_t guest = 0;
  };
  // `guest`: the guest's account; NULL: one by itself.
  Holder NewHolder(const void* guest) {
    const uint64_t name = ++last_holder_;
    return {name, guest == nullptr ? name : reinterpret_cast<uint64_t>(guest)};
  }

  // A place that is held, until it is released, or lost: while others wait, after two seconds in which it was not used,
  // or where its guest has more places than others who want one.
  struct Lease {
    size_t place = 0;
    uint64_t number = 0;
    size_t kept = 0;  // of the tokens, what is evaluated there
  };
  struct Text {
    std::span<const llama_token> tokens;
    std::span<const MediaSpan> media;
  };
  // Waits for a place; its own last one where that is free. The guest that has the fewest comes first, and of its
  // contexts those who called first. Of the tokens that are evaluated there, the beginning that `text` has too is
  // kept, but for their last one; with `whole` all of it or nothing. Throws WASINN_ERROR_TIMEOUT where it was cancelled
  // meanwhile.
  Lease Acquire(const Holder& holder, const Text& text, bool reuse, bool whole, const std::atomic<bool>& cancelled);
  // The holder may come back soon. But if others wait, the place is theirs after a moment.
  void Rest(const Lease& lease);
  // For the next one. What it holds stays there for its last holder, until another one needs the place.
  void Release(const Lease& lease);
  // The holder is no more.
  void Forget(const Holder& holder);

  // Of what is held `discarded` tokens go, behind the first `kept`.
  struct Shift {
    size_t kept = 0, discarded = 0;
  };
  struct Work {
    std::span<const llama_token> tokens;  // all of them
    const MediaPrompt* media = nullptr;   // of the tokens: what is to be evaluated is encoded
    LogitsTaker* taker = nullptr;
    Shift shift{};  // comes first
  };
  // Keeps what the lease says of what is held, evaluates the other tokens, of which there are some, and gives the last
  // one's logits to the taker, if there is one. False: the place was lost, and the taker got nothing. After an error
  // nothing is held any more.
  bool Evaluate(const Lease& lease, const Work& work, const std::atomic<bool>& cancelled);

  // Copies what is held. False: the place was lost. Throws WASINN_ERROR_TOO_LARGE.
  bool Save(const Lease& lease, State* state, const std::atomic<bool>& cancelled);
  // Holds what is in the state. False: the place was lost, or nothing is held.
  bool Load(const Lease& lease, const State& state, const std::atomic<bool>& cancelled);

 private:
  using Clock = std::chrono::steady_clock;

  struct Place;
  // What is to be done with a place between decodes.
  using Job = std::function<void(Place*, llama_seq_id)>;

  // A call of Evaluate or Do, on its stack: whoever is woken late finds the result of its own call, and of no other.
  struct Evaluation {
    Work work;
    const std::atomic<bool>* cancelled = nullptr;
    const Job* job = nullptr;  // in place of tokens
    bool kept = false;         // what is held of another text was forgotten
    size_t done = 0;           // of the tokens, evaluated; at first what the lease says
    size_t begun = 0;          // what that was
    bool waiting = true;       // false: the result is there
    std::exception_ptr error = nullptr;
  };

  struct Place {
    uint64_t holder = 0;  // the last one
    uint64_t guest = 0;   // whose it is while it is taken
    bool taken = false;
    uint64_t lease = 0;
    Clock::time_point since, used;  // when it was taken, and when its holder fetched the last result
    bool wanted = false;            // by another guest: it is lost after the batch that is being decoded
    bool rests = false;             // it may be lost after a moment
    bool expected = false;          // its holder has got a token, and will probably want the next one
    bool generates = false;         // its holder has got a token
    Held held;
    Evaluation* evaluation = nullptr;  // the call that is under way; while there is one, the place is its holder's
    // In the batch that is being decoded.
    size_t in_batch = 0;
    int32_t last_index = 0;

    bool IsWaiting() const { return evaluation != nullptr && evaluation->waiting; }
    // Tokens that are to be evaluated.
    size_t Left() const { return IsWaiting() ? evaluation->work.tokens.size() - evaluation->done : 0; }
    // Those of them before the next image or sound, and whether that comes first.
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
  // Waits for the end of a call. Returns with the lock.
  void Await(Place* mine, Evaluation* call, std::unique_lock<std::mutex>* lock);
  bool Do(const Lease& lease, const Job& job, const std::atomic<bool>& cancelled);
  void Run();
  // Of what was decoded. Without the lock, since it copies much.
  void TakeLogits();
  // With the lock.
  size_t FreePlaceFor(uint64_t holder) const;
  size_t PlacesOf(uint64_t guest) const;
  size_t PlacesLeftTo(uint64_t guest) const;  // less those that are wanted
  bool IsNext(uint64_t ticket) const;
  void TakeBack(uint64_t guest);
  size_t TakeTurn(const Holder& holder, uint64_t ticket);
  bool IsAnyWaiting() const;
  void AwaitExpected(std::unique_lock<std::mutex>* lock);
  // A round; the lock is free while llama.cpp computes. Throws nothing, here and below: an error is that of the places
  // that it concerns. False: there was nothing to be decoded.
  bool Decode(std::unique_lock<std::mutex>* lock);
  void Measure(std::chrono::duration<double> step);
  void DropCancelled();
  void RunJobs();
  // What those who have just come do not keep.
  void ForgetRest();
  void ForgetRest(Place* place, llama_memory_t memory);
  // Whether others' prompts hold up its next token.
  bool IsHeldUp(const Place& place) const;
  bool IsAnyHeldUp() const;
  // False: it is the turn of texts, or there are no images.
  bool FillMedia();
  void FillBatch();
  void Add(Place* place, size_t n);
  void TakeResults(const std::exception_ptr& error);
  void Forget(Place* place);
  void Finish(Place* place, std::exception_ptr error);
  // ---- Long prompts
  static bool NeedsPrefill(const Model& model, const Settings& settings, uint32_t places);
  static bool IsLong(const Place& place);
  bool IsForPrefill(const Place& place) const;
  Place* NextPrefill();
  PrefillContext::Stream StreamOf(const Place& place) const;
  void BeginPrefill(Place* place);
  void EndPrefill();
  void Prefill(Place* place, std::unique_lock<std::mutex>* lock);
  // Called before an operation for a long prompt. `next`: how long the operation takes.
  void GiveWay(Clock::duration next);

  const Model& model_;
  const LlamaLibrary& library_;
  const Threads threads_;
  backend::Reservation reservation_;  // goes after the llama contexts
  ContextPtr context_;
  std::unique_ptr<PrefillContext> prefill_;  // NULL: all prompts come with the tokens of those who generate
  Place* prefilled_ = nullptr;               // whose prompt it has
  size_t prefill_place_ = 0;                 // that of the last one
  size_t in_turn_ = 0;                       // tokens of it since it came
  Clock::time_point slice_end_;              // then those who generate are due
  llama_batch batch_ = {};
  MediaBatch media_batch_;
  llama_batch of_media_ = {};  // the part of an image that is being decoded
  bool at_once_ = false;       // its tokens see each other
  bool was_media_ = false;     // in the last batch
  size_t media_place_ = 0;     // whose it was
  size_t batch_size_ = 0;
  size_t capacity_ = 0;
  StateKind kind_;
  bool can_shift_ = false;
  std::atomic<uint64_t> last_holder_ = 0;
  std::mutex mutex_;
  std::condition_variable work_;   // for the thread
  std::condition_variable done_;   // for holders
  std::condition_variable freed_;  // for those who wait for a place
  std::vector<Place> places_;
  std::vector<const std::atomic<bool>*> decoding_;  // whose tokens are in the batch; changed between decodes only
  std::vector<Place*> prompts_;                     // of which there is more than a token left
  std::vector<Waiting> queue_;                      // who waits for a place, in the order of calls
  uint64_t last_ticket_ = 0;
  Clock::duration last_decode_{};
  std::chrono::duration<double> step_{};  // of a decode without prompts
  size_t generating_ = 0;                 // tokens of those who generate in the last batch
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wasinn::llama
