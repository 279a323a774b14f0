#include "serve/http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace wasinn::serve {
namespace {

namespace ssl = boost::asio::ssl;

constexpr size_t kMaxFile = 1u << 20;

[[noreturn]] void ThrowBadFile(const std::string& file, const std::string& what) {
  ThrowInvalid("'{}' {}", file, what);
}

std::string ReadFile(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) Throw(WASINN_ERROR_NOT_FOUND, "cannot open '{}': {}", file, std::strerror(errno));
  std::string text(kMaxFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || in.gcount() == 0) ThrowBadFile(file, "is empty, or cannot be read");
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMaxFile) ThrowBadFile(file, "is larger than certificates and keys are");
  return text;
}

// The reason why this thread's last call of OpenSSL failed.
std::string Reason() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason != nullptr ? reason : "no reason is known";
}

// ALPN: a client that names protocols without this one speaks another one.
int Choose(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered, unsigned offered_size,
           void*) {
  static constexpr unsigned char kHttp[] = "\x08http/1.1";
  auto* found = const_cast<unsigned char*>(kHttp);  // a C function writes the address of either list here
  const int how = SSL_select_next_proto(&found, size, kHttp, sizeof kHttp - 1, offered, offered_size);
  *chosen = found;
  return how == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void SetProtocol(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context, Choose, nullptr);
}

int RefusePassword(char*, int, int, void* was_asked) {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

void UseKey(SSL_CTX* context, const std::string& pem, const TlsFiles& files) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bytes(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                        BIO_free);
  bool is_encrypted = false;
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(bytes.get(), nullptr, RefusePassword, &is_encrypted), EVP_PKEY_free);
  if (is_encrypted) ThrowBadFile(files.key, "is an encrypted key, and there is no way to enter its password");
  if (key == nullptr) ThrowBadFile(files.key, "has no private key in PEM's form: " + Reason());
  X509* const certificate = SSL_CTX_get0_certificate(context);
  if (X509_check_private_key(certificate, key.get()) != 1) {
    ThrowBadFile(files.key, "is not the key of the certificate '" + files.certificate + "': " + Reason());
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) ThrowBadFile(files.key, "cannot be used: " + Reason());
}

void AskClients(SSL_CTX* context, const std::string& pem, const std::string& file) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bytes(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                        BIO_free);
  size_t n = 0;
  while (X509* const read = PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr)) {
    const std::unique_ptr<X509, decltype(&X509_free)> authority(read, X509_free);
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), read) != 1 || SSL_CTX_add_client_CA(context, read) != 1) {
      ThrowBadFile(file, "has a certificate that cannot be used: " + Reason());
    }
    ++n;
  }
  const bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (n == 0 || !is_end) ThrowBadFile(file, "has no certificates in PEM's form: " + Reason());
  ERR_clear_error();
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  // Each connection must show its certificate: a resumed session would outlive an authority that was removed.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
}

std::shared_ptr<Certificates> ReadCertificates(const TlsFiles& files) {
  TlsFiles pem;
  for (const auto part : {&TlsFiles::certificate, &TlsFiles::key, &TlsFiles::client_ca}) {
    if ((files.*part).empty()) continue;
    if (part == &TlsFiles::key && files.key == files.certificate) {  // once, or another file may have come in between
      pem.key = pem.certificate;
      continue;
    }
    pem.*part = ReadFile(files.*part);
  }
  auto made = std::make_shared<Certificates>(std::move(pem), ssl::context(ssl::context::tls_server));
  SSL_CTX* const context = made->context.native_handle();
  SetProtocol(context);
  ERR_clear_error();
  boost::system::error_code error;
  made->context.use_certificate_chain(boost::asio::buffer(made->pem.certificate), error);
  if (error) ThrowBadFile(files.certificate, "has no certificate in PEM's form: " + error.message());
  UseKey(context, made->pem.key, files);
  if (!files.client_ca.empty()) AskClients(context, made->pem.client_ca, files.client_ca);
  return made;
}

}  // namespace

void Tls::Load() {
  auto read = ReadCertificates(files_);
  const std::lock_guard lock(mutex_);
  current_ = std::move(read);
}

}  // namespace wasinn::serve
