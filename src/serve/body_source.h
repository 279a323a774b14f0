// A body that comes piece by piece, whose end nobody knows before.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <string>

namespace wasinn::serve {

// On the request's own thread.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // The next piece; "": that was all.
  virtual boost::asio::awaitable<std::string> Next() = 0;
  // Once, however the writing ended. Afterwards nothing of the request is in use.
  virtual boost::asio::awaitable<void> End() = 0;
};

}  // namespace wasinn::serve
