// One connection of a client: requests, one after the other.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>

#include <memory>
#include <optional>

#include "serve/http_server.h"

namespace wasinn::serve {

// All but Close runs on the stream's strand.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  static std::shared_ptr<HttpSession> Make(std::shared_ptr<HttpShared> shared, asio::ip::tcp::socket socket);
  ~HttpSession();

  static asio::awaitable<void> Run(std::shared_ptr<HttpSession> self);
  auto executor() { return stream_.get_executor(); }
  // If it rests. Any thread.
  void CloseAtRest();

 private:
  HttpSession(std::shared_ptr<HttpShared> shared, asio::ip::tcp::socket socket)
      : shared_(std::move(shared)), stream_(std::move(socket)) {
    shared_->n_connections.fetch_add(1, std::memory_order_relaxed);
  }

  using Parser = http::request_parser<http::string_body>;

  // Whether another request may follow.
  asio::awaitable<bool> Serve();
  // A response where the request is none, or too much; nothing where the client is gone, or all has come.
  asio::awaitable<std::optional<Response>> Read(Parser& parser, BodyCharge& charge);
  asio::awaitable<bool> Continue(Parser& parser);
  asio::awaitable<Response> Answer(const Request& request);
  asio::awaitable<bool> Write(const Request& request, Response response, bool keep_alive);
  void ExpireAfter(uint64_t bytes);

  const std::shared_ptr<HttpShared> shared_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  bool is_gone_ = false;
  bool rests_ = true;
};

}  // namespace wasinn::serve
