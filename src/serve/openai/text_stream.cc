#include "serve/openai/text_stream.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace wasinn::serve::openai {
namespace {

// Bytes that may wait to be written without being charged.
constexpr size_t kFree = 16u << 10;

}  // namespace

TextStream::~TextStream() {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::kWorking) return;
    is_unwanted_ = true;
  }
  work_.cancellation->Cancel();
  events_.AwaitHere(mutex_, [this] { return state_ != State::kWorking; });
}

void TextStream::Start() {
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

// The waiting thread must be notified in any case.
void TextStream::Refuse(const Failure& why) noexcept {
  try {
    Stop(why);
  } catch (...) {
    Leave(State::kOver, std::current_exception());
  }
}

void TextStream::Leave(State state, std::exception_ptr thrown) {
  const std::lock_guard lock(mutex_);
  state_ = state;
  thrown_ = std::move(thrown);
  events_.Notify();
}

void TextStream::Stop(const Failure& failure) {
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

bool TextStream::Emit(const std::string& events) {
  const std::lock_guard lock(mutex_);
  if (is_unwanted_) return false;
  if (events.empty()) return true;
  has_emitted_ = true;
  pending_ += events;
  events_.Notify();
  return ChargeWaiting();
}

bool TextStream::ChargeWaiting() {
  const size_t waits = pending_.size() + n_writing_, charged = waits - std::min(waits, kFree);
  return charged <= waiting_.bytes() || waiting_.Add(charged - waiting_.bytes());
}

Outcome<std::string> TextStream::ReadProgress() {
  const bool was_over = progress_.is_over();
  const auto news = progress_.Next(*completion_);
  if (!news) return std::unexpected(news.error());
  if (!was_over && progress_.is_over()) work_.ComeFirst(n_ended_);
  const std::optional<nlohmann::json>& report = *news;
  return report ? form_->ReportProgress(*report) : "";
}

Outcome<std::string> TextStream::Add(const std::string& piece) {
  const auto progress = ReadProgress();
  if (!progress) return progress;
  std::optional<Ending> so_far;
  if (work_.prompts.wants_timings && progress_.is_over()) {
    auto ending = work_.SoFar(*completion_);
    if (!ending) return std::unexpected(std::move(ending.error()));
    so_far = std::move(*ending);
  }
  const auto events = form_->Add(*completion_, piece, so_far ? &*so_far : nullptr);
  if (!events) return events;
  return *progress + *events;
}

void TextStream::Work() {
  while (n_ended_ < work_.prompts.size()) {
    if (!WorkOnOne()) return;
  }
}

bool TextStream::WorkOnOne() {
  const auto stop = [this](const Failure& why) {
    Stop(why);
    return false;
  };
  const auto rest = [this] {
    Leave(State::kResting);
    return false;
  };
  if (completion_ == nullptr) {
    auto begun = work_.Begin(n_ended_);
    if (!begun) return stop(begun.error());
    completion_ = std::move(*begun);
    progress_ = Progress(work_.prompts.wants_progress, work_.begun);
    const auto events = form_->Begin(*completion_);
    if (!events) return stop(events.error());
    const auto progress = ReadProgress();
    if (!progress) return stop(progress.error());
    if (!Emit(*events + *progress)) return rest();
  }
  for (;;) {
    const auto next = work_.Next(*completion_);
    if (!next) return stop(next.error());
    const std::optional<std::string>& piece = *next;
    if (!piece) break;
    const auto events = Add(*piece);
    if (!events) return stop(events.error());
    if (!Emit(*events)) return rest();
  }
  const auto progress = ReadProgress();  // even if the text has ended before its first token
  if (!progress) return stop(progress.error());
  const auto ending = work_.End(*completion_);
  if (!ending) return stop(ending.error());
  auto events = form_->EndChoice(*completion_, *ending);
  if (!events) return stop(events.error());
  events->insert(0, *progress);
  completion_.reset();  // frees its slot before the client sees the end
  all_.Add(*ending, work_.prompts.IsAgain(n_ended_));
  if (++n_ended_ < work_.prompts.size()) return Emit(*events) || rest();
  (void)Emit(*events + form_->End(all_));
  Leave(State::kOver);
  return false;
}

void TextStream::Run() noexcept {
  try {
    Work();
  } catch (...) {
    Leave(State::kOver, std::current_exception());
  }
}

asio::awaitable<Outcome<void>> TextStream::Begin() {
  Start();
  co_await AwaitEvents();
  const std::lock_guard lock(mutex_);
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  if (failure_) co_return std::unexpected(*failure_);
  co_return Outcome<void>();
}

asio::awaitable<std::optional<std::string>> TextStream::Next() {
  for (;;) {
    bool rests = false;
    {
      const std::lock_guard lock(mutex_);
      if (thrown_ != nullptr) std::rethrow_exception(thrown_);
      waiting_.ShrinkTo(pending_.size());  // the last piece is written
      std::string events = std::exchange(pending_, {});
      n_writing_ = events.size();
      if (!events.empty() || state_ == State::kOver) co_return events;
      rests = state_ == State::kResting;
    }
    if (rests) Start();
    co_await AwaitEvents();
  }
}

asio::awaitable<void> TextStream::End() {
  {
    const std::lock_guard lock(mutex_);
    is_unwanted_ = true;
  }
  for (bool works = true; works;) {
    {
      const std::lock_guard lock(mutex_);
      pending_.clear();
      works = state_ == State::kWorking;
    }
    if (works) work_.cancellation->Cancel();
    if (works) co_await AwaitEvents();
  }
  completion_.reset();
}

}  // namespace wasinn::serve::openai
