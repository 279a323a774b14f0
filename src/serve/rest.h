// The Open Inference Protocol's REST form, with Triton's statistics, configuration and repository.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http_server.h"
#include "serve/repository.h"
#include "serve/statistics.h"
#include "serve/workers.h"

namespace wasinn::serve {

// All outlive it.
class Rest {
 public:
  Rest(Repository& repository, const Statistics& statistics, Workers& workers)
      : repository_(repository), statistics_(statistics), workers_(workers) {}

  asio::awaitable<Response> Answer(const Request& request);
  // New requests are still answered, but nobody should send any.
  void Drain() { is_draining_.store(true, std::memory_order_relaxed); }

 private:
  // A path's words after /v2.
  using Words = std::vector<std::string>;
  struct Named {
    std::string model, version;
    std::string what;  // "infer"; "": the model itself
  };
  asio::awaitable<Response> AnswerModel(const Request& request, Named named);
  asio::awaitable<Response> AnswerRepository(const Request& request, const Words& words);
  asio::awaitable<Response> Infer(const Request& request, Named named);
  asio::awaitable<Response> IsReady(Named named);
  Response Health(std::string_view what);

  template <typename Work>
  asio::awaitable<Response> OnWorker(Work work);
  static Named NamedBy(const Words& words);

  Repository& repository_;
  const Statistics& statistics_;
  Workers& workers_;
  std::atomic<bool> is_draining_{false};
};

}  // namespace wasinn::serve
