#include "remote/http_stream.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/verify_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>

#include <cerrno>
#include <charconv>
#include <iterator>

#include "common/error.h"

namespace wasinn::remote {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// The limit of bytes that were read but are not yet part of a body: a piece of it, or a head.
constexpr size_t kMaxBuffered = 128 << 10;
// Beast fills the free space of its buffer, by default 512 bytes. The system backs only the memory that is used.
constexpr size_t kReadAtOnce = 64 << 10;

// Like Asio's verification, but distinguishes an untrusted chain from a wrong name.
class NamedCertificate {
 public:
  explicit NamedCertificate(const std::string& name) : is_for_(name) {}
  bool operator()(bool is_trusted, asio::ssl::verify_context& context) const {
    if (is_for_(is_trusted, context)) return true;
    if (is_trusted) X509_STORE_CTX_set_error(context.native_handle(), X509_V_ERR_HOSTNAME_MISMATCH);
    return false;
  }

 private:
  const asio::ssl::host_name_verification is_for_;
};

}  // namespace

HostAndPort::HostAndPort(const std::string& endpoint)
    : host(endpoint.substr(0, endpoint.rfind(':'))), port(endpoint.substr(endpoint.rfind(':') + 1)) {
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
}

asio::ssl::context MakeClientTls(const ConnectionConfig& config) {
  asio::ssl::context tls(asio::ssl::context::tls_client);
  const auto buffer = [](const std::string& text) { return asio::buffer(text.data(), text.size()); };
  try {
    tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                    asio::ssl::context::no_tlsv1_1);
    tls.set_verify_mode(asio::ssl::verify_peer);
    if (config.ca.empty()) {
      tls.set_default_verify_paths();
    } else {
      tls.add_certificate_authority(buffer(config.ca));
    }
    if (!config.certificate.empty()) {
      tls.use_certificate_chain(buffer(config.certificate));
      tls.use_private_key(buffer(config.key), asio::ssl::context::pem);
    }
  } catch (const boost::system::system_error& error) {
    throw backend::Error(WASINN_ERROR_INVALID_ARGUMENT, fmt::format("keys 'ca', 'cert' and 'key': {}", error.what()));
  }
  return tls;
}

HttpStream::HttpStream(const asio::any_io_executor& executor, asio::ssl::context* tls)
    : stream_(std::in_place_type<Plain>, executor), buffer_(kMaxBuffered) {
  buffer_.reserve(kReadAtOnce);
  if (tls != nullptr) stream_.emplace<Secure>(executor, *tls);
}

HttpStream::Plain& HttpStream::socket() {
  if (auto* const secure = std::get_if<Secure>(&stream_)) return secure->next_layer();
  return std::get<Plain>(stream_);
}

asio::awaitable<error_code> HttpStream::Connect(const Addresses& addresses, const std::string& name) {
  auto [error, address] = co_await asio::async_connect(socket(), addresses, kAwait);
  if (error) co_return error;
  error_code ignored;
  socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  if (is_secure()) co_return co_await Handshake(name);
  co_return error_code();
}

asio::awaitable<error_code> HttpStream::Handshake(const std::string& name) {
  auto& secure = std::get<Secure>(stream_);
  error_code no_address;
  asio::ip::make_address(name, no_address);
  if (no_address && SSL_set_tlsext_host_name(secure.native_handle(), name.c_str()) != 1) {
    co_return asio::error::no_memory;
  }
  error_code error;
  secure.set_verify_callback(NamedCertificate(name), error);
  if (error) co_return error;
  std::tie(error) = co_await secure.async_handshake(asio::ssl::stream_base::client, kAwait);
  co_return error;
}

int64_t HttpStream::verify_result() {
  auto* const secure = std::get_if<Secure>(&stream_);
  return secure == nullptr ? X509_V_OK : SSL_get_verify_result(secure->native_handle());
}

asio::awaitable<HttpStream::Ended> HttpStream::Write(const std::vector<asio::const_buffer>& buffers) {
  Ended ended;
  if (auto* const secure = std::get_if<Secure>(&stream_)) {
    std::tie(ended.error, ended.bytes) = co_await asio::async_write(*secure, buffers, kAwait);
  } else {
    std::tie(ended.error, ended.bytes) = co_await asio::async_write(std::get<Plain>(stream_), buffers, kAwait);
  }
  co_return ended;
}

template <typename Operation>
asio::awaitable<error_code> HttpStream::ReadBy(Operation read) {
  error_code error;
  size_t bytes = 0;
  if (auto* const secure = std::get_if<Secure>(&stream_)) {
    std::tie(error, bytes) = co_await read(*secure);
  } else {
    std::tie(error, bytes) = co_await read(std::get<Plain>(stream_));
  }
  has_answered_ = has_answered_ || !error;
  co_return error;
}

asio::awaitable<error_code> HttpStream::Read(Parser& parser) {
  return ReadBy([&](auto& stream) { return http::async_read(stream, buffer_, parser, kAwait); });
}

asio::awaitable<error_code> HttpStream::ReadHead(Parser& parser) {
  return ReadBy([&](auto& stream) { return http::async_read_header(stream, buffer_, parser, kAwait); });
}

asio::awaitable<error_code> HttpStream::ReadSome(Parser& parser) {
  return ReadBy([&](auto& stream) { return http::async_read_some(stream, buffer_, parser, kAwait); });
}

void HttpStream::Close() {
  error_code ignored;
  socket().close(ignored);
}

