// A text that is sent to its client while it is generated. A worker generates, and the request's own thread writes. A
// slow client holds memory, which is charged, but no worker: generation continues, so that the model's slot is soon
// free. The worker stops early only if no memory is left.
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

// The request's own thread calls all functions, except those for workers.
class TextStream final : public BodySource {
 public:
  TextStream(TextWork work, std::unique_ptr<TextForm> form)
      : work_(std::move(work)), form_(std::move(form)), waiting_(work_.tenant.budget()) {}
  // Waits for the worker if End was not called, for example without memory.
  ~TextStream() override;
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  // Called once, first. Waits for the first event, or the error.
  asio::awaitable<Outcome<void>> Begin();
  asio::awaitable<std::optional<std::string>> Next() override;
  asio::awaitable<void> End() override;

 private:
  enum class State { kWorking, kResting, kOver };

  void Start();
  void Run() noexcept;  // on a worker
  void Work();
  // Generates the next text to its end; false: the worker stops.
  bool WorkOnOne();
  // The events for a token, and for the prompt's progress.
  Outcome<std::string> Add(const std::string& piece);
  Outcome<std::string> ReadProgress();
  // Returns whether the worker should continue.
  bool Emit(const std::string& events);
  // Needs `mutex_`. False: no memory for the waiting events.
  bool ChargeWaiting();
  void Stop(const Failure& failure);
  void Refuse(const Failure& why) noexcept;
  void Leave(State state, std::exception_ptr thrown = nullptr);
  // Waits until a worker adds an event or stops.
  asio::awaitable<void> AwaitEvents() {
    return events_.Await(mutex_, [this] { return HasEvents(); });
  }
  bool HasEvents() const { return !pending_.empty() || state_ != State::kWorking; }  // needs `mutex_`

  TextWork work_;
  const std::unique_ptr<TextForm> form_;
  std::unique_ptr<Completion> completion_;
  Progress progress_{false, {}};  // of the current prompt
  size_t n_ended_ = 0;            // finished texts
  Ending all_;                    // sum of the finished texts
  bool has_emitted_ = false;      // used by workers
  std::mutex mutex_;              // guards the members below
  State state_ = State::kResting;
  std::string pending_;   // events that wait to be written
  size_t n_writing_ = 0;  // bytes being written
  Charge waiting_;        // for both
  std::optional<Failure> failure_;
  std::exception_ptr thrown_;
  bool is_unwanted_ = false;
  Events events_;
};

}  // namespace wasinn::serve::openai
