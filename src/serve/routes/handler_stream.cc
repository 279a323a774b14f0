#include "serve/routes/handler_stream.h"

#include <utility>

namespace wasinn::serve {

HandlerStream::~HandlerStream() {
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    is_unwanted_ = true;
  }
  cancellation_->Cancel();
  events_.AwaitHere(mutex_, [this] { return is_over_; });
}

void HandlerStream::Leave(Response answer, std::exception_ptr thrown) noexcept {
  const std::lock_guard lock(mutex_);
  if (!has_begun_) {
    answer_ = std::move(answer);
    thrown_ = std::move(thrown);
  }
  is_over_ = true;
  events_.Notify();
}

void HandlerStream::Run() noexcept {
  Response answer;
  std::exception_ptr thrown;
  try {
    answer = work_(*this);
  } catch (...) {
    thrown = std::current_exception();
  }
  work_ = nullptr;  // with its references to the request
  Leave(std::move(answer), std::move(thrown));
}

void HandlerStream::Start(Workers& workers, const Share& share, Place place) {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = false;
  }
  try {
    const bool begun = workers.Begin({.run = [this] { Run(); },
                                      .refuse = [this](const Failure& why) { Leave(ToResponse(why), nullptr); },
                                      .share = &share,
                                      .cancellation = cancellation_.get(),
                                      .place = place});
    if (!begun) Leave(ToResponse(Workers::TooMany()), nullptr);
  } catch (const std::exception&) {  // no memory: nothing has begun
    Leave({}, std::current_exception());
  }
}

asio::awaitable<Response> HandlerStream::Begin(Workers& workers, const Share& share, Place place) {
  Start(workers, share, place);
  co_await events_.Await(mutex_, [this] { return has_begun_ || is_over_; });
  const std::lock_guard lock(mutex_);
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  is_stream_ = has_begun_;
  Response answer = std::exchange(answer_, std::nullopt).value_or(Response());
  co_return answer;
}

void HandlerStream::BeginBody(Response head) {
  const std::lock_guard lock(mutex_);
  answer_ = std::move(head);
  has_begun_ = true;
  events_.Notify();
}

KeptOutput::State HandlerStream::Write(std::string_view bytes) noexcept {
  using State = KeptOutput::State;
  const std::lock_guard lock(mutex_);
  if (bytes.empty() && !is_unwanted_) return State::kWhole;  // no event
  if (bytes.size() > most_body_ - n_told_) return State::kTooLarge;
  if (is_unwanted_ || !waiting_.Add(2 * bytes.size())) return State::kNoMemory;  // a growing text has room for more
  try {
    told_ += bytes;
    events_.Notify();
  } catch (const std::exception&) {
    return State::kNoMemory;
  }
  n_told_ += bytes.size();
  return State::kWhole;
}

void HandlerStream::EndBody() noexcept {
  const std::lock_guard lock(mutex_);
  is_whole_ = true;
}

asio::awaitable<std::optional<std::string>> HandlerStream::Next() {
  co_await events_.Await(mutex_, [this] { return !told_.empty() || is_over_; });
  const std::lock_guard lock(mutex_);
  waiting_.ShrinkTo(told_.capacity());  // the last piece is written
  std::string told = std::exchange(told_, {});
  if (told.empty() && !is_whole_) co_return std::nullopt;
  co_return told;
}

asio::awaitable<void> HandlerStream::End() {
  bool runs = false;
  {
    const std::lock_guard lock(mutex_);
    is_unwanted_ = true;
    runs = !is_over_;
  }
  if (runs) cancellation_->Cancel();
  co_await events_.Await(mutex_, [this] { return is_over_; });
}

}  // namespace wasinn::serve
