// The calls over gRPC, with its callback API: no call occupies a thread while it waits. Messages come and go as bytes,
// and only the needed parts become objects.
#pragma once

#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "serve/generation.h"
#include "serve/grpc/grpc_calls.h"
#include "serve/metrics/request_metrics.h"
#include "serve/models/statistics.h"
#include "serve/threads/quick_computes.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

// All outlive the service.
struct GrpcParts {
  const Gate& gate;
  const Statistics& statistics;
  TextMetrics& metrics;
  Workers& workers;
  Workers& loads;    // for loads of models
  QuickLane& quick;  // for gRPC's threads
  GrpcCalls& calls;
  const std::atomic<bool>& is_draining;
  uint64_t most_message;  // bytes of a request
};

std::unique_ptr<grpc::Service> NewGrpcService(const GrpcParts& parts);

// `done` gets the answer to a request, and its id, on this thread or another one. The message and the call, which is
// admitted, live until then. In a stream, `part` gets the responses before the last one, which may then be invalid:
// there is none. `part` returns false if no more are wanted.
using GrpcDone = std::function<void(Outcome<grpc::ByteBuffer> answer, const std::string& id)>;
using GrpcPart = std::function<bool(grpc::ByteBuffer response)>;
void InferByGrpc(const GrpcParts& parts, const grpc::ByteBuffer& message, GrpcCall& call, const GrpcDone& done,
                 const GrpcPart& part = nullptr);

// Messages that clients compress. gRPC would expand them without a limit, so it passes them on unchanged.
bool IsCompressed(const grpc::ByteBuffer& message);
// Expands a compressed message: at most `most` bytes, charged to `budget` during the life of the message. Throws
// Failure.
void InflateMessage(grpc::ByteBuffer& message, uint64_t most, const std::shared_ptr<MemoryBudget>& budget,
                    const Cancellation* cancellation);

}  // namespace wasinn::serve
