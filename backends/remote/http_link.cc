#include "remote/http_link.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <iterator>

#include "remote/http_failures.h"

namespace wasinn::remote {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

std::string HeadOf(const std::string& endpoint, const std::string& path, std::optional<uint64_t> length,
                   std::initializer_list<const Headers*> headers) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\nhost: {}\r\nuser-agent: wasinn\r\naccept-encoding: identity\r\n",
                                 length ? "POST" : "GET", path, endpoint);
  const auto end = std::back_inserter(head);
  if (length) fmt::format_to(end, "content-length: {}\r\n", *length);
  for (const Headers* some : headers) {
    for (const auto& [name, value] : *some) fmt::format_to(end, "{}: {}\r\n", name, value);
  }
  return head + "\r\n";
}

void HttpLink::Close() {
  is_closed_ = true;
  lookup_.cancel();
  if (stream_ != nullptr) stream_->Close();
}

void HttpLink::SetDeadline(Clock::time_point time) {
  until_ = time;
  const bool needs_timer = time != Clock::time_point::max() && (!is_armed_ || time < timer_.expiry());
  if (needs_timer) Arm();
}

// Not reset for each operation: when the timer ends, it compares the current deadline.
void HttpLink::Arm() {
  is_armed_ = true;
  timer_.expires_at(until_);
  timer_.async_wait([weak = weak_from_this()](const error_code& error) {
    const std::shared_ptr<HttpLink> self = weak.lock();
    if (error || self == nullptr) return;
    self->is_armed_ = false;
    if (Clock::now() < self->until_) return self->SetDeadline(self->until_);
    self->is_late_ = true;
    self->Close();
  });
}

// A lookup cannot be interrupted, so this waits for a timer instead.
asio::awaitable<error_code> HttpLink::Resolve(const HostAndPort& server) {
  error_code no_address;
  const asio::ip::address address = asio::ip::make_address(server.host, no_address);
  if (!no_address) {
    uint16_t port = 0;
    std::from_chars(server.port.data(), server.port.data() + server.port.size(), port);
    addresses_.emplace_back(address, port);
    co_return error_code();
  }
  tcp::resolver resolver(lookup_.get_executor());
  lookup_.expires_at(Clock::time_point::max());
  resolver.async_resolve(
      server.host, server.port, tcp::resolver::numeric_service,
      [self = shared_from_this()](const error_code& error, const tcp::resolver::results_type& found) {
        self->looked_up_ = error;
        for (const auto& one : found) self->addresses_.push_back(one.endpoint());
        self->lookup_.cancel();
      });
  co_await lookup_.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return looked_up_.value_or(asio::error::operation_aborted);
}

asio::awaitable<std::string> HttpLink::Connect(const HostAndPort& server, const std::string& name,
                                               std::chrono::milliseconds longest) {
  SetDeadline(Clock::now() + longest);
  error_code error = co_await Resolve(server);
  if (!error && !is_closed_) error = co_await stream_->Connect(addresses_, name);
  if (is_late_) co_return fmt::format("failed to connect within {} ms", longest.count());
  if (is_closed_) error = asio::error::operation_aborted;
  if (!error) co_return "";
  co_return WordsOfConnect(error, stream_->verify_result(), name);
}

}  // namespace wasinn::remote
