// What is called over gRPC, by its callback API: no call has a thread while it waits.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include <inference.grpc.pb.h>
#include "serve/repository.h"
#include "serve/statistics.h"
#include "serve/workers.h"

namespace wasinn::serve {

grpc::Status ToGrpc(const Failure& failure);

// All that it is given outlives it.
class GrpcService final : public inference::GRPCInferenceService::CallbackService {
 public:
  GrpcService(Repository& repository, const Statistics& statistics, Workers& workers)
      : repository_(repository), statistics_(statistics), workers_(workers) {}

  void Drain() { is_draining_.store(true, std::memory_order_relaxed); }
  // On this thread or another one: `done` gets what becomes of it. The messages live until then.
  void Infer(const inference::ModelInferRequest& request, inference::ModelInferResponse& response,
             std::function<void(grpc::Status)> done);

 private:
  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;

  // NOLINTBEGIN(readability-identifier-length)
  Reactor* ServerLive(Context* context, const inference::ServerLiveRequest*, inference::ServerLiveResponse*) override;
  Reactor* ServerReady(Context* context, const inference::ServerReadyRequest*,
                       inference::ServerReadyResponse*) override;
  Reactor* ServerMetadata(Context* context, const inference::ServerMetadataRequest*,
                          inference::ServerMetadataResponse*) override;
  Reactor* ModelReady(Context* context, const inference::ModelReadyRequest*, inference::ModelReadyResponse*) override;
  Reactor* ModelMetadata(Context* context, const inference::ModelMetadataRequest*,
                         inference::ModelMetadataResponse*) override;
  Reactor* ModelConfig(Context* context, const inference::ModelConfigRequest*,
                       inference::ModelConfigResponse*) override;
  Reactor* ModelStatistics(Context* context, const inference::ModelStatisticsRequest*,
                           inference::ModelStatisticsResponse*) override;
  Reactor* RepositoryIndex(Context* context, const inference::RepositoryIndexRequest*,
                           inference::RepositoryIndexResponse*) override;
  Reactor* RepositoryModelLoad(Context* context, const inference::RepositoryModelLoadRequest*,
                               inference::RepositoryModelLoadResponse*) override;
  Reactor* RepositoryModelUnload(Context* context, const inference::RepositoryModelUnloadRequest*,
                                 inference::RepositoryModelUnloadResponse*) override;
  Reactor* ModelInfer(Context* context, const inference::ModelInferRequest*, inference::ModelInferResponse*) override;
  grpc::ServerBidiReactor<inference::ModelInferRequest, inference::ModelStreamInferResponse>* ModelStreamInfer(
      Context* context) override;
  // NOLINTEND(readability-identifier-length)

  // On a worker: `work` returns a grpc::Status.
  Reactor* Later(Context* context, std::function<grpc::Status()> work);

  Repository& repository_;
  const Statistics& statistics_;
  Workers& workers_;
  std::atomic<bool> is_draining_{false};
};

}  // namespace wasinn::serve
