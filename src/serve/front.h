// What is asked over HTTP, and who answers it: the page, a route's guest, or models, in one protocol's words or another's.
#pragma once

#include <expected>
#include <functional>
#include <optional>

#include "serve/gate.h"
#include "serve/http_server.h"
#include "serve/openai/openai.h"
#include "serve/operator_page.h"
#include "serve/origins.h"
#include "serve/request_metrics.h"
#include "serve/rest.h"

namespace wasinn::serve {

struct ServeOptions;

// Any thread. All that it is given outlives it.
class Front {
 public:
  struct Parts {
    const Gate& gate;
    Rest& rest;
    openai::OpenAi& openai;
    Workers& workers;  // for requests that came compressed
    RequestMetrics& requests;
    std::function<Response(const Generation&)> metrics;  // what /metrics answers
  };
  Front(const ServeOptions& options, Parts parts, OperatorState::Sources sources);

  // As Route has them.
  std::expected<Admission, Response> Admit(Header& header) const;
  uint64_t MostBody(const Header& header, const Admission& admission) const;
  asio::awaitable<Response> Answer(Asked& asked);
  static void ShapeError(const Header& header, Response& response);
  void Count(const Header& header, const About& about, const Generation* generation,
             std::optional<http::status> status);

 private:
  // Names it by the path under which somebody answers it: there is one for each answer, so that no other one leads past a route.
  static void Rename(Header& header, const Generation& generation);
  // Whether anybody may ask, with a key or without.
  bool IsPublic(const Header& header, const Generation& generation) const;
  bool HasPage(const Header& header, const Generation& generation) const;
  asio::awaitable<Response> AnswerAny(Asked& asked);
  asio::awaitable<Response> AnswerPage(Asked& asked);
  bool HasMetrics(const Header& header, const Generation& generation) const;
  asio::awaitable<Response> AnswerMetrics(Asked& asked);
  asio::awaitable<Response> AnswerModels(Asked& asked);
  asio::awaitable<Response> AnswerCompressed(Asked& asked);

  const ServeOptions& options_;
  const Parts parts_;
  const Origins origins_;
  OperatorPage page_;
};

}  // namespace wasinn::serve
