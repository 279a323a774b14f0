// What a route gets and gives, apart from how it travels.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/string_type.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serve/about.h"
#include "serve/http/body_source.h"
#include "serve/http/request_body.h"
#include "serve/oip/inference.h"
#include "serve/tenants/admission.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"

namespace wasinn::serve {

namespace http = boost::beast::http;

// In which a tenant's key may come in place of `Authorization: Bearer`.
inline constexpr char kApiKeyHeader[] = "X-Api-Key";

using Header = http::request_header<>;
using Request = http::request<RequestBody>;

// Of a connection.
struct Ends {
  boost::asio::ip::tcp::endpoint client, server;
  bool is_secure = false;  // TLS
};

// A request, and what becomes of who asks.
struct Exchange {
  Request request;
  Admission admission;
  std::function<Ends()> ends;
  // From here on its client is watched: the answer of one that is gone is cancelled. On the request's own thread.
  std::function<std::shared_ptr<Cancellation>()> watch;
  About about = {};
};

struct Response {
  http::status status = http::status::ok;
  std::string content_type = "application/json";  // "": none
  std::vector<std::pair<std::string, std::string>> headers;
  std::string text;
  std::vector<OutputTensor> binary;    // whose bytes follow the text
  Charge charge;                       // of both, where they may be large
  std::unique_ptr<BodySource> source;  // NULL: there is nothing but text and binary; else these are empty
  std::string error;  // of ErrorResponse: the message, for a route that tells errors in a form of its own
};

inline std::string_view AsText(boost::beast::string_view text) { return {text.data(), text.size()}; }

// {"error": message}
Response ErrorResponse(http::status status, const std::string& message);
// By its code; with Retry-After where that may help.
Response ToResponse(const Failure& failure);

}  // namespace wasinn::serve
