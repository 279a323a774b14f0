#include "remote/http_stream.h"

#include <sys/socket.h>

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/verify_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <cerrno>
#include <utility>

#include "common/error.h"
#include "remote/config.h"

namespace wasinn::remote {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// The limit of bytes that were read but are not yet part of a body: a piece of it, or a head.
constexpr size_t kMostBuffered = 128 << 10;
// Beast fills the free space of its buffer, by default 512 bytes. The system backs only the memory that is used.
constexpr size_t kReadAtOnce = 64 << 10;

// Like Asio's verification, but tells an untrusted chain from a wrong name.
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
    : stream_(std::in_place_type<Plain>, executor), buffer_(kMostBuffered) {
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
  return ReadBy([&](auto& stream) { return boost::beast::http::async_read(stream, buffer_, parser, kAwait); });
}

asio::awaitable<error_code> HttpStream::ReadHead(Parser& parser) {
  return ReadBy([&](auto& stream) { return boost::beast::http::async_read_header(stream, buffer_, parser, kAwait); });
}

asio::awaitable<error_code> HttpStream::ReadSome(Parser& parser) {
  return ReadBy([&](auto& stream) { return boost::beast::http::async_read_some(stream, buffer_, parser, kAwait); });
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

}  // namespace wasinn::remote
