#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "bench/serve/load.h"

namespace wasinn::bench {
namespace {

std::system_error Error(const char* what) { return {errno, std::generic_category(), what}; }

}  // namespace

Connection::Connection(uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) throw Error("connect");
  const int on = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void Connection::Write(const void* bytes, size_t size) const {
  const auto* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::send(descriptor_, next, size, MSG_NOSIGNAL);
    if (written < 0) throw Error("send");
    next += written;
    size -= static_cast<size_t>(written);
  }
}

size_t Connection::ReadSome(void* bytes, size_t room) const {
  const ssize_t n = ::recv(descriptor_, bytes, room, MSG_DONTWAIT);
  if (n > 0) return static_cast<size_t>(n);
  if (n < 0 && errno == EAGAIN) return 0;
  if (n < 0) throw Error("recv");
  throw std::runtime_error("the server has hung up");
}

}  // namespace wasinn::bench
