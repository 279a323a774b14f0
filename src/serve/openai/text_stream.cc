#include "serve/openai/text_stream.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "serve/threads/events.h"

namespace wasinn::serve::openai {

using nlohmann::json;

namespace {

// Bytes that may wait to be written without being charged.
constexpr size_t kFree = 16u << 10;

// The evaluation of a prompt, for clients that want to see it in a stream. For one text; used by one thread at a time.
class Progress {
 public:
  // `is_wanted`: false: there is never any progress. `begun`: when the text began.
  Progress(bool is_wanted, std::chrono::steady_clock::time_point begun) : is_over_(!is_wanted), begun_(begun) {}

  // llama.cpp's `prompt_progress`, whose first event has the tokens that were evaluated before. Empty: no progress
  // since the last call. Throws Failure.
  std::optional<json> Next(Completion& completion) {
    if (is_over_) return std::nullopt;
    const json metadata = ReadOutput(completion, "metadata");
    const auto count = [&](const char* name) { return metadata.value(name, uint64_t{0}); };
    const uint64_t total = count("input_tokens"), cached = total - std::min(total, count("evaluated_tokens"));
    const bool is_evaluated = count("output_tokens") > 0;  // even if a model reports nothing else
    const uint64_t held = !reported_ ? cached : is_evaluated ? total : count("held_prompt_tokens");
    if (reported_ == held) return std::nullopt;
    reported_ = held;
    is_over_ = held >= total;
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begun_;
    return json{
        {"total", total}, {"cache", cached}, {"processed", held}, {"time_ms", static_cast<int64_t>(time.count())}};
  }
  // The prompt is evaluated, or the client does not want to see it.
  bool is_over() const { return is_over_; }

 private:
  bool is_over_;
  std::chrono::steady_clock::time_point begun_;
  std::optional<uint64_t> reported_;  // tokens
};

// The request's own thread calls all functions, except those for workers.
class TextStream final : public BodySource {
 public:
  TextStream(TextWork work, std::unique_ptr<TextForm> form)
      : work_(std::move(work)), form_(std::move(form)), waiting_(work_.tenant.budget()) {}
  // Waits for the worker if End was not called, for example without memory.
  ~TextStream() override {
    {
      const std::lock_guard lock(mutex_);
      if (state_ != State::kWorking) return;
      is_unwanted_ = true;
    }
    work_.cancellation->Cancel();
    events_.AwaitHere(mutex_, [this] { return state_ != State::kWorking; });
  }
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  // Called once, first. Waits for the first event. Throws Failure.
  asio::awaitable<void> Begin() {
    Start();
    co_await AwaitEvents();
    const std::lock_guard lock(mutex_);
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
    if (failure_) throw *failure_;
  }
  asio::awaitable<std::optional<std::string>> Next() override {
    for (;;) {
      bool is_paused = false;
      {
        const std::lock_guard lock(mutex_);
        if (thrown_ != nullptr) std::rethrow_exception(thrown_);
        waiting_.ShrinkTo(pending_.size());  // the last piece is written
        std::string events = std::exchange(pending_, {});
        n_writing_ = events.size();
        if (!events.empty() || state_ == State::kOver) co_return events;
        is_paused = state_ == State::kPaused;
      }
      if (is_paused) Start();
      co_await AwaitEvents();
    }
  }
  asio::awaitable<void> End() override {
    bool works = false;
    {
      const std::lock_guard lock(mutex_);
      is_unwanted_ = true;
      works = state_ == State::kWorking;
    }
    if (works) work_.cancellation->Cancel();
    co_await events_.Await(mutex_, [this] { return state_ != State::kWorking; });
    completion_.reset();
  }

 private:
  enum class State { kWorking, kPaused, kOver };

