// The ports of a server; one thread accepts connections on all of them.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>

#include "serve/oip/inference.h"

namespace wasinn::serve {

namespace asio = boost::asio;

// Parses numeric addresses, not host names.
asio::ip::address ParseAddress(const std::string& host);
// "127.0.0.1:8000", "[::1]:8000".
std::string AddressText(const std::string& host, uint16_t port);

// One thread at a time. Accepting allocates nothing, so a short lack of memory costs only one connection.
class Ports {
 public:
  // Gets the descriptor of a connection, which does not block, and owns it. May throw.
  using Take = std::function<void(int descriptor)>;

  explicit Ports(asio::io_context& context) : context_(context) {}

  // Number 0: any free one. Returns the number. Throws Failure.
  uint16_t Open(const std::string& host, uint16_t number, Take take);
  void Close() { open_.clear(); }

  // Waits for connections, at most `longest`, and passes them on. True: `also` is readable.
  bool Accept(std::chrono::milliseconds longest, int also);

 private:
  struct Port {
    asio::ip::tcp::acceptor acceptor;
    Take take;
  };
  void AcceptAt(Port& port);

  asio::io_context& context_;
  std::list<Port> open_;
  bool is_short_ = false;  // of descriptors or memory: accepts nothing until the next call
};

}  // namespace wasinn::serve
