#include "serve/http/http_stream.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace wasinn::serve {
namespace {

constexpr auto kAwaitStream = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace

boost::asio::awaitable<bool> HttpStream::Handshake(std::chrono::milliseconds longest) {
  auto* const secure = std::get_if<Secure>(&stream_);
  if (secure == nullptr) co_return true;
  tcp().expires_after(longest);
  const auto [error] = co_await secure->async_handshake(boost::asio::ssl::stream_base::server, kAwaitStream);
  co_return !error;
}

void HttpStream::ReadSome(const BuffersOf<boost::asio::mutable_buffer>& into, Handler done) {
  if (auto* const tcp = std::get_if<Tcp>(&stream_)) return tcp->async_read_some(into, std::move(done));
  std::get<Secure>(stream_).async_read_some(into, std::move(done));
}

void HttpStream::WriteSome(const BuffersOf<boost::asio::const_buffer>& from, Handler done) {
  if (auto* const tcp = std::get_if<Tcp>(&stream_)) return tcp->async_write_some(from, std::move(done));
  std::get<Secure>(stream_).async_write_some(from, std::move(done));
}

void HttpStream::SetBroken() {
  boost::system::error_code ignored;
  tcp().socket().set_option(boost::asio::socket_base::linger(true, 0), ignored);
}

boost::asio::awaitable<void> HttpStream::EndWriting(std::chrono::milliseconds longest) {
  if (auto* const secure = std::get_if<Secure>(&stream_)) {
    ::SSL_set_shutdown(secure->native_handle(), SSL_RECEIVED_SHUTDOWN);  // else it waits for the other side's end
    tcp().expires_after(longest);
    co_await secure->async_shutdown(kAwaitStream);
  }
  boost::system::error_code ignored;
  tcp().socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
}

}  // namespace wasinn::serve