bool HttpStream::IsReusable() {
  char byte = 0;
  const bool has_none = buffer_.size() == 0 &&
                        ::recv(socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
                        (errno == EAGAIN || errno == EWOULDBLOCK);
  return has_none && (!is_secure() || HasReadAllRecords());
}

// TLS reads ahead and has buffers of its own: only a read sees all of them.
bool HttpStream::HasReadAllRecords() {
  char byte = 0;
  error_code error;
  if (!socket().non_blocking()) socket().non_blocking(true, error);
  if (error) return false;
  return std::get<Secure>(stream_).read_some(asio::buffer(&byte, 1), error) == 0 && error == asio::error::would_block;
}

std::string HeadOf(const std::string& endpoint, const std::string& path, std::optional<uint64_t> length,
                   std::initializer_list<const Headers*> headers) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\nhost: {}\r\nuser-agent: wasinn\r\naccept-encoding: identity\r\n",
                                 length ? "POST" : "GET", path, endpoint);
  const auto end = std::back_inserter(head);
  if (length) fmt::format_to(end, "content-length: {}\r\n", *length);
  for (const Headers* some : headers) {
    for (const auto& [name, value] : *some) fmt::format_to(end, "{}: {}\r\n", name, value);
  }
  return head + "\r\n";
}

void HttpLink::Close() {
  is_closed_ = true;
  lookup_.cancel();
  if (stream_ != nullptr) stream_->Close();
}

void HttpLink::SetDeadline(Clock::time_point time) {
  until_ = time;
  const bool needs_timer = time != Clock::time_point::max() && (!is_armed_ || time < timer_.expiry());
  if (needs_timer) Arm();
}

// Not reset for each operation: when the timer ends, it compares the current deadline.
void HttpLink::Arm() {
  is_armed_ = true;
  timer_.expires_at(until_);
  timer_.async_wait([weak = weak_from_this()](const error_code& error) {
    const std::shared_ptr<HttpLink> self = weak.lock();
    if (error || self == nullptr) return;
    self->is_armed_ = false;
    if (Clock::now() < self->until_) return self->SetDeadline(self->until_);
    self->is_late_ = true;
    self->Close();
  });
}

// A lookup cannot be interrupted, so this waits for a timer instead.
asio::awaitable<error_code> HttpLink::Resolve(const HostAndPort& server) {
  error_code no_address;
  const asio::ip::address address = asio::ip::make_address(server.host, no_address);
  if (!no_address) {
    uint16_t port = 0;
    std::from_chars(server.port.data(), server.port.data() + server.port.size(), port);
    addresses_.emplace_back(address, port);
    co_return error_code();
  }
  tcp::resolver resolver(lookup_.get_executor());
  lookup_.expires_at(Clock::time_point::max());
  resolver.async_resolve(
      server.host, server.port, tcp::resolver::numeric_service,
      [self = shared_from_this()](const error_code& error, const tcp::resolver::results_type& found) {
        self->looked_up_ = error;
        for (const auto& one : found) self->addresses_.push_back(one.endpoint());
        self->lookup_.cancel();
      });
  co_await lookup_.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return looked_up_.value_or(asio::error::operation_aborted);
}

asio::awaitable<std::string> HttpLink::Connect(const HostAndPort& server, const std::string& name,
                                               std::chrono::milliseconds longest) {
  SetDeadline(Clock::now() + longest);
  error_code error = co_await Resolve(server);
  if (!error && !is_closed_) error = co_await stream_->Connect(addresses_, name);
  if (is_late_) co_return fmt::format("failed to connect within {} ms", longest.count());
  if (is_closed_) error = asio::error::operation_aborted;
  if (!error) co_return "";
  co_return WordsOfConnect(error, stream_->verify_result(), name);
}

namespace {

// "" if the certificate is valid.
std::string WordsOfCertificate(int64_t verify_result, const std::string& name) {
  switch (verify_result) {
    case X509_V_OK:
      return "";
    case X509_V_ERR_HOSTNAME_MISMATCH:
      return fmt::format("the server's certificate is not for '{}' (key 'server_name')", name);
    case X509_V_ERR_CERT_UNTRUSTED:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "the server's certificate comes from an authority that is not trusted (key 'ca')";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the server's certificate, or its authority's, has expired";
    default:
      return fmt::format("the server's certificate was refused: {}", X509_verify_cert_error_string(verify_result));
  }
}

// TLS reads the first bytes of another protocol as a version.
bool IsNoTls(const error_code& error) {
  return error.category() == boost::asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_WRONG_VERSION_NUMBER;
}

}  // namespace

std::string WordsOfConnect(const error_code& error, int64_t verify_result, const std::string& name) {
  if (const std::string words = WordsOfCertificate(verify_result, name); !words.empty()) {
    return "failed to connect: " + words;
  }
  return fmt::format("failed to connect: {}{}", error.message(),
                     IsNoTls(error) ? ": the server seems not to use TLS; http://?" : "");
}

bool IsNoHttp(const error_code& error) {
  return error.category() == make_error_code(http::error::bad_status).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

std::string WordsOfExchange(const FailedExchange& failed) {
  const error_code& error = failed.error;
  if (error == http::error::end_of_stream) {
    const bool may_want_tls = !failed.is_secure && !failed.has_answered;
    return fmt::format("the server ended the connection before it answered{}", may_want_tls ? "; https://?" : "");
  }
  if (error == http::error::partial_message) return "the server ended the connection within its answer";
  if (!IsNoHttp(error)) return "the connection was lost: " + error.message();
  // gRPC servers speak first, and not HTTP/1.1.
  const bool may_be_grpc = error == http::error::bad_version && !failed.has_answered;
  const char* const scheme = failed.is_secure ? "; grpcs://?" : "; grpc://?";
  return fmt::format("the server's answer is not HTTP: {}{}", error.message(), may_be_grpc ? scheme : "");
}

}  // namespace wasinn::remote
