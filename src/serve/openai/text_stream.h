// A text that goes to its client while it grows. A worker generates, and the request's own thread writes. A client that reads slowly
// holds memory, which is charged, and no worker: the text is generated all the same, so that its place is soon another's. Only where no
// memory is left does the worker leave before the end.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "serve/http/body_source.h"
#include "serve/openai/progress.h"
#include "serve/openai/text_form.h"
#include "serve/openai/text_work.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/events.h"
#include "serve/threads/workers.h"

namespace wasinn::serve::openai {

// Its functions are the request's own thread's, but for those that workers call.
class TextStream final : public BodySource {
 public:
  TextStream(TextWork work, std::unique_ptr<TextForm> form)
      : work_(std::move(work)), form_(std::move(form)), waiting_(work_.tenant.budget()) {}
  // Waits for the worker where nobody has called End, as when there is no memory to go on.
  ~TextStream() override;
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  // Once, and first: until there is something to tell, or why there is nothing.
  asio::awaitable<Outcome<void>> Begin();
  asio::awaitable<std::optional<std::string>> Next() override;
  asio::awaitable<void> End() override;

 private:
  enum class State { kWorking, kResting, kOver };

  void Start();
  void Run() noexcept;  // of a worker
  void Work();
  // The next text until it ends; false: the worker has left.
  bool WorkOnOne();
  // What is to be told of a token that has come, and of the prompt.
  Outcome<std::string> Add(const std::string& piece);
  Outcome<std::string> ReadProgress();
  // Whether a worker is to go on.
  bool Tell(const std::string& events);
  // Of `mutex_`. False: what waits to be written has no room.
  bool ChargeWaiting();
  void Stop(const Failure& failure);
  void Refuse(const Failure& why) noexcept;
  void Leave(State state, std::exception_ptr thrown = nullptr);
  // Until a worker has told something, or left.
  asio::awaitable<void> AwaitNews() {
    return events_.Await(mutex_, [this] { return HasNews(); });
  }
  bool HasNews() const { return !told_.empty() || state_ != State::kWorking; }  // of `mutex_`

  TextWork work_;
  const std::unique_ptr<TextForm> form_;
  std::unique_ptr<Completion> completion_;
  Progress progress_{false, {}};  // of its prompt
  size_t n_ended_ = 0;            // texts
  Ending all_;                    // of these
  bool has_told_ = false;         // of a worker
  std::mutex mutex_;              // of what follows
  State state_ = State::kResting;
  std::string told_;      // and not yet being written
  size_t n_writing_ = 0;  // bytes that are
  Charge waiting_;        // of both
  std::optional<Failure> failure_;
  std::exception_ptr thrown_;
  bool is_unwanted_ = false;
  Events events_;
};

}  // namespace wasinn::serve::openai
