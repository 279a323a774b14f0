// A connection of HTTP/1.1 to a server, with TLS or without.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/system/error_code.hpp>

#include "remote/config.h"

namespace wasinn::remote {

// "[::1]:80", split: the host has no brackets.
struct HostAndPort {
  explicit HostAndPort(const std::string& endpoint);
  std::string host, port;
};

// For connections with TLS. Throws WASINN_ERROR_INVALID_ARGUMENT if certificates are invalid.
boost::asio::ssl::context MakeClientTls(const ConnectionConfig& config);

// Used by one thread at a time. Each operation ends on the executor of the coroutine that awaits it.
class HttpStream {
 public:
  using Addresses = std::vector<boost::asio::ip::tcp::endpoint>;
  // The result of an operation, and its number of bytes.
  struct Ended {
    boost::system::error_code error;
    size_t bytes = 0;
  };

  // `tls` may be NULL.
  HttpStream(const boost::asio::any_io_executor& executor, boost::asio::ssl::context* tls);

  // `name`: the name that the certificate must have.
  boost::asio::awaitable<boost::system::error_code> Connect(const Addresses& addresses, const std::string& name);
  boost::asio::awaitable<Ended> Write(const std::vector<boost::asio::const_buffer>& buffers);
  using Parser = boost::beast::http::basic_parser<false>;
  // Read the whole answer, its head, or some of it, into the parser.
  boost::asio::awaitable<boost::system::error_code> Read(Parser& parser);
  boost::asio::awaitable<boost::system::error_code> ReadHead(Parser& parser);
  boost::asio::awaitable<boost::system::error_code> ReadSome(Parser& parser);
  // Ends the current operation with an error.
  void Close();
  // Whether another request may be sent: the server has neither closed the connection nor sent unexpected bytes.
  bool IsReusable();
  bool is_secure() const { return std::holds_alternative<Secure>(stream_); }
  // Whether an answer has come before. If not, the server may not be what the address says.
  bool has_answered() const { return has_answered_; }
  // OpenSSL's result for the server's certificate: X509_V_OK if it is valid.
  int64_t verify_result();
  // Whether bytes of an answer are left that no parser has read.
  bool has_more() const { return buffer_.size() > 0; }

 private:
  using Plain = boost::asio::ip::tcp::socket;
  using Secure = boost::asio::ssl::stream<Plain>;

  Plain& socket();
  template <typename Operation>
  boost::asio::awaitable<boost::system::error_code> ReadBy(Operation read);
  boost::asio::awaitable<boost::system::error_code> Handshake(const std::string& name);
  bool HasReadAllRecords();

  std::variant<Plain, Secure> stream_;
  boost::beast::flat_buffer buffer_;
  bool has_answered_ = false;
};

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

// An HTTP connection that one request uses, and its time limits. Used on one strand.
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
