// Certificates that the configuration names, and what is said of those that servers have.
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include "backends/thrown.h"
#include "remote/config.h"
#include "remote/http_stream.h"
#include "support/files.h"

namespace wasinn::remote {
namespace {

std::string WrittenPem(const std::function<void(BIO*)>& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  write(bio.get());
  char* text = nullptr;
  const auto bytes = static_cast<size_t>(BIO_get_mem_data(bio.get(), &text));
  return {text, bytes};
}

// A certificate that signs itself.
struct SelfSigned {
  explicit SelfSigned(const char* passphrase = nullptr) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> pair(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> one(X509_new(), X509_free);
    X509_gmtime_adj(X509_getm_notBefore(one.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(one.get()), 3600);
    X509_set_pubkey(one.get(), pair.get());
    X509_sign(one.get(), pair.get(), EVP_sha256());
    certificate = WrittenPem([&](BIO* bio) { PEM_write_bio_X509(bio, one.get()); });
    key = WrittenPem([&](BIO* bio) {
      PEM_write_bio_PKCS8PrivateKey(bio, pair.get(), passphrase == nullptr ? nullptr : EVP_aes_128_cbc(), nullptr, 0,
                                    nullptr, const_cast<char*>(passphrase));
    });
  }
  std::string certificate, key;
};

class RemoteCertificates : public ::testing::Test {
 protected:
  // The error in files of this content; "": none. An empty file is not named.
  std::string RefusedFiles(const std::string& ca, const std::string& cert = "", const std::string& key = "") const {
    std::string config;
    const auto add = [&](const std::string& name, const std::string& text) {
      if (text.empty()) return;
      config += (config.empty() ? "\"" : ", \"") + name + "\": \"" + folder_.Write(name, text) + "\"";
    };
    add("ca", ca);
    add("cert", cert);
    add("key", key);
    std::string refused[2];
    for (const Transport transport : {Transport::kGrpc, Transport::kHttp}) {
      refused[transport == Transport::kGrpc ? 0 : 1] = test::Refused(WASINN_ERROR_INVALID_ARGUMENT, [&] {
        (void)ModelConfig::Parse("{}", ("{" + config + "}").c_str(), transport, true);
      });
    }
    EXPECT_EQ(refused[0], refused[1]);
    EXPECT_EQ(ERR_peek_error(), 0U) << "the next user would take it for its own";
    return refused[0];
  }

  const testing::TestFolder folder_;
};

TEST_F(RemoteCertificates, AcceptsValidFiles) {
  const SelfSigned one, other;
  EXPECT_EQ(RefusedFiles(one.certificate), "");
  EXPECT_EQ(RefusedFiles("Some words.\n" + one.certificate + other.certificate), "");
  EXPECT_EQ(RefusedFiles("", one.certificate, one.key), "");
  EXPECT_EQ(RefusedFiles(other.certificate, one.certificate + other.certificate, one.key), "");
}

TEST_F(RemoteCertificates, RefusesInvalidFiles) {
  const SelfSigned one;
  const std::string begin = "-----BEGIN CERTIFICATE-----\n", end = "-----END CERTIFICATE-----\n";
  for (const std::string& none : {one.key, std::string("no PEM"), begin, begin + "AAAA\n" + end}) {
    EXPECT_EQ(RefusedFiles(none), "key 'ca': '" + (folder_ / "ca") + "' has no certificate in PEM") << none;
    EXPECT_THAT(RefusedFiles("", none, one.key), HasSubstr("' has no certificate in PEM"));
  }
  EXPECT_THAT(RefusedFiles(one.certificate + begin + "AAAA\n" + end), HasSubstr("has an invalid certificate"));
}

TEST_F(RemoteCertificates, AKeyMustBelongToTheCertificate) {
  const SelfSigned one, other, locked("secret");
  EXPECT_THAT(RefusedFiles("", one.certificate, other.key), HasSubstr("key 'key' does not belong to 'cert'"));
  EXPECT_THAT(RefusedFiles("", one.certificate, one.certificate), HasSubstr("has no PEM private key"));
  EXPECT_THAT(RefusedFiles("", locked.certificate, locked.key), HasSubstr("without a passphrase"));
  EXPECT_THAT(RefusedFiles("", one.certificate), HasSubstr("go together"));
}

TEST(RemoteFailuresTest, NamesTheFaultOfACertificate) {
  const boost::system::error_code refused(ERR_PACK(ERR_LIB_SSL, 0, SSL_R_CERTIFICATE_VERIFY_FAILED),
                                          boost::asio::error::get_ssl_category());
  const auto words = [&](int64_t result) { return WordsOfConnect(refused, result, "a.example"); };
  EXPECT_EQ(words(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY),
            "failed to connect: the server's certificate comes from an authority that is not trusted (key 'ca')");
  EXPECT_EQ(words(X509_V_ERR_HOSTNAME_MISMATCH),
            "failed to connect: the server's certificate is not for 'a.example' (key 'server_name')");
  EXPECT_THAT(words(X509_V_ERR_CERT_HAS_EXPIRED), HasSubstr("has expired"));
  EXPECT_THAT(words(X509_V_ERR_INVALID_PURPOSE), HasSubstr("the server's certificate was refused: "));
}

TEST(RemoteFailuresTest, NamesTheReasonOfAFailedConnect) {
  const boost::system::error_code no_tls(ERR_PACK(ERR_LIB_SSL, 0, SSL_R_WRONG_VERSION_NUMBER),
                                         boost::asio::error::get_ssl_category());
  EXPECT_THAT(WordsOfConnect(no_tls, X509_V_OK, "a"), HasSubstr(": the server seems not to use TLS; http://?"));
  EXPECT_EQ(WordsOfConnect(boost::asio::error::connection_refused, X509_V_OK, "a"),
            "failed to connect: Connection refused");
}

}  // namespace
}  // namespace wasinn::remote
