// The HTTP connections to one server.
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

// Used on the loop's thread only, except for its construction.
class HttpPool : public std::enable_shared_from_this<HttpPool> {
 public:
  // Throws if certificates are invalid.
  HttpPool(boost::asio::io_context& context, const std::string& endpoint, const ConnectionConfig& config);

  // A request's place among all connections, from Enter to Leave.
  struct Place {
    Place(boost::asio::io_context& context, bool of_check) : is_check(of_check), woken(context) {}

    const bool is_check;
    bool is_counted = false;
    std::unique_ptr<HttpStream> stream;  // NULL: not yet made, or gone
    boost::asio::steady_timer woken;     // a cancel ends the wait, even without a place
  };
  // Gets an idle connection, one that another request releases, or room for a new one. At the limit it waits for one. A
  // check does not wait, and may use one more connection: a busy server is not unhealthy.
  boost::asio::awaitable<void> Enter(Place& place);
  // Closes a connection with unexpected bytes. Does not throw, because the end of an exchange depends on it.
  void Leave(Place& place);
  // Closes idle connections, now and in future.
  void Close();

  boost::asio::io_context& context() { return context_; }
  boost::asio::ssl::context* tls() { return tls_ ? &*tls_ : nullptr; }
  const HostAndPort& server() const { return server_; }
  const std::string& name() const { return name_; }  // the name that its certificate must have
  std::chrono::milliseconds connect_timeout() const { return connect_timeout_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Idle {
    std::unique_ptr<HttpStream> stream;
    Clock::time_point until;
  };

  void KeepIdle(std::unique_ptr<HttpStream> stream);
  void Sweep();

  boost::asio::io_context& context_;
  std::optional<boost::asio::ssl::context> tls_;
  const HostAndPort server_;
  const std::string name_;
  const std::chrono::milliseconds connect_timeout_;
  const size_t most_;
  std::list<Place*> waiting_;
  std::deque<Idle> idle_;  // the most recently used at the back
  size_t open_ = 0;        // including idle connections and those about to be made
  boost::asio::steady_timer sweep_;
  bool is_closed_ = false;
};

}  // namespace wasinn::remote
