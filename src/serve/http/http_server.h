// Serves HTTP on connections of a port.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "serve/http/http_message.h"
#include "serve/http/tls.h"
#include "serve/metrics/access_log.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

// The limit of a request that needs no body, and perhaps no key. No option changes it.
inline constexpr uint64_t kMaxSmall = 4096;

struct HttpOptions {
  std::shared_ptr<MemoryBudget> budget;   // for bodies and responses
  std::shared_ptr<Tls> tls;               // NULL: none
  std::shared_ptr<AccessLog> access_log;  // NULL: none
  uint32_t max_header_bytes = 16u << 10;  // not in the budget
  size_t max_connections = 16384;
  int max_descriptor = INT32_MAX;          // the largest number of a connection, so that some are left for models
  std::chrono::milliseconds idle{75'000};  // between two requests, and until a whole header has come
  std::chrono::milliseconds slow{30'000};  // for a body or a response, plus the time of its bytes (min_data_rate.h)
};

namespace asio = boost::asio;

// Errors are results, not exceptions.
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

class HttpSession;

struct Route {
  // Checks a request before its body comes: admits it, with its final name, or answers at once.
  std::function<std::expected<Admission, Response>(Header&)> admit;
  std::function<uint64_t(const Header&, const Admission&)> most_body;  // bytes
  // Answers one request. An exception becomes a 500, or a 503 if memory is short.
  std::function<asio::awaitable<Response>(Exchange&)> answer;
  // Converts any error to the form that the request's client knows. NULL: the usual form.
  std::function<void(const Header&, Response&)> shape_error = nullptr;
  // Counts a finished request: without a status, its client had disconnected. `generation` may be NULL.
  std::function<void(const Header&, const About&, const Generation* generation, std::optional<http::status>)> count =
      nullptr;
};

// Shared by the connections of a server: it lives as long as the last of them, which may end with the io_context.
struct HttpShared {
  HttpOptions options;
  Route route;
  std::atomic<bool> is_draining{false};
  std::atomic<size_t> n_connections{0};
  std::atomic<size_t> n_answering{0};  // requests
  std::mutex mutex;                    // guards the members below
  std::map<const HttpSession*, std::weak_ptr<HttpSession>> sessions;
};

// Its connections run on the io_context's threads, each on one at a time. Thread-safe.
class HttpServer {
 public:
  // The io_context outlives it.
  HttpServer(asio::io_context& context, HttpOptions options, Route route)
      : context_(context), shared_(std::make_shared<HttpShared>()) {
    shared_->options = std::move(options);
    shared_->route = std::move(route);
  }

  // Takes over a connection of TCP. Throws if there is no memory for it: then it is closed.
  void Take(int descriptor);

  // Closes idle connections. Those that answer a request finish, and then close.
  void Drain();
  size_t connections() const { return shared_->n_connections.load(std::memory_order_relaxed); }
  // Requests that have come and are not answered yet.
  size_t answering() const { return shared_->n_answering.load(std::memory_order_relaxed); }

 private:
  asio::io_context& context_;
  const std::shared_ptr<HttpShared> shared_;
};

}  // namespace wasinn::serve