  void Start() {
    {
      const std::lock_guard lock(mutex_);
      state_ = State::kWorking;
    }
    try {
      const bool begun = work_.workers.Begin({.run = [this] { Run(); },
                                              .refuse = [this](const Failure& why) { Refuse(why); },
                                              .share = &work_.tenant.share(),
                                              .cancellation = work_.cancellation.get()});
      if (!begun) Stop(Workers::TooMany());
    } catch (const std::exception&) {  // out of memory: nothing has begun
      Leave(State::kOver, std::current_exception());
    }
  }
  // On a worker.
  void Run() noexcept {
    try {
      while (n_ended_ < work_.prompts.size()) {
        if (!WorkOnOne()) return;
      }
    } catch (const Failure& why) {
      Refuse(why);
    } catch (...) {
      Leave(State::kOver, std::current_exception());
    }
  }
  // Generates the next text to its end; false: the worker stops. Throws Failure, like the next functions.
  bool WorkOnOne() {
    const auto pause = [this] {
      Leave(State::kPaused);
      return false;
    };
    if (completion_ == nullptr) {
      completion_ = work_.Begin(n_ended_);
      progress_ = Progress(work_.prompts.wants_progress, work_.begun);
      std::string events = form_->Begin(*completion_);
      events += ReadProgress();
      if (!Emit(events)) return pause();
    }
    while (const auto piece = work_.Next(*completion_)) {
      if (!Emit(Add(*piece))) return pause();
    }
    std::string events = ReadProgress();  // even if the text has ended before its first token
    const Ending ending = work_.End(*completion_);
    events += form_->EndChoice(*completion_, ending);
    completion_.reset();  // frees its slot before the client sees the end
    all_.Add(ending, work_.prompts.IsAgain(n_ended_));
    if (++n_ended_ < work_.prompts.size()) return Emit(events) || pause();
    (void)Emit(events + form_->End(all_));
    Leave(State::kOver);
    return false;
  }
  // The events for a token, and for the prompt's progress.
  std::string Add(const std::string& piece) {
    std::string events = ReadProgress();
    std::optional<Ending> so_far;
    if (work_.prompts.wants_timings && progress_.is_over()) so_far = work_.SoFar(*completion_);
    return events += form_->Add(*completion_, piece, so_far ? &*so_far : nullptr);
  }
  std::string ReadProgress() {
    const bool was_over = progress_.is_over();
    const std::optional<json> report = progress_.Next(*completion_);
    if (!was_over && progress_.is_over()) work_.ComeFirst(n_ended_);
    return report ? form_->ReportProgress(*report) : "";
  }
  // Returns whether the worker should continue.
  bool Emit(const std::string& events) {
    const std::lock_guard lock(mutex_);
    if (is_unwanted_) return false;
    if (events.empty()) return true;
    has_emitted_ = true;
    pending_ += events;
    events_.Notify();
    return ChargeWaiting();
  }
  // Needs `mutex_`. False: no memory for the waiting events.
  bool ChargeWaiting() {
    const size_t waits = pending_.size() + n_writing_, charged = waits - std::min(waits, kFree);
    return charged <= waiting_.bytes() || waiting_.Add(charged - waiting_.bytes());
  }
  void Stop(const Failure& failure) {
    completion_.reset();  // frees its slot, even if the client reads slowly
    {
      const std::lock_guard lock(mutex_);
      if (has_emitted_) {
        pending_ += form_->Fail(ToApiError(failure));
      } else {
        failure_ = failure;
      }
    }
    Leave(State::kOver);
  }
  // The waiting thread must be notified in any case.
  void Refuse(const Failure& why) noexcept {
    try {
      Stop(why);
    } catch (...) {
      Leave(State::kOver, std::current_exception());
    }
  }
  void Leave(State state, std::exception_ptr thrown = nullptr) {
    const std::lock_guard lock(mutex_);
    state_ = state;
    thrown_ = std::move(thrown);
    events_.Notify();
  }
  // Waits until a worker adds an event or stops.
  asio::awaitable<void> AwaitEvents() {
    return events_.Await(mutex_, [this] { return !pending_.empty() || state_ != State::kWorking; });
  }

  TextWork work_;
  const std::unique_ptr<TextForm> form_;
  std::unique_ptr<Completion> completion_;
  Progress progress_{false, {}};  // of the current prompt
  size_t n_ended_ = 0;            // finished texts
  Ending all_;                    // sum of the finished texts
  bool has_emitted_ = false;      // used by workers
  std::mutex mutex_;              // guards the members below
  State state_ = State::kPaused;
  std::string pending_;   // events that wait to be written
  size_t n_writing_ = 0;  // bytes being written
  Charge waiting_;        // for both
  std::optional<Failure> failure_;
  std::exception_ptr thrown_;
  bool is_unwanted_ = false;
  Events events_;
};

}  // namespace

asio::awaitable<std::unique_ptr<BodySource>> BeginTextStream(TextWork work, std::unique_ptr<TextForm> form) {
  auto stream = std::make_unique<TextStream>(std::move(work), std::move(form));
  co_await stream->Begin();
  co_return std::move(stream);
}

std::unique_ptr<Completion> TextWork::Begin(size_t i) {
  begun = std::chrono::steady_clock::now();
  last = {};
  auto completion = models.Complete(tenant, model, version, prompts.Take(i), cancellation.get());
  first = std::chrono::steady_clock::now();
  if (!prompts.wants_progress) ComeFirst(i);
  return completion;
}

void TextWork::ComeFirst(size_t i) {
  first = last = std::chrono::steady_clock::now();
  if (i == 0) metrics.AddFirst(model, version, first - exchange);
}

std::optional<std::string> TextWork::Next(Completion& completion) {
  const bool is_first = !completion.has_begun();
  auto piece = completion.Next();
  if (!piece || is_first || last == decltype(last)()) return piece;
  const auto now = std::chrono::steady_clock::now();
  metrics.AddNext(model, version, now - std::exchange(last, now));
  return piece;
}

Ending TextWork::SoFar(Completion& completion) const {
  Ending ending = ReadEnding(completion);
  ending.prompt = first - begun;
  ending.completion = std::chrono::steady_clock::now() - first;
  return ending;
}

Ending TextWork::End(Completion& completion) const {
  Ending ending = SoFar(completion);
  metrics.AddTokens(model, version, ending.prompt_tokens, ending.completion_tokens);
  return ending;
}

}  // namespace wasinn::serve::openai
