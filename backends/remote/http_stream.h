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

// "[::1]:80", taken apart: an address has no brackets here.
struct HostAndPort {
  explicit HostAndPort(const std::string& endpoint);
  std::string host, port;
};

// Of connections with TLS. WASINN_ERROR_INVALID_ARGUMENT for certificates that are none.
boost::asio::ssl::context MakeClientTls(const ConnectionConfig& config);

// On one thread at a time. Each operation ends on the executor of the coroutine that waits for it.
class HttpStream {
 public:
  using Addresses = std::vector<boost::asio::ip::tcp::endpoint>;
  // How an operation ended, and after how many bytes.
  struct Ended {
    boost::system::error_code error;
    size_t bytes = 0;
  };

  // `tls`: NULL: none.
  HttpStream(const boost::asio::any_io_executor& executor, boost::asio::ssl::context* tls);

  // `name`: that a certificate must have.
  boost::asio::awaitable<boost::system::error_code> Connect(const Addresses& addresses, const std::string& name);
  boost::asio::awaitable<Ended> Write(const std::vector<boost::asio::const_buffer>& buffers);
  using Parser = boost::beast::http::basic_parser<false>;
  // The whole answer; its head; some of it. What the parser has is what came.
  boost::asio::awaitable<boost::system::error_code> Read(Parser& parser);
  boost::asio::awaitable<boost::system::error_code> ReadHead(Parser& parser);
  boost::asio::awaitable<boost::system::error_code> ReadSome(Parser& parser);
  // What is under way ends, with an error.
  void Close();
  // Whether another request may be sent: the server has neither ended it nor said more than it was asked.
  bool IsQuiet();
  bool is_secure() const { return std::holds_alternative<Secure>(stream_); }
  // Whether an answer has come before. If none has, the server may not be what the address says.
  bool has_answered() const { return has_answered_; }
  // What OpenSSL says of the server's certificate: X509_V_OK if nothing is wrong about it.
  int64_t verify_result();
  // Whether a byte of an answer has come that no parser has.
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
