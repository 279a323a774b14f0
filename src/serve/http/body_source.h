// A body that comes piece by piece, whose end nobody knows before.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace wasinn::serve {

// On the request's own thread.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // The next piece; "": that was all; nothing: it is broken off, and so is what carries it.
  virtual boost::asio::awaitable<std::optional<std::string>> Next() = 0;
  // Once, however the writing ended. Afterwards nothing of the request is in use.
  virtual boost::asio::awaitable<void> End() = 0;
};

}  // namespace wasinn::serve
