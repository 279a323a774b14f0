// The calls over gRPC, with its callback API: no call occupies a thread while it waits. Messages come and go as bytes,
// and only the needed parts become objects.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include <inference.grpc.pb.h>
#include "serve/grpc/grpc_calls.h"
#include "serve/grpc/grpc_messages.h"
#include "serve/metrics/request_metrics.h"
#include "serve/models/statistics.h"
#include "serve/tenants/gate.h"
#include "serve/threads/quick_computes.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

namespace raw {

using S = inference::GRPCInferenceService;
using Service = S::WithRawCallbackMethod_ServerLive<S::WithRawCallbackMethod_ServerReady<
    S::WithRawCallbackMethod_ServerMetadata<S::WithRawCallbackMethod_ModelReady<S::WithRawCallbackMethod_ModelMetadata<
        S::WithRawCallbackMethod_ModelConfig<S::WithRawCallbackMethod_ModelStatistics<
            S::WithRawCallbackMethod_RepositoryIndex<S::WithRawCallbackMethod_RepositoryModelLoad<
                S::WithRawCallbackMethod_RepositoryModelUnload<S::WithRawCallbackMethod_ModelInfer<
                    S::WithRawCallbackMethod_ModelStreamInfer<S::Service>>>>>>>>>>>>;

}  // namespace raw

// Messages that clients compress. gRPC would expand them without a limit, so it passes them on unchanged.
bool IsCompressed(const grpc::ByteBuffer& message);
// Expands a compressed message: at most `most` bytes, charged to `budget` during the life of the message. Throws
// Failure.
void InflateMessage(grpc::ByteBuffer& message, uint64_t most, const std::shared_ptr<MemoryBudget>& budget,
                    const Cancellation* cancellation);

class GrpcUnary;

// All arguments outlive it.
class GrpcService final : public raw::Service {
 public:
  struct Parts {
    const Statistics& statistics;
    TextMetrics& metrics;
    Workers& workers;
    Workers& loads;    // for loads of models
    QuickLane& quick;  // for gRPC's threads
    GrpcCalls& calls;
    uint64_t most_message;  // bytes of a request
  };
  GrpcService(const Gate& gate, const Parts& parts) : gate_(gate), parts_(parts) {}

  void Drain() { is_draining_.store(true, std::memory_order_relaxed); }

  // `done` gets the answer to a request, and its id, on this thread or another one. The message and the call, which is
  // admitted, live until then. In a stream, `part` gets the responses before the last one, which may then be invalid:
  // there is none. `part` returns false if no more are wanted.
  using Done = std::function<void(Outcome<grpc::ByteBuffer> answer, const std::string& id)>;
  using Part = std::function<bool(grpc::ByteBuffer response)>;
  void Infer(const grpc::ByteBuffer& message, GrpcCall& call, const Done& done, const Part& part = nullptr);
  const Gate& gate() const { return gate_; }

 private:
  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  using Bytes = grpc::ByteBuffer;
  class Inference;

  Reactor* ServerLive(Context* context, const Bytes* request, Bytes* response) override;
  Reactor* ServerReady(Context* context, const Bytes* request, Bytes* response) override;
  Reactor* ServerMetadata(Context* context, const Bytes* request, Bytes* response) override;
  Reactor* ModelReady(Context* context, const Bytes* request, Bytes* response) override;
  Reactor* ModelMetadata(Context* context, const Bytes* request, Bytes* response) override;
  Reactor* ModelConfig(Context* context, const Bytes* request, Bytes* response) override;
  Reactor* ModelStatistics(Context* context, const Bytes* request, Bytes* response) override;
  Reactor* RepositoryIndex(Context* context, const Bytes* request, Bytes* response) override;
  Reactor* RepositoryModelLoad(Context* context, const Bytes* request, Bytes* response) override;
  Reactor* RepositoryModelUnload(Context* context, const Bytes* request, Bytes* response) override;
  Reactor* ModelInfer(Context* context, const Bytes* request, Bytes* response) override;
  grpc::ServerBidiReactor<Bytes, Bytes>* ModelStreamInfer(Context* context) override;

  // A call with small messages: answered on this thread, or if its model must be loaded first, on one for loads.
  enum class Where { kHere, kHereWithoutKey, kWhereLoaded, kOnLoader };
  template <typename Request, typename Response, typename Answer>
  Reactor* Call(Where where, Context* context, const Bytes& request, Bytes& response, Answer answer);

  const Gate& gate_;
  const Parts parts_;
  std::atomic<bool> is_draining_{false};
};

}  // namespace wasinn::serve
