#include "remote/config.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pemerr.h>
#include <openssl/x509.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "common/config.h"
#include "common/error.h"

namespace wasinn::remote {

using backend::Config;
using backend::Error;

namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;
constexpr int64_t kMaxMilliseconds = int64_t{24} * 60 * 60 * 1000;

// A key's file and its contents.
struct NamedFile {
  const char* key;
  std::string path, text;
};

// Looks up a key of the model, then of the backend.
class Merged {
 public:
  Merged(const Config& model, const Config& backend) : model_(model), backend_(backend) {}

  const Config& With(const char* key) const { return model_.Has(key) ? model_ : backend_; }
  std::chrono::milliseconds Milliseconds(const char* key, int64_t usual) const {
    return std::chrono::milliseconds(With(key).Integer(key, 1, kMaxMilliseconds).value_or(usual));
  }
  // Empty if the key is not set.
  NamedFile File(const char* key) const {
    NamedFile named{.key = key, .path = With(key).AbsolutePath(key).value_or(""), .text = {}};
    if (named.path.empty()) return named;
    std::ifstream file(named.path, std::ios::binary);
    named.text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file || named.text.empty()) {
      throw Error(WASINN_ERROR_INVALID_ARGUMENT, fmt::format("key '{}': cannot read '{}'", key, named.path));
    }
    return named;
  }

 private:
  const Config &model_, &backend_;
};

// TLS keys of the model require an address with TLS. [backends.remote] also serves other models.
void CheckSecurity(const Config& model, bool is_secure) {
  if (is_secure) return;
  for (const char* key : {"ca", "cert", "key", "server_name"}) {
    if (!model.Has(key)) continue;
    throw Error(WASINN_ERROR_INVALID_ARGUMENT,
                fmt::format("key '{}' is for connections with TLS: expected an address that begins with grpcs:// or "
                            "https://",
                            key));
  }
}

// Headers that frame an HTTP message or describe its contents.
constexpr std::string_view kOwnHeaders[] = {"accept-encoding",
                                            "connection",
                                            "content-encoding",
                                            "content-length",
                                            "content-type",
                                            "expect",
                                            "host",
                                            "inference-header-content-length",
                                            "keep-alive",
                                            "proxy-connection",
                                            "te",
                                            "trailer",
                                            "transfer-encoding",
                                            "upgrade"};

// gRPC aborts the program if HTTP/2 does not allow a header.
void CheckHeader(const std::string& name, const std::string& value, Transport transport) {
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
  const bool is_free = transport == Transport::kGrpc ? !name.starts_with("grpc-") && !name.ends_with("-bin")
                                                     : std::ranges::find(kOwnHeaders, name) == std::end(kOwnHeaders);
  const bool is_value = std::ranges::all_of(value, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
  if (is_name && is_free && is_value) return;
  throw Error(WASINN_ERROR_INVALID_ARGUMENT,
              fmt::format("key 'headers': '{}' cannot be a header of calls: expected a lower-case name that is "
                          "not the protocol's own, and plain ASCII",
                          name));
}

template <auto free>
struct Freed {
  void operator()(auto* one) const { free(one); }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

// Clears OpenSSL's errors of this thread, which its next user would take for its own.
struct ClearedErrors {
  ClearedErrors() { ERR_clear_error(); }
  ~ClearedErrors() { ERR_clear_error(); }
  ClearedErrors(const ClearedErrors&) = delete;
  ClearedErrors& operator=(const ClearedErrors&) = delete;
};

Bio Reader(const NamedFile& file) {
  Bio bio(BIO_new_mem_buf(file.text.data(), static_cast<int>(file.text.size())));
  if (bio == nullptr) throw std::bad_alloc();
  return bio;
}

// Otherwise OpenSSL would ask at the terminal.
int NoPassphrase(char* /*buffer*/, int /*size*/, int /*writes*/, void* /*user*/) { return -1; }

Certificate NextCertificate(const Bio& bio) {
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr));
}

