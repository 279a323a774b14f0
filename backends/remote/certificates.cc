#include "remote/certificates.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pemerr.h>
#include <openssl/x509.h>

#include <memory>
#include <new>

#include "common/error.h"

namespace wasinn::remote {

using backend::Error;

namespace {

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

}  // namespace

void CheckCertificates(const NamedFile& file) {
  const ClearedErrors cleared;
  const Bio bio = Reader(file);
  if (NextCertificate(bio) == nullptr) Refuse(file, "has no certificate in PEM");
  while (NextCertificate(bio) != nullptr) {
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) Refuse(file, "has an invalid certificate");
}

void CheckOwnCertificate(const NamedFile& certificate, const NamedFile& key) {
  CheckCertificates(certificate);
  const ClearedErrors cleared;
  const PrivateKey secret = ReadPrivateKey(key);
  if (X509_check_private_key(NextCertificate(Reader(certificate)).get(), secret.get()) == 1) return;
  throw Error(WASINN_ERROR_INVALID_ARGUMENT,
              fmt::format("key 'key' does not belong to 'cert': '{}' is for another certificate", key.path));
}

}  // namespace wasinn::remote
