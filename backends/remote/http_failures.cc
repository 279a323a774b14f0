#include "remote/http_failures.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>

namespace wasinn::remote {

namespace http = boost::beast::http;
using boost::system::error_code;

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
