// A body that comes piece by piece, with an unknown length.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace wasinn::serve {

// Called on the request's own thread.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // The next piece; "": the end; no value: it is broken off, and so is the response.
  virtual boost::asio::awaitable<std::optional<std::string>> Next() = 0;
  // Called once, after the writing ended in any way. Afterwards nothing of the request is in use.
  virtual boost::asio::awaitable<void> End() = 0;
};

}  // namespace wasinn::serve
