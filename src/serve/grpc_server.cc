#include "serve/grpc_server.h"

#include <fmt/format.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "serve/grpc_service.h"

namespace wasinn::serve {

struct GrpcServer::Running {
  std::unique_ptr<grpc::Server> server;
};

GrpcServer::GrpcServer(Repository& repository, const Statistics& statistics, Workers& workers)
    : service_(std::make_unique<GrpcService>(repository, statistics, workers)) {}
GrpcServer::~GrpcServer() = default;

Outcome<void> GrpcServer::Listen(const std::string& host, uint16_t port, uint64_t max_message_bytes) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  const std::string address = host.find(':') == host.npos ? host : "[" + host + "]";
  builder.AddListeningPort(fmt::format("{}:{}", address, port), grpc::InsecureServerCredentials(), &port_);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // else another server on this port would be no error
  builder.SetMaxReceiveMessageSize(static_cast<int>(std::min<uint64_t>(max_message_bytes, INT_MAX)));
  builder.SetMaxSendMessageSize(-1);
  builder.RegisterService(service_.get());
  running_ = std::make_unique<Running>(builder.BuildAndStart());
  if (running_->server != nullptr && port_ != 0) return {};
  return std::unexpected(Failure{WASINN_RUNTIME_ERROR, fmt::format("cannot listen on {}:{} for gRPC", host, port)});
}

void GrpcServer::Drain(std::chrono::system_clock::time_point until) {
  service_->Drain();
  if (running_ == nullptr || running_->server == nullptr) return;
  running_->server->GetHealthCheckService()->SetServingStatus(false);
  running_->server->Shutdown(until);
}

}  // namespace wasinn::serve
