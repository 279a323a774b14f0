// A connection of HTTP in the hands of one request, and how long that may take.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "remote/config.h"
#include "remote/http_stream.h"

namespace wasinn::remote {

// All before a request's body, whose `length` is nothing if there is none. Names and values are an address's, the configuration's and our
// own, which have been checked.
std::string HeadOf(const std::string& endpoint, const std::string& path, std::optional<uint64_t> length,
                   std::initializer_list<const Headers*> headers);

// On one strand.
class HttpLink : public std::enable_shared_from_this<HttpLink> {
 public:
  using Clock = std::chrono::steady_clock;

  HttpLink(const boost::asio::any_io_executor& strand, std::unique_ptr<HttpStream> stream)
      : stream_(std::move(stream)), timer_(strand), lookup_(strand) {}

  HttpStream& stream() { return *stream_; }
  // It is another's from here on.
  std::unique_ptr<HttpStream> Take() { return std::move(stream_); }
  // Why there is no connection; "": there is one. `name`: that a certificate must have.
  boost::asio::awaitable<std::string> Connect(const HostAndPort& server, const std::string& name,
                                              std::chrono::milliseconds longest);
  // What is under way ends, with an error.
  void Close();
  // It is closed then, unless another time is told before.
  void Until(Clock::time_point time);
  void UntilClosed() { until_ = Clock::time_point::max(); }
  bool is_closed() const { return is_closed_; }
  // It was closed since its time was over.
  bool is_late() const { return is_late_; }

 private:
  void Arm();
  boost::asio::awaitable<boost::system::error_code> Resolve(const HostAndPort& server);

  std::unique_ptr<HttpStream> stream_;
  boost::asio::steady_timer timer_;
  Clock::time_point until_ = Clock::time_point::max();
  bool is_armed_ = false, is_late_ = false, is_closed_ = false;
  boost::asio::steady_timer lookup_;  // ends when a name has been looked up, or nobody waits for it any more
  std::optional<boost::system::error_code> looked_up_;
  HttpStream::Addresses addresses_;
};

}  // namespace wasinn::remote
