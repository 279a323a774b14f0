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

constexpr size_t kNoPlace = SIZE_MAX;
constexpr auto kCancelPoll = milliseconds(5), kLongestWait = milliseconds(2);
constexpr int kBatchAborted = 2;
// How long a place is kept for one who does not use it, or for a guest that has more than its share, once others wait.
constexpr auto kLongestIdle = std::chrono::seconds(2);
constexpr auto kLongestRest = milliseconds(100);

}  // namespace

// Where there is no memory for the words, the error is that: nothing may leave the thread that decodes.
std::exception_ptr Batcher::ErrorOf(int failed) noexcept {
  try {
    if (failed == kBatchAborted) Throw(WASINN_ERROR_TIMEOUT, "the generation was cancelled");
    Throw(WASINN_ERROR_RUNTIME, "llama.cpp cannot evaluate the tokens (error {})", failed);
  } catch (...) {
    return std::current_exception();
  }
}

Batcher::Batcher(const Model& model, const Settings& settings, uint32_t places, uint64_t max_bytes, void* account)
    : model_(model),
      library_(model.host().library()),
      threads_(model.host(), settings.threads),
      reservation_(model.host().services(), account),
      context_(nullptr, {&library_}),
      media_batch_(library_, model.get()),
      places_(places) {
  const uint64_t of_prefill = NeedsPrefill(model, settings, places) ? PrefillContext::Bytes(model, settings) : 0;
  const uint64_t needed = ContextBytes(model, settings, places) + of_prefill;
  if (max_bytes != 0 && needed > max_bytes) {
    Throw(WASINN_ERROR_TOO_LARGE, "{} contexts of {} tokens take {} bytes: no more than {} are allowed", places,
          settings.context, needed, max_bytes);
  }
  reservation_.Resize(needed);
  batch_size_ = std::max<size_t>(std::min(settings.batch, settings.micro_batch), places);
  llama_context_params params = ContextParams(model, settings);
  params.n_seq_max = params.n_outputs_max = places;
  params.n_ctx = settings.context * places;
  params.n_batch = params.n_ubatch = static_cast<uint32_t>(batch_size_);
  params.kv_unified = false;  // conversations have nothing in common
  params.embeddings = false;
  params.n_threads = params.n_threads_batch = threads_.wanted();
  params.abort_callback = AreAllCancelled;
  params.abort_callback_data = this;
  const LogScope scope(model.host().log(), settings.log);
  context_.reset(library_.init_from_model(model.get(), params));
  if (context_ == nullptr) {
    Throw(WASINN_ERROR_RUNTIME, "parallel: {}", scope.Errors("llama.cpp does not say what is wrong"));
  }
  model.CheckGenerates();
  model.CheckGenerates(context_.get());
  threads_.Attach(context_.get());
  if (of_prefill > 0) {
    prefill_ = std::make_unique<PrefillContext>(model, settings, threads_, account,
                                                [this](Clock::duration next) { GiveWay(next); });
    if (!prefill_->CanExchange(StreamOf(places_[0]))) {
      prefill_.reset();
      reservation_.Resize(needed - of_prefill);
    }
  }
  capacity_ = std::min<size_t>(settings.context, library_.n_ctx_seq(context_.get()));
  kind_ = {.is_shared = true, .cache = settings.cache, .adapters = {}};
  can_shift_ = CanShift(model, settings.cache, context_.get());
  decoding_.reserve(places);
  prompts_.reserve(places);
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

size_t Batcher::FreePlaceFor(uint64_t holder) const {
  size_t found = kNoPlace;
  // Best its own, then one that nobody will come back to, then the one that was used longest ago.
  const auto last_use = [this](size_t i) {
    return places_[i].holder == 0 ? Clock::time_point::min() : places_[i].used;
  };
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].taken) continue;
    if (places_[i].holder == holder) return i;
    if (found == kNoPlace || last_use(i) < last_use(found)) found = i;
  }
  return found;
}

size_t Batcher::PlacesOf(uint64_t guest) const {
  return static_cast<size_t>(
      std::ranges::count_if(places_, [guest](const Place& place) { return place.taken && place.guest == guest; }));
}

size_t Batcher::PlacesLeftTo(uint64_t guest) const {
  return static_cast<size_t>(std::ranges::count_if(
      places_, [guest](const Place& place) { return place.taken && !place.wanted && place.guest == guest; }));
}

bool Batcher::IsNext(uint64_t ticket) const {
  // The first of those whose guest has the fewest.
  const auto next = std::ranges::min_element(queue_, {}, [this](const Waiting& one) { return PlacesOf(one.guest); });
  return next != queue_.end() && next->ticket == ticket;
}

