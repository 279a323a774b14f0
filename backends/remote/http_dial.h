// The making of a connection of HTTP.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "remote/http_pool.h"
#include "remote/http_stream.h"

namespace wasinn::remote {

// On the loop's thread alone. The pool is told once, when it is made or its time is over: a name that is being looked up
// cannot be interrupted.
class HttpDial : public std::enable_shared_from_this<HttpDial> {
 public:
  explicit HttpDial(std::shared_ptr<HttpPool> pool);
  // If it throws for want of memory, it tells nothing.
  void Begin();

 private:
  boost::asio::awaitable<boost::system::error_code> Run();
  boost::asio::awaitable<boost::system::error_code> Resolve(HttpStream::Addresses* addresses);
  std::string WhyNot(const boost::system::error_code& error) const;
  void Tell(const std::string& why);
  void TellWhy(const std::function<std::string()>& words);

  const std::shared_ptr<HttpPool> pool_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::steady_timer timer_;
  std::unique_ptr<HttpStream> stream_;
  bool is_told_ = false;
};

}  // namespace wasinn::remote
