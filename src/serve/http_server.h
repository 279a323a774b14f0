// A port on which HTTP is spoken.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "serve/http_message.h"
#include "serve/http_options.h"

namespace wasinn::serve {

namespace asio = boost::asio;

// Errors are results, not exceptions.
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

class HttpSession;

// Answers one request. May throw: that is a 500.
using Route = std::function<asio::awaitable<Response>(const Request&)>;

// What the connections of a server share: it lives as long as the last of them, which may end with the io_context.
struct HttpShared {
  HttpOptions options;
  Route route;
  std::atomic<bool> is_draining{false};
  std::atomic<size_t> n_connections{0};
  std::atomic<uint64_t> body_bytes{0};
  std::mutex mutex;  // of what follows
  std::map<const HttpSession*, std::weak_ptr<HttpSession>> sessions;
};

// Its connections run on the io_context's threads, each on one at a time. Any thread.
class HttpServer {
 public:
  // The io_context outlives it.
  HttpServer(asio::io_context& context, HttpOptions options, Route route)
      : context_(context), shared_(std::make_shared<HttpShared>()), acceptor_(asio::make_strand(context)) {
    shared_->options = options;
    shared_->route = std::move(route);
  }

  // Port 0: any that is free.
  Outcome<void> Listen(const std::string& host, uint16_t port);
  uint16_t port() const { return port_; }

  // Accepts nothing more and closes what rests. Connections that are answering a request do so, and then close.
  void Drain();
  size_t connections() const { return shared_->n_connections.load(std::memory_order_relaxed); }

 private:
  asio::awaitable<void> Accept();
  void Begin(asio::ip::tcp::socket socket);

  asio::io_context& context_;
  const std::shared_ptr<HttpShared> shared_;
  asio::ip::tcp::acceptor acceptor_;
  uint16_t port_ = 0;
};

}  // namespace wasinn::serve
