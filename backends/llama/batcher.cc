#include "llama/batcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "llama/log_scope.h"
#include "llama/own_sequence.h"

namespace wasinn::llama {

using backend::Error;
using std::chrono::milliseconds;

namespace {

constexpr size_t kNoPlace = SIZE_MAX;
constexpr auto kCancelPoll = milliseconds(5), kLongestWait = milliseconds(2);
constexpr int kBatchAborted = 2;

std::exception_ptr Cancelled() {
  return std::make_exception_ptr(Error(WASINN_TIMEOUT, "the generation was cancelled"));
}

}  // namespace

Batcher::Batcher(const Model& model, const Settings& settings, uint32_t places, uint64_t max_bytes)
    : model_(model),
      library_(model.host().library()),
      threads_(model.host(), settings.threads),
      context_(nullptr, {&library_}),
      places_(places) {
  const uint64_t needed = ContextBytes(model, settings, places);
  if (max_bytes != 0 && needed > max_bytes) {
    throw Error(WASINN_TOO_LARGE, fmt::format("{} contexts of {} tokens take {} bytes: no more than {} are allowed",
                                              places, settings.context, needed, max_bytes));
  }
  batch_size_ = std::max<size_t>(std::min(settings.batch, settings.micro_batch), places);
  llama_context_params params = ContextParams(model, settings);
  params.n_seq_max = places;
  params.n_ctx = settings.context * places;
  params.n_batch = params.n_ubatch = static_cast<uint32_t>(batch_size_);
  params.kv_unified = false;  // conversations have nothing in common
  params.embeddings = false;
  params.n_threads = params.n_threads_batch = threads_.count();
  params.abort_callback = AreAllCancelled;
  params.abort_callback_data = this;
  const LogScope scope(model.host().log(), settings.log);
  context_.reset(library_.init_from_model(model.get(), params));
  if (context_ == nullptr) {
    throw Error(WASINN_RUNTIME_ERROR,
                fmt::format("parallel: {}", scope.Errors("llama.cpp does not say what is wrong")));
  }
  model.CheckGenerates();
  model.CheckGenerates(context_.get());
  threads_.Attach(context_.get());
  capacity_ = std::min<size_t>(settings.context, library_.n_ctx_seq(context_.get()));
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
  // Best its own, then one that nobody will come back to.
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].taken) continue;
    if (places_[i].holder == holder) return i;
    if (found == kNoPlace || places_[i].holder == 0) found = i;
  }
  return found;
}

size_t Batcher::Acquire(uint64_t holder, const backend::CancelGate& gate) {
  std::unique_lock lock(mutex_);
  const uint64_t ticket = ++last_ticket_;
  queue_.push_back(ticket);
  size_t place = kNoPlace;
  while (!gate.cancelled() && (queue_.front() != ticket || (place = FreePlaceFor(holder)) == kNoPlace)) {
    freed_.wait_for(lock, kCancelPoll);
  }
  std::erase(queue_, ticket);
  // The next one in the queue may have waited for this one only.
  freed_.notify_all();
  if (place == kNoPlace) throw Error(WASINN_TIMEOUT, "the generation was cancelled while it waited for a place");
  Place& taken = places_[place];
  if (taken.holder != holder) taken.held.clear();
  taken.holder = holder;
  taken.taken = true;
  taken.expected = true;
  return place;
}

void Batcher::Release(size_t place) {
  {
    const std::lock_guard lock(mutex_);
    places_[place].taken = places_[place].expected = false;
  }
  freed_.notify_all();
  work_.notify_one();
}

void Batcher::Forget(uint64_t holder) {
  const std::lock_guard lock(mutex_);
  for (Place& place : places_) {
    if (place.holder == holder) place.holder = 0;
  }
}

llama_token Batcher::Next(size_t place, size_t keep, std::span<const llama_token> tokens, Sampler* sampler,
                          const backend::CancelGate& gate) {
  std::unique_lock lock(mutex_);
  Place& mine = places_[place];
  mine.keep = keep;
  mine.kept = keep == mine.held.size() && keep > 0;
  mine.tokens = tokens;
  mine.done = 0;
  mine.sampler = sampler;
  mine.gate = &gate;
  mine.error = nullptr;
  mine.waiting = true;
  work_.notify_one();
  done_.wait(lock, [&] { return !mine.waiting; });
  if (mine.error != nullptr) std::rethrow_exception(std::exchange(mine.error, nullptr));
  return mine.token;
}

