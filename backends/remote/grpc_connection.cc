#include "remote/grpc_connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <utility>

#include "remote/grpc_exchange.h"

namespace wasinn::remote {

namespace {

// After a connection failed, the next is tried soon: a server that comes back is wanted at once.
constexpr int kFirstBackoffMs = 100, kMostBackoffMs = 2000;

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& endpoint, const ConnectionConfig& config) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
  arguments.SetMaxSendMessageSize(static_cast<int>(config.max_message_bytes));
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstBackoffMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMostBackoffMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, static_cast<int>(config.connect_timeout.count()));
  // Only the host's configuration says where calls go and how often: no variable for proxies, no settings from DNS, and
  // no retries but those of gRPC for what has never left the machine.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  if (!config.server_name.empty()) arguments.SetSslTargetNameOverride(config.server_name);
  const auto credentials = config.is_secure ? grpc::SslCredentials({config.ca, config.key, config.certificate})
                                            : grpc::InsecureChannelCredentials();
  return grpc::CreateCustomChannel("dns:///" + endpoint, credentials, arguments);
}

}  // namespace

GrpcConnection::GrpcConnection(std::string endpoint, const ConnectionConfig& config)
    : Connection(std::move(endpoint)), stub_(MakeChannel(this->endpoint(), config)) {}

std::shared_ptr<Exchange> GrpcConnection::NewExchange(const Request& request, const Headers& headers,
                                                      Deadline deadline) {
  return std::make_shared<GrpcExchange>(stub_, request, headers, deadline);
}

}  // namespace wasinn::remote
