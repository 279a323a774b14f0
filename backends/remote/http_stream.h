// A connection of HTTP/1.1 to a server, with TLS or without.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace wasinn::remote {

struct ConnectionConfig;

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

}  // namespace wasinn::remote
