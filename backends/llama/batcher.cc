#include "llama/batcher.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/throw.h"
#include "llama/log_scope.h"
#include "llama/own_sequence.h"

namespace wasinn::llama {

using backend::Throw;
using std::chrono::milliseconds;

namespace {

constexpr size_t kNoSlot = SIZE_MAX;
constexpr auto kCancelPoll = milliseconds(5), kLongestWait = milliseconds(2);
constexpr int kBatchAborted = 2;
// How long an unused slot, or a slot of a guest with more than its share, is kept once others wait.
constexpr auto kLongestIdle = std::chrono::seconds(2);
constexpr auto kLongestRest = milliseconds(100);

}  // namespace

// Without memory for the message, the error is that: no exception may leave the decoding thread.
std::exception_ptr Batcher::ErrorOf(int failed) noexcept {
  try {
    if (failed == kBatchAborted) Throw(WASINN_ERROR_TIMEOUT, "the generation was cancelled");
    Throw(WASINN_ERROR_RUNTIME, "llama.cpp cannot evaluate the tokens (error {})", failed);
  } catch (...) {
    return std::current_exception();
  }
}

Batcher::Batcher(const Model& model, const Settings& settings, uint32_t slots, uint64_t max_bytes, void* account)
    : model_(model),
      library_(model.host().library()),
      threads_(model.host(), settings.threads),
      reservation_(model.host().services(), account),
      context_(nullptr, {&library_}),
      media_batch_(library_, model.get()),
      slots_(slots) {
  const uint64_t of_prefill = NeedsPrefill(model, settings, slots) ? PrefillContext::Bytes(model, settings) : 0;
  const uint64_t needed = ContextBytes(model, settings, slots) + of_prefill;
  if (max_bytes != 0 && needed > max_bytes) {
    Throw(WASINN_ERROR_TOO_LARGE, "{} contexts of {} tokens take {} bytes: no more than {} are allowed", slots,
          settings.context, needed, max_bytes);
  }
  reservation_.Resize(needed);
  batch_size_ = std::max<size_t>(std::min(settings.batch, settings.micro_batch), slots);
  llama_context_params params = ContextParams(model, settings);
  params.n_seq_max = params.n_outputs_max = slots;
  params.n_ctx = settings.context * slots;
  params.n_batch = params.n_ubatch = static_cast<uint32_t>(batch_size_);
  params.kv_unified = false;  // conversations have nothing in common
  params.embeddings = false;
  params.n_threads = params.n_threads_batch = threads_.wanted();
  params.abort_callback = AreAllCancelled;
  params.abort_callback_data = this;
  const LogScope scope(model.host().log(), settings.log);
  context_.reset(library_.init_from_model(model.get(), params));
  if (context_ == nullptr) {
    Throw(WASINN_ERROR_RUNTIME, "parallel: {}", scope.Errors("llama.cpp gives no reason"));
  }
  model.CheckGenerates();
  model.CheckGenerates(context_.get());
  threads_.Attach(context_.get());
  if (of_prefill > 0) {
    prefill_ = std::make_unique<PrefillContext>(model, settings, threads_, account,
                                                [this](Clock::duration next) { GiveWay(next); });
    if (!prefill_->CanExchange(StreamOf(slots_[0]))) {
      prefill_.reset();
      reservation_.Resize(needed - of_prefill);
    }
  }
  capacity_ = std::min<size_t>(settings.context, library_.n_ctx_seq(context_.get()));
  kind_ = {.is_shared = true, .cache = settings.cache, .adapters = {}};
  can_shift_ = CanShift(model, settings.cache, context_.get());
  decoding_.reserve(slots);
  prompts_.reserve(slots);
  batch_ = library_.batch_init(static_cast<int32_t>(batch_size_), 0, 1);
  thread_ = std::thread([this] { Run(); });
}

Batcher::~Batcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  if (thread_.joinable()) thread_.join();
  library_.batch_free(batch_);
}

