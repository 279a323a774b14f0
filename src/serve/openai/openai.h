// OpenAI's API for the server's language models: /v1.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/http_server.h"
#include "serve/metrics/request_metrics.h"
#include "serve/threads/workers.h"

namespace wasinn::serve::openai {

// Whether a target (target.h) is one of this API, unless a guest has the path.
bool IsOurs(std::string_view target);
// Maps a target of llama.cpp's server, some of which are outside of /v1, to one under /v1. Empty: another target.
std::optional<std::string> UnderV1(std::string_view target);
// The words of a target after /v1. Empty if it is not of this API.
std::vector<std::string> WordsBehind(std::string_view target);

// Thread-safe.
class OpenAi {
 public:
  // All outlive it.
  struct Parts {
    asio::io_context& context;  // for connections to model servers
    Workers& workers;
    Workers& loads;  // for loads of models
    TextMetrics& metrics;
  };
  explicit OpenAi(const Parts& parts) : parts_(parts) {}

  // Whether it answers the request, unless a guest has the path.
  static bool Has(const Header& request);
  asio::awaitable<Response> Answer(Exchange& exchange);
  // Triton's generate extension. `model`: "tiny", or "tiny:2".
  asio::awaitable<Response> Generate(Exchange& exchange, const std::string& model, bool is_stream);

 private:
  const Parts parts_;
};

}  // namespace wasinn::serve::openai