// Between decodes it is not asked.
bool Batcher::AreAllCancelled(void* self) {
  const auto& decoding = static_cast<Batcher*>(self)->decoding_;
  return std::ranges::all_of(decoding, [](const backend::CancelGate* gate) { return gate->cancelled(); });
}

bool Batcher::IsAnyWaiting() const { return std::ranges::any_of(places_, &Place::waiting); }

// Those who have just got a token come back for the next one in a moment, and to decode for one costs nearly as much as
// for all. A guest that does something else meanwhile must not hold up the others.
void Batcher::AwaitExpected(std::unique_lock<std::mutex>* lock) {
  const auto until = Clock::now() + std::min<Clock::duration>(last_decode_ / 2, kLongestWait);
  work_.wait_until(*lock, until, [this] {
    return stop_ || std::ranges::none_of(places_, [](const Place& place) { return place.expected && !place.waiting; });
  });
  for (Place& place : places_) place.expected = place.expected && place.waiting;
}

void Batcher::Finish(Place* place, std::exception_ptr error) {
  if (error != nullptr) place->held.clear();
  place->error = std::move(error);
  place->waiting = false;
  place->expected = true;
}

void Batcher::DropCancelled() {
  for (Place& place : places_) {
    if (place.waiting && place.gate->cancelled()) Finish(&place, Cancelled());
  }
}

void Batcher::Add(Place* place, size_t n) {
  const auto sequence = static_cast<llama_seq_id>(place - places_.data());
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(batch_.n_tokens);
    batch_.token[at] = place->tokens[place->done + i];
    batch_.pos[at] = static_cast<llama_pos>(place->held.size() + i);
    batch_.n_seq_id[at] = 1;
    batch_.seq_id[at][0] = sequence;
    batch_.logits[at] = place->done + i + 1 == place->tokens.size() ? 1 : 0;
    place->last_index = batch_.n_tokens++;
  }
  place->in_batch = n;
  decoding_.push_back(place->gate);
}

void Batcher::FillBatch() {
  batch_.n_tokens = 0;
  decoding_.clear();
  const llama_memory_t memory = library_.get_memory(context_.get());
  for (Place& place : places_) {
    place.in_batch = 0;
    if (!place.waiting || place.kept) continue;
    place.held.resize(std::min(place.keep, place.held.size()));
    library_.memory_seq_rm(memory, static_cast<llama_seq_id>(&place - places_.data()),
                           static_cast<llama_pos>(place.held.size()), -1);
    place.kept = true;
  }
  // Those who generate first, for there is room for a token of each; then prompts, as much as fits.
  for (const bool prompts : {false, true}) {
    for (Place& place : places_) {
      const size_t left = place.waiting ? place.tokens.size() - place.done : 0;
      if (left == 0 || (left > 1) != prompts) continue;
      const size_t n = std::min(left, batch_size_ - static_cast<size_t>(batch_.n_tokens));
      if (n > 0) Add(&place, n);
    }
  }
}

void Batcher::TakeResults(int failed) {
  for (Place& place : places_) {
    if (place.in_batch == 0) continue;
    if (failed != 0) {
      Finish(&place,
             failed == kBatchAborted
                 ? Cancelled()
                 : std::make_exception_ptr(Error(
                       WASINN_RUNTIME_ERROR, fmt::format("llama.cpp cannot evaluate the tokens (error {})", failed))));
      continue;
    }
    const auto evaluated = place.tokens.subspan(place.done, place.in_batch);
    place.held.insert(place.held.end(), evaluated.begin(), evaluated.end());
    place.done += place.in_batch;
    if (place.done < place.tokens.size()) continue;
    try {
      place.token = place.sampler->Sample(library_.get_logits_ith(context_.get(), place.last_index));
      Finish(&place, nullptr);
    } catch (...) {
      Finish(&place, std::current_exception());
    }
  }
}

void Batcher::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stop_ || IsAnyWaiting(); });
    if (stop_) return;
    AwaitExpected(&lock);
    DropCancelled();
    FillBatch();
    if (batch_.n_tokens > 0) {
      lock.unlock();
      const auto start = Clock::now();
      int failed = 0;
      try {
        const LogScope scope(model_.host().log(), false);
        failed = library_.decode(context_.get(), batch_);
      } catch (...) {
        failed = -1;
      }
      lock.lock();
      last_decode_ = Clock::now() - start;
      TakeResults(failed);
    }
    done_.notify_all();
  }
}

}  // namespace wasinn::llama
