// The ports of a server, on all of which one thread accepts connections.
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

// Of numbers; names of hosts are none.
Outcome<asio::ip::address> ParseAddress(const std::string& host);
// "127.0.0.1:8000", "[::1]:8000".
std::string AddressText(const std::string& host, uint16_t port);

// One thread at a time. To accept needs no memory, so that a moment without any costs a connection, and not all that follow.
class Ports {
 public:
  // The descriptor of a connection, which does not block and is the callee's. May throw.
  using Take = std::function<void(int descriptor)>;

  explicit Ports(asio::io_context& context) : context_(context) {}

  // Number 0: any that is free. The number that it has.
  Outcome<uint16_t> Open(const std::string& host, uint16_t number, Take take);
  void Close() { open_.clear(); }

  // Waits for connections, no longer than so long, and has them taken. True: `also` can be read.
  bool Accept(std::chrono::milliseconds longest, int also);

 private:
  struct Port {
    asio::ip::tcp::acceptor acceptor;
    Take take;
  };
  void AcceptAt(Port& port);

  asio::io_context& context_;
  std::list<Port> open_;
  bool is_short_ = false;  // of descriptors or memory: until the next time nothing is accepted
};

}  // namespace wasinn::serve
