// A route's request and answer, independent of the transport.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/string_type.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "serve/metrics/trace.h"
#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"
#include "serve/tenants/tenant.h"
#include "serve/threads/cancellation.h"

namespace wasinn::serve {

// Called on the request's own thread.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // The next piece; "": the end; no value: it is broken off, and so is the response.
  virtual boost::asio::awaitable<std::optional<std::string>> Next() = 0;
  // Called once, after the writing ended in any way. Afterwards nothing of the request is in use.
  virtual boost::asio::awaitable<void> End() = 0;
};

namespace http = boost::beast::http;

// May carry a tenant's key instead of `Authorization: Bearer`.
inline constexpr char kApiKeyHeader[] = "X-Api-Key";

using Header = http::request_header<>;
using Request = http::request<RequestBody>;

// The two ends of a connection.
struct Ends {
  boost::asio::ip::tcp::endpoint client, server;
  bool is_secure = false;  // TLS
};

// A request, and the state of its client.
struct Exchange {
  Request request;
  Admission admission;
  std::function<Ends()> ends;
  // From here on its client is watched: the answer is cancelled if it disconnects. On the request's own thread.
  std::function<std::shared_ptr<Cancellation>()> watch;
  About about = {};
};

struct Response {
  http::status status = http::status::ok;
  std::string content_type = "application/json";  // "": none
  std::vector<std::pair<std::string, std::string>> headers;
  std::string text;
  std::vector<OutputTensor> binary;    // its bytes follow the text
  Charge charge;                       // for both, if they may be large
  std::unique_ptr<BodySource> source;  // NULL: there is only text and binary; else these are empty
  std::string error;                   // for ErrorResponse: the message, for a route with its own form of errors
};

// Its argument may be a list in braces.
inline std::string Dump(const nlohmann::json& value) { return base::Dump(value); }

inline std::string_view AsText(boost::beast::string_view text) { return {text.data(), text.size()}; }

// 200 with this.
inline Response JsonResponse(const nlohmann::json& answer) { return {.text = Dump(answer)}; }
// {"error": message}
Response ErrorResponse(http::status status, const std::string& message);
// Errors of every path.
Response NotFound();
Response WrongMethod(const char* allowed);
// By its code; with Retry-After if a retry may help.
Response ToResponse(const Failure& failure);

// The target with its path in its only spelling: %XX only if necessary, and in upper case. INVALID_ARGUMENT: it is no
// path, or is ambiguous: a word is "." or "..", or empty before the end ("//"), or has an encoded "/", "\" or ".", or a
// control character, or is not UTF-8.
std::string CanonicalTarget(std::string_view target);

// A target without its query.
inline std::string_view PathAlone(std::string_view target) { return target.substr(0, target.find('?')); }

// The words of a canonical target's path, decoded, and none for a "/" at its end.
std::vector<std::string> PathWords(std::string_view target);

// The same as a path: "/a/b%20c/?d" is "/a/b c".
std::string PathOf(const Header& request);

}  // namespace wasinn::serve