// Has one place given up, if one is due, to a guest that waits. Best one that nobody uses, for it is free at once.
void Batcher::TakeBack(uint64_t guest) {
  const auto now = Clock::now();
  const auto before = now - kLongestIdle;
  for (Place& place : places_) {
    const auto last = place.rests ? now - kLongestRest : before;
    if (place.taken && place.evaluation == nullptr && place.used < last) return Forget(&place);
  }
  // These will be free in a moment.
  if (static_cast<size_t>(std::ranges::count_if(places_, &Place::wanted)) >= queue_.size()) return;
  std::set<uint64_t> guests = {guest};
  for (const Place& place : places_) {
    if (place.taken) guests.insert(place.guest);
  }
  for (const Waiting& one : queue_) guests.insert(one.guest);
  const size_t share = (places_.size() + guests.size() - 1) / guests.size();
  if (PlacesLeftTo(guest) >= share) return;
  // Of a guest's the last one that it took: so the first goes on, however often others come.
  const auto is_last = [this](const Place& place) {
    return std::ranges::none_of(places_, [&place](const Place& other) {
      return other.taken && !other.wanted && other.guest == place.guest && other.since > place.since;
    });
  };
  for (Place& place : places_) {
    if (!place.taken || place.wanted || place.since >= before || PlacesLeftTo(place.guest) <= share) continue;
    if (!is_last(place)) continue;
    // One whose holder has yet to fetch its result goes once it has: till then the call is the holder's.
    if (place.evaluation == nullptr) return Forget(&place);
    place.wanted = true;
    return;
  }
}

