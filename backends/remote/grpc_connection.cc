#include "remote/grpc_connection.h"

#include <grpc/compression.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace wasinn::remote {

namespace {

// The next connection after a failure is tried soon: a server that comes back should be used at once.
constexpr int kFirstBackoffMs = 100, kMostBackoffMs = 2000;

// gRPC checks a message's length only when all of it is there, and a server may send 4 GiB. So all answers of a server
// share a limit of many maximum-sized answers. Beyond it, gRPC ends calls.
constexpr size_t kMostAnswers = 16, kLeastMemory = size_t{64} << 20;

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& endpoint, const ConnectionConfig& config) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
  arguments.SetMaxSendMessageSize(static_cast<int>(config.max_message_bytes));
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstBackoffMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMostBackoffMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, static_cast<int>(config.connect_timeout.count()));
  grpc::ResourceQuota memory;
  memory.Resize(std::max(kMostAnswers * config.max_message_bytes, kLeastMemory));
  arguments.SetResourceQuota(memory);
  // A small compressed message may expand to any size, and gRPC checks its limit only after that.
  arguments.SetInt(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  arguments.SetInt(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE);
  // Only the host's configuration decides where calls go and how often: no proxy variable, no settings from DNS, and no
  // retries except gRPC's for calls that never left the machine.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  if (!config.server_name.empty()) arguments.SetSslTargetNameOverride(config.server_name);
  const auto credentials = config.is_secure ? grpc::SslCredentials({config.ca, config.key, config.certificate})
                                            : grpc::InsecureChannelCredentials();
  return grpc::CreateCustomChannel("dns:///" + endpoint, credentials, arguments);
}

}  // namespace

GrpcConnection::GrpcConnection(std::string endpoint, const ConnectionConfig& config)
    : Connection(std::move(endpoint)),
      server_{.stub = grpc::GenericStub(MakeChannel(this->endpoint(), config)), .is_secure = config.is_secure} {}

std::shared_ptr<Exchange> GrpcConnection::NewExchange(const Request& request, const Headers& headers,
                                                      Deadline deadline) {
  return std::make_shared<GrpcExchange>(server_, request, headers, deadline);
}

}  // namespace wasinn::remote
