// The Open Inference Protocol's REST form, with Triton's statistics, configuration and repository.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/http_server.h"
#include "serve/models/repository.h"
#include "serve/models/statistics.h"
#include "serve/openai/openai.h"
#include "serve/threads/quick_computes.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

struct RestLimits {
  uint64_t most_body = 256u << 20;  // bytes of a request
  uint64_t most_json = 32u << 20;   // of these, bytes of JSON, whose parsing takes many times as much
};

// All arguments outlive it.
class Rest {
 public:
  // `openai`: for texts. `loads`: for loads of models. `permits`, `turns`: of the threads that call Answer.
  Rest(const Statistics& statistics, openai::OpenAi& openai, Workers& workers, Workers& loads, InlinePermits& permits,
       InlineTurns& turns, const RestLimits& limits)
      : statistics_(statistics),
        openai_(openai),
        workers_(workers),
        loads_(loads),
        permits_(permits),
        turns_(turns),
        limits_(limits) {}

  uint64_t MaxBody(const Header& header) const;
  // For a body that is only JSON.
  uint64_t MaxJson() const;
  asio::awaitable<Response> Answer(Exchange& exchange);
  // New requests are still answered, but clients should send no more.
  void Drain() { is_draining_.store(true, std::memory_order_relaxed); }

 private:
  // A path's words after /v2.
  using Words = std::vector<std::string>;
  struct Named {
    std::string model, version;
    std::string what;  // "infer"; "": the model itself
  };
  using Work = std::function<Response(Cancellation* cancellation)>;
  // All below throw Failure.
  asio::awaitable<Response> AnswerModel(Exchange& exchange, Named named);
  asio::awaitable<Response> AnswerRepository(Exchange& exchange, const Words& words);
  asio::awaitable<Response> Infer(Exchange& exchange, Named named);
  Response InferNow(Exchange& exchange, Named& named, Cancellation* cancellation);
  // Triton's extension: a text of a language model, or an inference by fields.
  asio::awaitable<Response> Generate(Exchange& exchange, Named named);
  Response GenerateNow(Exchange& exchange, Named& named, Cancellation* cancellation);
  // Loads it if necessary.
  asio::awaitable<void> Load(Exchange& exchange, const Named& named);
  Response Health(const Exchange& exchange, std::string_view what);
  Response Index(const Exchange& exchange) const;
  Response ModelStatistics(const Exchange& exchange, const Named& named) const;
  asio::awaitable<Response> OnWorker(Exchange& exchange, Work work, Workers& workers, Place place);
  static Named NamedBy(const Words& words);

  const Statistics& statistics_;
  openai::OpenAi& openai_;
  Workers& workers_;
  Workers& loads_;
  InlinePermits& permits_;
  InlineTurns& turns_;
  const RestLimits limits_;
  std::atomic<bool> is_draining_{false};
};

}  // namespace wasinn::serve
