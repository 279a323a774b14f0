// A server that speaks gRPC.
#pragma once

#include <memory>
#include <string>

#include "remote/config.h"
#include "remote/exchange.h"

namespace wasinn::remote {

std::shared_ptr<Connection> MakeGrpcConnection(const std::string& endpoint, const ConnectionConfig& config);

}  // namespace wasinn::remote
