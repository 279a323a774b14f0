// The answer of a component behind a route on its way from its worker to the request's own thread: whole, or piece by
// piece. A client that reads slowly holds memory, which is charged, and no worker, as with texts.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "serve/http/http_message.h"
#include "serve/routes/guest_streams.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/events.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

// Its functions are for the request's own thread, unless a comment says otherwise.
class HandlerStream final : public BodySource {
 public:
  // A worker's task. It returns the answer, or any value if it has begun a body.
  using Work = std::function<Response(HandlerStream& stream)>;

  HandlerStream(Work work, std::shared_ptr<MemoryBudget> budget, uint64_t most_body,
                std::shared_ptr<Cancellation> cancellation)
      : work_(std::move(work)),
        cancellation_(std::move(cancellation)),
        most_body_(most_body),
        waiting_(std::move(budget)) {}
  // Waits for the worker if End was not called, for example because of a lack of memory.
  ~HandlerStream() override;
  HandlerStream(const HandlerStream&) = delete;
  HandlerStream& operator=(const HandlerStream&) = delete;

  // Call it once, first: returns the answer; if is_stream(), without its body, which comes from here.
  asio::awaitable<Response> Begin(Workers& workers, const Share& share, Place place = kNoPlace);
  bool is_stream() const { return is_stream_; }
  asio::awaitable<std::optional<std::string>> Next() override;
  asio::awaitable<void> End() override;

  // For the worker. The answer has that head, and is sent from here on.
  void BeginBody(Response head);
  // kWhole: go on. kNoMemory also means that no more is wanted.
  KeptOutput::State Write(std::string_view bytes) noexcept;
  void EndBody() noexcept;

 private:
  void Start(Workers& workers, const Share& share, Place place);
  void Run() noexcept;
  void Leave(Response answer, std::exception_ptr thrown) noexcept;

  Work work_;
  const std::shared_ptr<Cancellation> cancellation_;
  const uint64_t most_body_;
  bool is_stream_ = false;
  std::mutex mutex_;  // guards the members below
  Events events_;
  std::optional<Response> answer_;  // until Begin() takes it
  std::exception_ptr thrown_;       // instead of an answer
  bool has_begun_ = false, is_whole_ = false, is_unwanted_ = false;
  bool is_over_ = true;  // no worker has it, nor will any
  uint64_t n_told_ = 0;  // bytes so far
  std::string told_;     // and not being written yet
  Charge waiting_;       // for these, and for the piece that is being written
};

}  // namespace wasinn::serve
