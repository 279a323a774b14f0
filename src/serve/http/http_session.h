// One connection of a client: requests, one after the other.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>

#include <memory>
#include <optional>

#include "serve/http/http_server.h"
#include "serve/http/http_stream.h"
#include "serve/metrics/access_log.h"

namespace wasinn::serve {

// All functions except CloseAtRest run on the stream's strand.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  static std::shared_ptr<HttpSession> Make(std::shared_ptr<HttpShared> shared, asio::ip::tcp::socket socket);
  ~HttpSession();

  static asio::awaitable<void> Run(std::shared_ptr<HttpSession> self);
  auto executor() { return stream_.get_executor(); }
  // Closes it if it is idle. Thread-safe.
  void CloseAtRest();

 private:
  HttpSession(std::shared_ptr<HttpShared> shared, asio::ip::tcp::socket socket)
      : shared_(std::move(shared)),
        stream_(std::move(socket), shared_->options.tls == nullptr ? nullptr : shared_->options.tls->current()),
        watch_timer_(stream_.get_executor()) {
    shared_->n_connections.fetch_add(1, std::memory_order_relaxed);
  }

  using Parser = http::request_parser<RequestBody>;

  // Returns whether another request may follow.
  asio::awaitable<bool> Serve();
  // A response if the request is refused; no value if the client has disconnected, or the whole request has come.
  asio::awaitable<std::optional<Response>> Read(Parser& parser);
  asio::awaitable<boost::beast::error_code> ReadBody(Parser& parser);
  Response ReadFailure(boost::beast::error_code error);
  asio::awaitable<Response> Answer(Exchange& exchange);
  // `header` is the request's. Returns whether everything was written.
  asio::awaitable<bool> Write(const Header& header, Response response, bool keep_alive);
  void Shape(const Header& header, Response& response) const;
  asio::awaitable<void> Discard();
  Ends FindEnds();
  // Counts it, and writes it to the access log, if there is one.
  void Log(const Header& header, About about, std::optional<http::status> status, bool is_complete,
           const Generation* generation = nullptr) noexcept;
  std::shared_ptr<Cancellation> Watch();
  void LookWhetherGone();
  void StopWatching();

  const std::shared_ptr<HttpShared> shared_;
  HttpStream stream_;
  // For whole headers, chunk extensions and trailers, and for pieces of bodies. It stays, and is not charged.
  boost::beast::flat_buffer buffer_{shared_->options.max_header_bytes};
  Admission admission_;  // of the current request
  uint64_t most_body_ = 0;
  bool is_gone_ = false;
  bool rests_ = true;
  bool is_broken_ = false;                       // the end of an answer would be the connection's
  std::chrono::steady_clock::time_point begun_;  // when the request's header had come
  uint64_t bytes_in_ = 0, bytes_out_ = 0;        // of the request, and of its response
  asio::steady_timer watch_timer_;
  std::shared_ptr<Cancellation> watched_;  // for the request that is being answered, once that takes long
};

}  // namespace wasinn::serve