size_t Batcher::FreeSlotFor(uint64_t holder) const {
  size_t found = kNoSlot;
  // Prefers its own slot, then one whose holder is gone, then the least recently used.
  const auto last_use = [this](size_t i) { return slots_[i].holder == 0 ? Clock::time_point::min() : slots_[i].used; };
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].taken) continue;
    if (slots_[i].holder == holder) return i;
    if (found == kNoSlot || last_use(i) < last_use(found)) found = i;
  }
  return found;
}

size_t Batcher::SlotsOf(uint64_t guest) const {
  return static_cast<size_t>(
      std::ranges::count_if(slots_, [guest](const Slot& slot) { return slot.taken && slot.guest == guest; }));
}

size_t Batcher::SlotsLeftTo(uint64_t guest) const {
  return static_cast<size_t>(std::ranges::count_if(
      slots_, [guest](const Slot& slot) { return slot.taken && !slot.wanted && slot.guest == guest; }));
}

bool Batcher::IsNext(uint64_t ticket) const {
  // The first caller among the guests with the fewest slots.
  const auto next = std::ranges::min_element(queue_, {}, [this](const Waiting& one) { return SlotsOf(one.guest); });
  return next != queue_.end() && next->ticket == ticket;
}

// Takes one slot back for a waiting guest, if one is due; preferably an unused one, which is free at once.
void Batcher::TakeBack(uint64_t guest) {
  const auto now = Clock::now();
  const auto before = now - kLongestIdle;
  for (Slot& slot : slots_) {
    const auto last = slot.rests ? now - kLongestRest : before;
    if (slot.taken && slot.evaluation == nullptr && slot.used < last) return Forget(&slot);
  }
  // The marked slots will be free in a moment.
  if (static_cast<size_t>(std::ranges::count_if(slots_, &Slot::wanted)) >= queue_.size()) return;
  std::set<uint64_t> guests = {guest};
  for (const Slot& slot : slots_) {
    if (slot.taken) guests.insert(slot.guest);
  }
  for (const Waiting& one : queue_) guests.insert(one.guest);
  const size_t share = (slots_.size() + guests.size() - 1) / guests.size();
  if (SlotsLeftTo(guest) >= share) return;
  // A guest loses the slot that it took last: so its first text continues, however many guests come.
  const auto is_last = [this](const Slot& slot) {
    return std::ranges::none_of(slots_, [&slot](const Slot& other) {
      return other.taken && !other.wanted && other.guest == slot.guest && other.since > slot.since;
    });
  };
  for (Slot& slot : slots_) {
    if (!slot.taken || slot.wanted || slot.since >= before || SlotsLeftTo(slot.guest) <= share) continue;
    if (!is_last(slot)) continue;
    // A slot whose result is not yet fetched goes after that: until then the call belongs to its holder.
    if (slot.evaluation == nullptr) return Forget(&slot);
    slot.wanted = true;
    return;
  }
}

