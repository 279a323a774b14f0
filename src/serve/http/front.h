// Dispatches requests over HTTP: to the page, a route's guest, or models, in the protocol of the request.
#pragma once

#include <expected>
#include <functional>
#include <optional>

#include "serve/generation.h"
#include "serve/http/http_server.h"
#include "serve/http/origins.h"
#include "serve/metrics/request_metrics.h"
#include "serve/oip/rest.h"
#include "serve/openai/openai.h"
#include "serve/page/operator_page.h"

namespace wasinn::serve {

struct ServeOptions;

// Thread-safe. All arguments outlive it.
class Front {
 public:
  struct Parts {
    const Gate& gate;
    Rest& rest;
    openai::OpenAi& openai;
    Workers& workers;  // for compressed requests
    RequestMetrics& requests;
    std::function<Response(const Generation&)> metrics;  // answers /metrics
  };
  Front(const ServeOptions& options, Parts parts, OperatorPage::Sources sources);

  // As in Route.
  std::expected<Admission, Response> Admit(Header& header) const;
  uint64_t MaxBody(const Header& header, const Admission& admission) const;
  asio::awaitable<Response> Answer(Exchange& exchange);
  static void ShapeError(const Header& header, Response& response);
  void Count(const Header& header, const About& about, const Generation* generation,
             std::optional<http::status> status);

 private:
  // Renames it to the only path under which it is answered, so that no other one bypasses a route.
  static void Rename(Header& header, const Generation& generation);
  // Whether any client may send it, with a key or without.
  bool IsPublic(const Header& header, const Generation& generation) const;
  bool HasPage(const Header& header, const Generation& generation) const;
  asio::awaitable<Response> AnswerAny(Exchange& exchange);
  asio::awaitable<Response> AnswerPage(Exchange& exchange);
  bool HasMetrics(const Header& header, const Generation& generation) const;
  asio::awaitable<Response> AnswerMetrics(Exchange& exchange);
  asio::awaitable<Response> AnswerModels(Exchange& exchange);
  asio::awaitable<Response> AnswerCompressed(Exchange& exchange);

  const ServeOptions& options_;
  const Parts parts_;
  const Origins origins_;
  OperatorPage page_;
};

}  // namespace wasinn::serve
