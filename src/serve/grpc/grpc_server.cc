#include "serve/grpc/grpc_server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <utility>
#include <vector>

#include "serve/descriptors.h"
#include "serve/grpc/grpc_service.h"
#include "serve/grpc/grpc_tls.h"

namespace wasinn::serve {
namespace {

// For one connection: the limit of calls, and how long it is kept without any.
constexpr int kMostStreams = 128;
constexpr int kIdleMs = 300'000;
constexpr int kHandshakeMs = 20'000;

int ToMs(std::chrono::milliseconds time) { return static_cast<int>(std::min<int64_t>(time.count(), INT_MAX)); }

// If there seem to be too many connections, they are counted, which takes a millisecond, but not more often than this.
constexpr std::chrono::milliseconds kCountAgain{100};

// The number that gRPC 1.51 starts for callbacks (CallbackAlternativeCQ).
size_t GrpcThreads() { return std::clamp<long>(::sysconf(_SC_NPROCESSORS_CONF) / 2, 2, 16); }

ino_t FileOf(int descriptor) {
  struct stat file = {};
  return ::fstat(descriptor, &file) == 0 ? file.st_ino : 0;
}

}  // namespace

struct GrpcServer::Running {
  std::shared_ptr<grpc::ServerCredentials> credentials;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

GrpcServer::GrpcServer(const Gate& gate, const Statistics& statistics, TextMetrics& metrics, Workers& workers,
                       Workers& loads, GrpcOptions options)
    : options_(std::move(options)),
      calls_(options_.calls, options_.access_log, options_.requests),
      quick_(GrpcThreads(), workers),
      service_(std::make_unique<GrpcService>(
          gate, GrpcService::Parts{statistics, metrics, workers, loads, quick_, calls_, options_.max_message_bytes})),
      reflection_(gate, calls_) {
  // Only clients' errors, with which they could fill a log.
  google::protobuf::SetLogHandler(nullptr);
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
}
GrpcServer::~GrpcServer() = default;

Outcome<void> GrpcServer::Start() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  grpc::ResourceQuota quota("serve");
  quota.Resize(options_.budget->most());
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(static_cast<int>(std::min<uint64_t>(options_.max_message_bytes, INT_MAX)));
  builder.SetMaxSendMessageSize(-1);
  const int handshake_ms = std::min(kHandshakeMs, ToMs(options_.calls.slow));
  const GrpcKeepalive& keepalive = options_.keepalive;
  // A small compressed message may expand to any size, after gRPC's check: the server expands it (grpc_inflate.h).
  for (const auto& [argument, value] :
       {std::pair{GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0},
        {GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreams},
        {GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs},
        {GRPC_ARG_MAX_CONNECTION_AGE_MS, ToMs(keepalive.age)},
        {GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, ToMs(keepalive.age_grace)},
        {GRPC_ARG_KEEPALIVE_TIME_MS, ToMs(keepalive.time)},
        {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ToMs(keepalive.timeout)},
        {GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1},
        {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, ToMs(keepalive.least_between_pings)},
        {GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, handshake_ms}}) {
    builder.AddChannelArgument(argument, value);
  }
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(watches_.NewFactory());
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  builder.RegisterService(service_.get());
  builder.RegisterCallbackGenericService(&reflection_);
  running_ = std::make_unique<Running>();
  running_->credentials = options_.tls == nullptr ? grpc::InsecureServerCredentials() : GrpcCredentials(options_.tls);
  running_->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, running_->credentials);
  running_->server = builder.BuildAndStart();
  if (running_->server != nullptr) return {};
  return std::unexpected(Failure{WASINN_ERROR_RUNTIME, "cannot start gRPC's server"});
}

bool GrpcServer::HasRoomFor(int descriptor) {
  if (descriptor >= options_.max_descriptor) return false;
  connections_[descriptor] = FileOf(descriptor);
  if (connections_.size() <= options_.max_connections) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now >= next_count_) {
    next_count_ = now + kCountAgain;
    std::erase_if(connections_, [](const auto& one) { return FileOf(one.first) != one.second; });
  }
  if (connections_.size() <= options_.max_connections) return true;
  connections_.erase(descriptor);
  return false;
}

void GrpcServer::Take(int descriptor) {
  Unclaimed unclaimed(descriptor);
  if (!HasRoomFor(descriptor)) return;
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = descriptor;
  unclaimed.Claim();
  running_->acceptor->HandleNewConnection(&connection);
}

void GrpcServer::Drain(std::chrono::system_clock::time_point until) {
  service_->Drain();
  calls_.Drain();
  if (running_ == nullptr || running_->server == nullptr) return;
  running_->server->GetHealthCheckService()->SetServingStatus(false);
  watches_.Drain();
  running_->server->Shutdown(until);
}

}  // namespace wasinn::serve
