// The connections of HTTP to one server.
#pragma once

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

inline constexpr char kNoMemory[] = "no memory";  // so short a text takes none

// Who wants a connection. It is told once, within Take or later.
class HttpTaker {
 public:
  virtual ~HttpTaker() = default;
  virtual void OnStream(std::unique_ptr<HttpStream> stream) = 0;
  virtual void OnNoStream(const std::string& why) = 0;
};

// On the loop's thread alone, but for its making.
class HttpPool : public std::enable_shared_from_this<HttpPool> {
 public:
  // Throws for certificates that are none.
  HttpPool(boost::asio::io_context& context, const std::string& endpoint, const ConnectionConfig& config);

  // One that rests, or a new one, or the next that is free, where there are as many as may be. A check is before all
  // calls, and may have one more than these: a server with many calls is not ill.
  void Take(std::shared_ptr<HttpTaker> taker, bool is_check);
  // It does not want one any more.
  void Forget(HttpTaker& taker);
  // NULL: it is gone. One on which more came than was asked for goes, too. Throws nothing, for an end depends on it.
  void GiveBack(std::unique_ptr<HttpStream> stream);
  // Those that rest go, and none rest from now on.
  void Close();

  boost::asio::io_context& context() { return context_; }

 private:
  friend class HttpDial;
  using Clock = std::chrono::steady_clock;
  struct Resting {
    std::unique_ptr<HttpStream> stream;
    Clock::time_point until;
  };

  using Takers = std::list<std::shared_ptr<HttpTaker>>;

  std::shared_ptr<HttpTaker> Next();
  static std::shared_ptr<HttpTaker> FirstOf(Takers& some);
  bool NeedsAnother() const;
  void DialForThoseWhoWait();
  bool Dial();
  void OnDialed(std::unique_ptr<HttpStream> stream, const std::string& why);
  void Pass(std::unique_ptr<HttpStream> stream);
  void Rest(std::unique_ptr<HttpStream> stream);
  void Sweep();

  boost::asio::io_context& context_;
  std::optional<boost::asio::ssl::context> tls_;
  const std::string host_, port_, name_;
  const std::chrono::milliseconds connect_timeout_;
  const size_t most_;
  Takers checks_, calls_;          // that wait
  std::deque<Resting> resting_;    // the last used one last
  size_t open_ = 0, dialing_ = 0;  // `open_`: with those that are being made
  boost::asio::steady_timer sweep_;
  bool is_closed_ = false;
};

}  // namespace wasinn::remote