// A call in the queue for a slot; leaves it in any case.
class Batcher::Turn {
 public:
  Turn(Batcher* batcher, const Waiting& one) : batcher_(batcher), ticket_(one.ticket) {
    batcher_->queue_.push_back(one);
  }
  ~Turn() {
    std::erase_if(batcher_->queue_, [this](const Waiting& one) { return one.ticket == ticket_; });
    // The next call may have waited only for this one.
    batcher_->freed_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Batcher* const batcher_;
  const uint64_t ticket_;
};

size_t Batcher::TakeTurn(const Holder& holder, uint64_t ticket) {
  if (!IsNext(ticket)) return kNoSlot;
  const size_t slot = FreeSlotFor(holder.name);
  if (slot == kNoSlot) TakeBack(holder.guest);
  return slot != kNoSlot ? slot : FreeSlotFor(holder.name);
}

Batcher::Lease Batcher::Acquire(const Holder& holder, const Text& text, bool reuse, bool whole,
                                const std::atomic<bool>& cancelled) {
  std::unique_lock lock(mutex_);
  const uint64_t ticket = ++last_ticket_;
  size_t slot = kNoSlot;
  {
    const Turn turn(this, {ticket, holder.guest});
    while (!cancelled && (slot = TakeTurn(holder, ticket)) == kNoSlot) freed_.wait_for(lock, kCancelPoll);
  }
  if (slot == kNoSlot) Throw(WASINN_ERROR_TIMEOUT, "the generation was cancelled while it waited for a slot");
  Slot& taken = slots_[slot];
  if (taken.holder != holder.name) taken.held.Cut(0);
  taken.holder = holder.name;
  taken.guest = holder.guest;
  taken.taken = taken.expected = true;
  taken.wanted = taken.generates = taken.rests = false;
  taken.lease = ticket;
  taken.since = taken.used = Clock::now();
  size_t kept = reuse ? taken.held.Usable(text.tokens, text.media) : 0;
  if (whole && kept != taken.held.tokens.size()) kept = 0;
  return {slot, ticket, kept};
}

void Batcher::Forget(Slot* slot) {
  slot->taken = slot->expected = slot->wanted = false;
  slot->lease = 0;
  freed_.notify_all();
}

void Batcher::Release(const Lease& lease) {
  {
    const std::lock_guard lock(mutex_);
    if (slots_[lease.slot].lease != lease.number) return;
    Forget(&slots_[lease.slot]);
  }
  work_.notify_one();
}

void Batcher::Rest(const Lease& lease) {
  const std::lock_guard lock(mutex_);
  Slot& mine = slots_[lease.slot];
  if (mine.lease == lease.number) mine.rests = true;
}

void Batcher::Forget(const Holder& holder) {
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) {
    if (slot.holder == holder.name) slot.holder = 0;
  }
}

void Batcher::Await(Slot* mine, Evaluation* call, std::unique_lock<std::mutex>* lock) {
  mine->evaluation = call;
  mine->rests = false;
  work_.notify_one();
  done_.wait(*lock, [call] { return !call->waiting; });
  mine->evaluation = nullptr;
  mine->used = Clock::now();
  if (mine->wanted) Forget(mine);
  if (call->error != nullptr) std::rethrow_exception(call->error);
}

bool Batcher::Evaluate(const Lease& lease, const Work& work, const std::atomic<bool>& cancelled) {
  std::unique_lock lock(mutex_);
  Slot& mine = slots_[lease.slot];
  if (mine.lease != lease.number) return false;
  std::vector<llama_token>& held = mine.held.tokens;
  // Allocated here, where it may fail: the decoding thread fills it.
  if (held.capacity() < work.tokens.size()) {
    held.reserve(std::max(work.tokens.size(), std::min(capacity_, 2 * held.capacity())));
  }
  if (work.media != nullptr) mine.held.media.reserve(work.media->spans().size());
  const bool kept = work.shift.discarded == 0 && lease.kept == held.size() && lease.kept > 0;
  Evaluation call{.work = work, .cancelled = &cancelled, .kept = kept, .done = lease.kept, .begun = lease.kept};
  Await(&mine, &call, &lock);
  return call.done == work.tokens.size();
}

// Only called during a decode.
bool Batcher::AreAllCancelled(void* self) {
  const auto& decoding = static_cast<Batcher*>(self)->decoding_;
  return std::ranges::all_of(decoding, [](const std::atomic<bool>* cancelled) { return cancelled->load(); });
}

bool Batcher::IsAnyWaiting() const { return std::ranges::any_of(slots_, &Slot::IsWaiting); }

// Generating guests soon come back for the next token, and decoding one costs nearly as much as decoding all. A guest
// that does something else must not delay the others' tokens; it may delay their prompts a little, for without it in
// this batch it would wait for two.
void Batcher::AwaitExpected(std::unique_lock<std::mutex>* lock) {
  const bool only_prompts =
      std::ranges::all_of(slots_, [](const Slot& slot) { return !slot.IsWaiting() || slot.Left() > 1; });
  const Clock::duration longest =
      only_prompts ? last_decode_ / 2 : std::min<Clock::duration>(last_decode_ / 2, kLongestWait);
  const auto until = Clock::now() + longest;
  work_.wait_until(*lock, until, [this] {
    return stop_ || std::ranges::none_of(slots_, [](const Slot& slot) { return slot.expected && !slot.IsWaiting(); });
  });
  for (Slot& slot : slots_) slot.expected = slot.expected && slot.IsWaiting();
}

