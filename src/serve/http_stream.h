// A connection of TCP, with TLS or without, as Boost.Beast's algorithms have streams.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include "serve/tls.h"

namespace wasinn::serve {

class HttpStream {
 public:
  using Tcp = boost::beast::tcp_stream;
  using executor_type = Tcp::executor_type;  // NOLINT(readability-identifier-naming)
  using Done = void(boost::beast::error_code, size_t);

  // NULL: no TLS.
  HttpStream(boost::asio::ip::tcp::socket socket, std::shared_ptr<Certificates> certificates)
      : certificates_(std::move(certificates)), stream_(std::in_place_type<Tcp>, std::move(socket)) {
    if (certificates_ == nullptr) return;
    Tcp tcp = std::move(std::get<Tcp>(stream_));
    stream_.emplace<Secure>(std::move(tcp), certificates_->context);
  }

  bool is_secure() const { return std::holds_alternative<Secure>(stream_); }
  // What is below. Its deadlines and its cancel are those of all that goes over it.
  Tcp& tcp() { return is_secure() ? std::get<Secure>(stream_).next_layer() : std::get<Tcp>(stream_); }
  executor_type get_executor() { return tcp().get_executor(); }  // NOLINT(readability-identifier-naming)

  // False: there is none, and nothing more to say. At once where there is no TLS.
  boost::asio::awaitable<bool> Handshake(std::chrono::milliseconds longest);
  // Says that nothing more comes, and does not wait for an answer. What comes by then lies below, and is no plain text where there is TLS.
  boost::asio::awaitable<void> EndWriting(std::chrono::milliseconds longest);

  // NOLINTNEXTLINE(readability-identifier-naming)
  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, Done>(
        [this](auto done, const Buffers& into) {
          if (auto* const tcp = std::get_if<Tcp>(&stream_)) return tcp->async_read_some(into, std::move(done));
          std::get<Secure>(stream_).async_read_some(into, std::move(done));
        },
        token, buffers);
  }
  // NOLINTNEXTLINE(readability-identifier-naming)
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, Done>(
        [this](auto done, const Buffers& from) {
          if (auto* const tcp = std::get_if<Tcp>(&stream_)) return tcp->async_write_some(from, std::move(done));
          std::get<Secure>(stream_).async_write_some(from, std::move(done));
        },
        token, buffers);
  }

 private:
  using Secure = boost::beast::ssl_stream<Tcp>;  // which makes one record of small buffers

  const std::shared_ptr<Certificates> certificates_;
  std::variant<Tcp, Secure> stream_;
};

}  // namespace wasinn::serve