[[noreturn]] void Refuse(const NamedFile& file, const char* why) {
  throw Error(WASINN_ERROR_INVALID_ARGUMENT, fmt::format("key '{}': '{}' {}", file.key, file.path, why));
}

PrivateKey ReadPrivateKey(const NamedFile& file) {
  const Bio bio = Reader(file);
  PrivateKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  if (key == nullptr) Refuse(file, "has no PEM private key without a passphrase");
  return key;
}

// PEM with at least one certificate.
void CheckCertificates(const NamedFile& file) {
  const ClearedErrors cleared;
  const Bio bio = Reader(file);
  if (NextCertificate(bio) == nullptr) Refuse(file, "has no certificate in PEM");
  while (NextCertificate(bio) != nullptr) {
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) Refuse(file, "has an invalid certificate");
}

// Also requires that `key` belongs to the first certificate.
void CheckOwnCertificate(const NamedFile& certificate, const NamedFile& key) {
  CheckCertificates(certificate);
  const ClearedErrors cleared;
  const PrivateKey secret = ReadPrivateKey(key);
  if (X509_check_private_key(NextCertificate(Reader(certificate)).get(), secret.get()) == 1) return;
  throw Error(WASINN_ERROR_INVALID_ARGUMENT,
              fmt::format("key 'key' does not belong to 'cert': '{}' is for another certificate", key.path));
}

// Checked here, because the transports' messages differ and gRPC's are misleading.
void ReadCertificates(const Merged& merged, ConnectionConfig* parsed) {
  NamedFile ca = merged.File("ca"), certificate = merged.File("cert"), key = merged.File("key");
  if (certificate.text.empty() != key.text.empty()) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT, "keys 'cert' and 'key' go together: expected both or none");
  }
  if (!ca.text.empty()) CheckCertificates(ca);
  if (!certificate.text.empty()) CheckOwnCertificate(certificate, key);
  parsed->ca = std::move(ca.text);
  parsed->certificate = std::move(certificate.text);
  parsed->key = std::move(key.text);
}

ConnectionConfig ParseConnection(const Merged& merged, Transport transport, bool is_secure) {
  ConnectionConfig parsed;
  parsed.transport = transport;
  parsed.is_secure = is_secure;
  ReadCertificates(merged, &parsed);
  parsed.server_name = merged.With("server_name").String("server_name").value_or("");
  parsed.max_message_bytes = static_cast<uint32_t>(
      merged.With("max_message_bytes").Integer("max_message_bytes", 1024, INT_MAX).value_or(64 * kMegabyte));
  // A connection of gRPC has many calls and is shared whatever this says.
  const auto connections = merged.With("max_connections").Integer("max_connections", 1, 65536).value_or(256);
  if (transport == Transport::kHttp) parsed.max_connections = static_cast<uint32_t>(connections);
  parsed.connect_timeout = merged.Milliseconds("connect_timeout_ms", 5000);
  return parsed;
}

}  // namespace

ModelConfig ModelConfig::Parse(const char* backend_text, const char* model_text, Transport transport, bool is_secure) {
  const Config backend(backend_text, "[backends.remote]");
  const Config model(model_text, "configuration of the model");
  const Merged merged(model, backend);
  CheckSecurity(model, is_secure);
  ModelConfig parsed;
  parsed.connection = ParseConnection(merged, transport, is_secure);
  parsed.headers = merged.With("headers").Strings("headers").value_or(Config::Entries());
  for (const auto& [name, value] : parsed.headers) CheckHeader(name, value, transport);
  parsed.is_idempotent = merged.With("idempotent").Bool("idempotent").value_or(false);
  parsed.retries = static_cast<uint32_t>(merged.With("retries").Integer("retries", 0, 16).value_or(2));
  parsed.load_timeout = merged.Milliseconds("load_timeout_ms", 30'000);
  parsed.health_interval = merged.Milliseconds("health_interval_ms", 1000);
  parsed.health_timeout = merged.Milliseconds("health_timeout_ms", 1000);
  return parsed;
}

}  // namespace wasinn::remote
