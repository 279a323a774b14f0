#include "serve/grpc/grpc_tls.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <string>
#include <utility>

namespace wasinn::serve {
namespace {

// gRPC's own credentials of C++ that can change read files repeatedly by themselves, and callers get no errors. Those
// of its C API ask at each connection.
class Credentials final : public grpc::ServerCredentials {
 public:
  explicit Credentials(std::shared_ptr<Tls> tls) : tls_(std::move(tls)) {
    const auto request_type = tls_->asks_clients() ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                                   : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
    credentials_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(request_type, Fetch, this));
  }
  ~Credentials() override { grpc_server_credentials_release(credentials_); }
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  // gRPC calls it for one connection at a time.
  static grpc_ssl_certificate_config_reload_status Fetch(void* self, grpc_ssl_server_certificate_config** made) {
    auto& credentials = *static_cast<Credentials*>(self);
    std::shared_ptr<Certificates> current = credentials.tls_->current();
    if (current == credentials.used_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const TlsFiles& pem = current->pem;
    const grpc_ssl_pem_key_cert_pair pair = {pem.key.c_str(), pem.certificate.c_str()};
    // gRPC 1.51 ends the program if there are none, although no client needs a certificate that they signed.
    const std::string& authorities = pem.client_ca.empty() ? pem.certificate : pem.client_ca;
    *made = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
    credentials.used_ = std::move(current);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const std::shared_ptr<Tls> tls_;
  std::shared_ptr<Certificates> used_;  // those that gRPC uses
  grpc_server_credentials* credentials_ = nullptr;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> GrpcCredentials(std::shared_ptr<Tls> tls) {
  return std::make_shared<Credentials>(std::move(tls));
}

}  // namespace wasinn::serve
