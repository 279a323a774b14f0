// TLS for gRPC, with certificates that may change while it serves.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "serve/http/tls.h"

namespace wasinn::serve {

std::shared_ptr<grpc::ServerCredentials> GrpcCredentials(std::shared_ptr<Tls> tls);

}  // namespace wasinn::serve