void Batcher::Finish(Slot* slot, std::exception_ptr error) {
  if (error != nullptr) slot->held.Cut(0);
  slot->evaluation->error = std::move(error);
  slot->evaluation->waiting = false;
  slot->expected = true;
  slot->generates = slot->evaluation->error == nullptr;
}

void Batcher::DropCancelled() {
  for (Slot& slot : slots_) {
    // llama.cpp itself checks for the cancel of a long prompt.
    if (&slot != prefilled_ && slot.IsWaiting() && *slot.evaluation->cancelled) Finish(&slot, ErrorOf(kBatchAborted));
  }
}

void Batcher::DropUnkept() {
  const llama_memory_t memory = library_.get_memory(context_.get());
  for (Slot& slot : slots_) {
    if (!slot.IsWaiting() || slot.evaluation->kept) continue;
    try {
      DropUnkept(&slot, memory);
    } catch (...) {
      Finish(&slot, std::current_exception());
    }
  }
}

void Batcher::DropUnkept(Slot* slot, llama_memory_t memory) {
  const auto sequence = static_cast<llama_seq_id>(slot - slots_.data());
  Evaluation* const call = slot->evaluation;
  if (const Shift shift = call->work.shift; shift.discarded > 0) {
    ShiftSequence(library_, memory, sequence, shift.kept, shift.discarded);
    slot->held.Shift(shift.kept, shift.discarded);
  }
  size_t keep = std::min(call->done, slot->held.tokens.size());
  if (keep < slot->held.least) keep = 0;
  // The memories of some models cannot lose a part, but always all of it.
  if (!library_.memory_seq_rm(memory, sequence, slot->held.Position(keep), -1)) {
    library_.memory_seq_rm(memory, sequence, -1, -1);
    keep = 0;
  }
  slot->held.Cut(keep);
  call->done = call->begun = keep;
  call->kept = true;
}

bool Batcher::Decode(std::unique_lock<std::mutex>* lock) {
  DropCancelled();
  RunJobs();
  DropUnkept();
  const bool is_media = FillMedia();
  if (!is_media) FillBatch();
  const llama_batch& batch = is_media ? media_part_ : batch_;
  if (batch.n_tokens == 0) return false;
  lock->unlock();
  const auto start = Clock::now();
  std::exception_ptr error;
  try {
    const LogScope scope(model_.host().log(), false);
    int failed = 0;
    {
      const Threads::Lease lease(threads_, context_.get(), prefill_ == nullptr ? nullptr : prefill_->lease());
      const NotCausal attention(library_, context_.get(), is_media && at_once_);
      failed = library_.decode(context_.get(), batch);
    }
    if (failed != 0) {
      error = ErrorOf(failed);
    } else {
      TakeLogits();
    }
  } catch (...) {
    error = std::current_exception();
  }
  lock->lock();
  last_decode_ = Clock::now() - start;
  if (static_cast<size_t>(batch.n_tokens) == generating_) Measure(last_decode_);
  TakeResults(error);
  return true;
}

// Other work on the machine makes single decodes much longer.
void Batcher::Measure(std::chrono::duration<double> step) {
  step_ = step_.count() == 0 ? step : step_ + (std::min(step, 2 * step_) - step_) / 4;
}

void Batcher::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stop_ || IsAnyWaiting(); });
    if (stop_) return;
    if (Slot* const slot = NextPrefill()) {
      Prefill(slot, &lock);
    } else {
      AwaitExpected(&lock);
      Decode(&lock);
    }
    done_.notify_all();
  }
}

}  // namespace wasinn::llama
