// An HTTP connection that one request uses, and its time limits.
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

// A failed connect. `verify_result` is OpenSSL's, of a certificate that should be for `name`.
std::string WordsOfConnect(const boost::system::error_code& error, int64_t verify_result, const std::string& name);

// A failed exchange on an established connection.
struct FailedExchange {
  boost::system::error_code error;
  bool is_secure = false;
  bool has_answered = false;  // earlier, on the same connection
};
// Whether the server sent bytes that are not HTTP.
bool IsNoHttp(const boost::system::error_code& error);
std::string WordsOfExchange(const FailedExchange& failed);

// Everything before a request's body; no `length`: no body. Names and values come from an address, the configuration
// and this library, and have been checked.
std::string HeadOf(const std::string& endpoint, const std::string& path, std::optional<uint64_t> length,
                   std::initializer_list<const Headers*> headers);

// Used on one strand.
class HttpLink : public std::enable_shared_from_this<HttpLink> {
 public:
  using Clock = std::chrono::steady_clock;

  HttpLink(const boost::asio::any_io_executor& strand, std::unique_ptr<HttpStream> stream)
      : stream_(std::move(stream)), timer_(strand), lookup_(strand) {}

  HttpStream& stream() { return *stream_; }
  // The caller owns the connection from here on.
  std::unique_ptr<HttpStream> Take() { return std::move(stream_); }
  // Returns why there is no connection, or "". `name`: the name that the certificate must have.
  boost::asio::awaitable<std::string> Connect(const HostAndPort& server, const std::string& name,
                                              std::chrono::milliseconds longest);
  // Ends the current operation with an error.
  void Close();
  // Closes the connection at `time`, unless a later call changes it.
  void SetDeadline(Clock::time_point time);
  void ClearDeadline() { until_ = Clock::time_point::max(); }
  bool is_closed() const { return is_closed_; }
  // It was closed because its time was over.
  bool is_late() const { return is_late_; }

 private:
  void Arm();
  boost::asio::awaitable<boost::system::error_code> Resolve(const HostAndPort& server);

  std::unique_ptr<HttpStream> stream_;
  boost::asio::steady_timer timer_;
  Clock::time_point until_ = Clock::time_point::max();
  bool is_armed_ = false, is_late_ = false, is_closed_ = false;
  boost::asio::steady_timer lookup_;  // ends when a lookup is done or cancelled
  std::optional<boost::system::error_code> looked_up_;
  HttpStream::Addresses addresses_;
};

}  // namespace wasinn::remote
