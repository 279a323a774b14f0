// A connection of TCP, with TLS or without, as a stream for Boost.Beast.
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/container/static_vector.hpp>

#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include "serve/http/tls.h"

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
  // The lower layer. Its deadlines and its cancel apply to everything above it.
  Tcp& tcp() { return is_secure() ? std::get<Secure>(stream_).next_layer() : std::get<Tcp>(stream_); }
  executor_type get_executor() { return tcp().get_executor(); }  // NOLINT(readability-identifier-naming)

  // False: it failed, and nothing can be sent. Returns at once without TLS.
  boost::asio::awaitable<bool> Handshake(std::chrono::milliseconds longest);
  // Sends the end, and does not wait for an answer. Bytes that come by then stay below, encrypted with TLS.
  boost::asio::awaitable<void> EndWriting(std::chrono::milliseconds longest);
  // The destructor then gives the other side an error instead of an end. Not after EndWriting.
  void SetBroken();

  // Beast's handlers have many types. The lower layer sees one type, because each costs seconds to compile with TLS.
  // NOLINTNEXTLINE(readability-identifier-naming)
  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, Done>(
        [this](auto done, const Buffers& into) {
          ReadSome(FirstOf<boost::asio::mutable_buffer>(into), Erased(std::move(done)));
        },
        token, buffers);
  }
  // NOLINTNEXTLINE(readability-identifier-naming)
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, Done>(
        [this](auto done, const Buffers& from) {
          WriteSome(FirstOf<boost::asio::const_buffer>(from), Erased(std::move(done)));
        },
        token, buffers);
  }

 private:
  using Secure = boost::beast::ssl_stream<Tcp>;  // combines small buffers into one record
  using Handler = boost::asio::executor_binder<boost::asio::any_completion_handler<Done>, boost::asio::any_io_executor>;
  template <typename Buffer>
  using BuffersOf = boost::container::static_vector<Buffer, 16>;

  // As many as one operation takes: it may do less than requested.
  template <typename Buffer, typename Buffers>
  static BuffersOf<Buffer> FirstOf(const Buffers& buffers) {
    BuffersOf<Buffer> first;
    for (auto at = boost::asio::buffer_sequence_begin(buffers); at != boost::asio::buffer_sequence_end(buffers); ++at) {
      if (first.size() == first.capacity()) break;
      const Buffer buffer = *at;
      if (buffer.size() > 0) first.push_back(buffer);
    }
    return first;
  }
  template <typename Awaiting>
  Handler Erased(Awaiting done) {
    const boost::asio::any_io_executor executor = boost::asio::get_associated_executor(done, get_executor());
    return boost::asio::bind_executor(executor, boost::asio::any_completion_handler<Done>(std::move(done)));
  }
  void ReadSome(const BuffersOf<boost::asio::mutable_buffer>& into, Handler done);
  void WriteSome(const BuffersOf<boost::asio::const_buffer>& from, Handler done);

  const std::shared_ptr<Certificates> certificates_;
  std::variant<Tcp, Secure> stream_;
};

}  // namespace wasinn::serve
