// The connections of HTTP to one server.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "remote/config.h"
#include "remote/http_stream.h"

namespace wasinn::remote {

// On the loop's thread alone, but for its making.
class HttpPool : public std::enable_shared_from_this<HttpPool> {
 public:
  // Throws for certificates that are none.
  HttpPool(boost::asio::io_context& context, const std::string& endpoint, const ConnectionConfig& config);

  // That a request has among all connections, from Enter to Leave.
  struct Place {
    Place(boost::asio::io_context& context, bool of_check) : is_check(of_check), woken(context) {}

    const bool is_check;
    bool is_counted = false;
    std::unique_ptr<HttpStream> stream;  // NULL: it is to be made, or has gone
    boost::asio::steady_timer woken;     // a cancel ends the wait, also without a place
  };
  // With a connection that rests, or was another's, or room for a new one. If there are as many as may be, it waits until one is free. A
  // check does not wait, and has one more than these: a server with many calls is not ill.
  boost::asio::awaitable<void> Enter(Place& place);
  // A connection on which more came than was asked for goes. Throws nothing, for an end depends on it.
  void Leave(Place& place);
  // Those that rest go, and none rest from now on.
  void Close();

  boost::asio::io_context& context() { return context_; }
  boost::asio::ssl::context* tls() { return tls_ ? &*tls_ : nullptr; }
  const HostAndPort& server() const { return server_; }
  const std::string& name() const { return name_; }  // that its certificate must have
  std::chrono::milliseconds connect_timeout() const { return connect_timeout_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Resting {
    std::unique_ptr<HttpStream> stream;
    Clock::time_point until;
  };

  void Rest(std::unique_ptr<HttpStream> stream);
  void Sweep();

  boost::asio::io_context& context_;
  std::optional<boost::asio::ssl::context> tls_;
  const HostAndPort server_;
  const std::string name_;
  const std::chrono::milliseconds connect_timeout_;
  const size_t most_;
  std::list<Place*> waiting_;
  std::deque<Resting> resting_;  // the last used one last
  size_t open_ = 0;              // with those that rest, and those that are to be made
  boost::asio::steady_timer sweep_;
  bool is_closed_ = false;
};

}  // namespace wasinn::remote
