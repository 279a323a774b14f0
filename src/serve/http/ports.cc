#include "serve/http/ports.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <exception>
#include <utility>

#include "serve/log.h"

namespace wasinn::serve {
namespace {

constexpr size_t kMaxPorts = 3;
constexpr int kMaxAtOnce = 64;  // before other ports get their turn

}  // namespace

asio::ip::address ParseAddress(const std::string& host) {
  boost::system::error_code error;
  asio::ip::address address = asio::ip::make_address(host, error);
  if (error) ThrowInvalid("'{}' is not an address to listen on, such as 127.0.0.1 or ::1", host);
  return address;
}

std::string AddressText(const std::string& host, uint16_t port) {
  const bool has_colons = host.find(':') != host.npos;
  return (has_colons ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

uint16_t Ports::Open(const std::string& host, uint16_t number, Take take) {
  boost::system::error_code error;
  const asio::ip::tcp::endpoint endpoint(ParseAddress(host), number);
  asio::ip::tcp::acceptor acceptor(context_);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.non_blocking(true, error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) Throw(WASINN_ERROR_RUNTIME, "cannot listen on {}: {}", AddressText(host, number), error.message());
  const uint16_t port = acceptor.local_endpoint().port();
  open_.push_back({std::move(acceptor), std::move(take)});
  return port;
}

bool Ports::Accept(std::chrono::milliseconds longest, int also) {
  std::array<pollfd, kMaxPorts + 1> polled = {{{also, POLLIN, 0}}};
  nfds_t n = 1;
  for (Port& port : open_) {
    if (n < polled.size() && !is_short_) polled[n++] = {port.acceptor.native_handle(), POLLIN, 0};
  }
  is_short_ = false;
  if (::poll(polled.data(), n, static_cast<int>(longest.count())) <= 0) return false;
  nfds_t next = 1;
  for (Port& port : open_) {
    if (next == n) break;
    if (polled[next].revents != 0) AcceptAt(port);
    ++next;
  }
  return polled[0].revents != 0;
}

void Ports::AcceptAt(Port& port) {
  for (int i = 0; i < kMaxAtOnce; ++i) {
    const int accepted = ::accept4(port.acceptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted < 0) {
      is_short_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      return;
    }
    const int on = 1;
    ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    try {
      port.take(accepted);
    } catch (const std::exception& error) {
      LogError(error.what());
    }
  }
}

}  // namespace wasinn::serve