// One who waits for a place, however that ends.
class Batcher::Turn {
 public:
  Turn(Batcher* batcher, const Waiting& one) : batcher_(batcher), ticket_(one.ticket) {
    batcher_->queue_.push_back(one);
  }
  ~Turn() {
    std::erase_if(batcher_->queue_, [this](const Waiting& one) { return one.ticket == ticket_; });
    // The next one in the queue may have waited for this one only.
    batcher_->freed_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Batcher* const batcher_;
  const uint64_t ticket_;
};

size_t Batcher::TakeTurn(const Holder& holder, uint64_t ticket) {
  if (!IsNext(ticket)) return kNoPlace;
  const size_t place = FreePlaceFor(holder.name);
  if (place == kNoPlace) TakeBack(holder.guest);
  return place != kNoPlace ? place : FreePlaceFor(holder.name);
}

Batcher::Lease Batcher::Acquire(const Holder& holder, const Text& text, bool reuse, bool whole,
                                const std::atomic<bool>& cancelled) {
  std::unique_lock lock(mutex_);
  const uint64_t ticket = ++last_ticket_;
  size_t place = kNoPlace;
  {
    const Turn turn(this, {ticket, holder.guest});
    while (!cancelled && (place = TakeTurn(holder, ticket)) == kNoPlace) freed_.wait_for(lock, kCancelPoll);
  }
  if (place == kNoPlace) Throw(WASINN_ERROR_TIMEOUT, "the generation was cancelled while it waited for a place");
  Place& taken = places_[place];
  if (taken.holder != holder.name) taken.held.Cut(0);
  taken.holder = holder.name;
  taken.guest = holder.guest;
  taken.taken = taken.expected = true;
  taken.wanted = taken.generates = taken.rests = false;
  taken.lease = ticket;
  taken.since = taken.used = Clock::now();
  size_t kept = reuse ? taken.held.Usable(text.tokens, text.media) : 0;
  if (whole && kept != taken.held.tokens.size()) kept = 0;
  return {place, ticket, kept};
}

void Batcher::Forget(Place* place) {
  place->taken = place->expected = place->wanted = false;
  place->lease = 0;
  freed_.notify_all();
}

void Batcher::Release(const Lease& lease) {
  {
    const std::lock_guard lock(mutex_);
    if (places_[lease.place].lease != lease.number) return;
    Forget(&places_[lease.place]);
  }
  work_.notify_one();
}

void Batcher::Rest(const Lease& lease) {
  const std::lock_guard lock(mutex_);
  Place& mine = places_[lease.place];
  if (mine.lease == lease.number) mine.rests = true;
}

void Batcher::Forget(const Holder& holder) {
  const std::lock_guard lock(mutex_);
  for (Place& place : places_) {
    if (place.holder == holder.name) place.holder = 0;
  }
}

void Batcher::Await(Place* mine, Evaluation* call, std::unique_lock<std::mutex>* lock) {
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
  Place& mine = places_[lease.place];
  if (mine.lease != lease.number) return false;
  std::vector<llama_token>& held = mine.held.tokens;
  // Here, where it may fail: the thread that decodes fills it.
  if (held.capacity() < work.tokens.size()) {
    held.reserve(std::max(work.tokens.size(), std::min(capacity_, 2 * held.capacity())));
  }
  if (work.media != nullptr) mine.held.media.reserve(work.media->spans().size());
  const bool kept = work.shift.discarded == 0 && lease.kept == held.size() && lease.kept > 0;
  Evaluation call{.work = work, .cancelled = &cancelled, .kept = kept, .done = lease.kept, .begun = lease.kept};
  Await(&mine, &call, &lock);
  return call.done == work.tokens.size();
}

// Between decodes it is not asked.
bool Batcher::AreAllCancelled(void* self) {
  const auto& decoding = static_cast<Batcher*>(self)->decoding_;
  return std::ranges::all_of(decoding, [](const std::atomic<bool>* cancelled) { return cancelled->load(); });
}

bool Batcher::IsAnyWaiting() const { return std::ranges::any_of(places_, &Place::IsWaiting); }

// Those who have just got a token come back for the next one in a moment, and to decode for one costs nearly as much as
// for all. A guest that does something else meanwhile must not hold up the others' tokens; their prompts it may a little,
// for without it in this batch it would wait for two.
void Batcher::AwaitExpected(std::unique_lock<std::mutex>* lock) {
  const bool only_prompts =
      std::ranges::all_of(places_, [](const Place& place) { return !place.IsWaiting() || place.Left() > 1; });
  const Clock::duration longest =
      only_prompts ? last_decode_ / 2 : std::min<Clock::duration>(last_decode_ / 2, kLongestWait);
  const auto until = Clock::now() + longest;
  work_.wait_until(*lock, until, [this] {
    return stop_ ||
           std::ranges::none_of(places_, [](const Place& place) { return place.expected && !place.IsWaiting(); });
  });
  for (Place& place : places_) place.expected = place.expected && place.IsWaiting();
}

void Batcher::Finish(Place* place, std::exception_ptr error) {
  if (error != nullptr) place->held.Cut(0);
  place->evaluation->error = std::move(error);
  place->evaluation->waiting = false;
  place->expected = true;
  place->generates = place->evaluation->error == nullptr;
}

void Batcher::DropCancelled() {
  for (Place& place : places_) {
    // llama.cpp itself notices the cancel of a long prompt that it evaluates.
    if (&place != prefilled_ && place.IsWaiting() && *place.evaluation->cancelled)
      Finish(&place, ErrorOf(kBatchAborted));
  }
}

void Batcher::ForgetRest() {
  const llama_memory_t memory = library_.get_memory(context_.get());
  for (Place& place : places_) {
    if (!place.IsWaiting() || place.evaluation->kept) continue;
    try {
      ForgetRest(&place, memory);
    } catch (...) {
      Finish(&place, std::current_exception());
    }
  }
}

void Batcher::ForgetRest(Place* place, llama_memory_t memory) {
  const auto sequence = static_cast<llama_seq_id>(place - places_.data());
  Evaluation* const call = place->evaluation;
  if (const Shift shift = call->work.shift; shift.discarded > 0) {
    ShiftSequence(library_, memory, sequence, shift.kept, shift.discarded);
    place->held.Shift(shift.kept, shift.discarded);
  }
  size_t keep = std::min(call->done, place->held.tokens.size());
  if (keep < place->held.least) keep = 0;
  // Some models' memories cannot lose a part; the whole they always can.
  if (!library_.memory_seq_rm(memory, sequence, place->held.Position(keep), -1)) {
    library_.memory_seq_rm(memory, sequence, -1, -1);
    keep = 0;
  }
  place->held.Cut(keep);
  call->done = call->begun = keep;
  call->kept = true;
}

bool Batcher::Decode(std::unique_lock<std::mutex>* lock) {
  DropCancelled();
  RunJobs();
  ForgetRest();
  const bool is_media = FillMedia();
  if (!is_media) FillBatch();
  const llama_batch& batch = is_media ? of_media_ : batch_;
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

// Other work on the machine makes one much longer than the next.
void Batcher::Measure(std::chrono::duration<double> step) {
  step_ = step_.count() == 0 ? step : step_ + (std::min(step, 2 * step_) - step_) / 4;
}

void Batcher::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stop_ || IsAnyWaiting(); });
    if (stop_) return;
    if (Place* const place = NextPrefill()) {
      Prefill(place, &lock);
    } else {
      AwaitExpected(&lock);
      Decode(&lock);
    }
    done_.notify_all();
  }
}

}  // namespace wasinn::llama
