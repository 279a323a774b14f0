#include "backends/scripted_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace wasinn::testing {

std::string ScriptedConnection::Read() {
  char bytes[4096];
  for (;;) {
    if (const size_t head = rest_.find("\r\n\r\n"); head != rest_.npos) {
      const size_t header = rest_.find("content-length: ");
      const size_t length = header < head ? std::strtoul(rest_.c_str() + header + 16, nullptr, 10) : 0;
      if (rest_.size() >= head + 4 + length) {
        std::string request = rest_.substr(0, head + 4 + length);
        rest_.erase(0, request.size());
        return request;
      }
    }
    const ssize_t n = ::recv(descriptor_, bytes, sizeof bytes, 0);
    if (n <= 0) return "";
    rest_.append(bytes, static_cast<size_t>(n));
  }
}

bool ScriptedConnection::Write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t n = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

void ScriptedConnection::AwaitEnd() const {
  char bytes[4096];
  while (::recv(descriptor_, bytes, sizeof bytes, 0) > 0) {
  }
}

void ScriptedConnection::Reset() const {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

ScriptedServer::ScriptedServer(Script script) : script_(std::move(script)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, any, size) != 0 || ::listen(listener_, 1024) != 0 ||
      ::getsockname(listener_, any, &size) != 0) {
    throw std::runtime_error("no socket to listen at");
  }
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { Accept(); });
}

ScriptedServer::~ScriptedServer() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    for (const int one : open_) ::shutdown(one, SHUT_RDWR);
  }
  ::shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  threads.swap(threads_);
  for (std::thread& one : threads) one.join();
  ::close(listener_);
}

size_t ScriptedServer::connections() const {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

size_t ScriptedServer::open() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

void ScriptedServer::Accept() {
  for (;;) {
    const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) return;
    const std::lock_guard lock(mutex_);
    if (is_ending_) {
      ::close(descriptor);
      continue;
    }
    open_.push_back(descriptor);
    threads_.emplace_back([this, descriptor] { Serve(descriptor); });
  }
}

void ScriptedServer::Serve(int descriptor) {
  ScriptedConnection connection(descriptor);
  script_(connection);
  const std::lock_guard lock(mutex_);
  std::erase(open_, descriptor);
  ::close(descriptor);
}

}  // namespace wasinn::testing
