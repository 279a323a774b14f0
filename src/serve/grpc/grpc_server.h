// Serves the Open Inference Protocol's gRPC form on connections of a port.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>

#include "serve/generation.h"
#include "serve/grpc/grpc_calls.h"
#include "serve/grpc/grpc_keepalive.h"
#include "serve/http/tls.h"
#include "serve/metrics/access_log.h"
#include "serve/metrics/request_metrics.h"
#include "serve/models/statistics.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/quick_computes.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

class GrpcWatches;

struct GrpcOptions {
  std::shared_ptr<MemoryBudget>
      budget;  // for requests and responses; gRPC itself has as much again for data that it has not passed on yet
  std::shared_ptr<Tls> tls;               // NULL: none
  std::shared_ptr<AccessLog> access_log;  // NULL: none
  RequestMetrics* requests = nullptr;     // outlives it; NULL: not counted
  uint64_t max_message_bytes = 256u << 20;
  size_t max_connections = 16384;
  int max_descriptor = INT32_MAX;  // as in HttpOptions
  GrpcCalls::Limits calls;
  GrpcKeepalive keepalive;
};

// All arguments outlive it. Only one thread at a time calls Take and Drain.
class GrpcServer {
 public:
  GrpcServer(const Gate& gate, const Statistics& statistics, TextMetrics& metrics, Workers& workers, Workers& loads,
             GrpcOptions options);
  ~GrpcServer();

  // Call it before the others.
  void Start();
  // Takes over a connection of TCP.
  void Take(int descriptor);
  // Cancels calls whose clients take too long. Call it now and then. Thread-safe.
  void Sweep();

  // The number of current calls, including idle streams. Thread-safe.
  size_t calls() const { return calls_.size(); }

  // Begins no more calls, and waits until all requests are answered, at most until that time.
  void Drain(std::chrono::system_clock::time_point until);

 private:
  bool HasRoomFor(int descriptor);

  const GrpcOptions options_;
  GrpcCalls calls_;
  QuickLane quick_;
  const std::unique_ptr<GrpcWatches> watches_;
  std::atomic<bool> is_draining_{false};
  const std::unique_ptr<grpc::Service> service_;
  const std::unique_ptr<grpc::CallbackGenericService> reflection_;
  struct Running;
  std::unique_ptr<Running> running_;
  // For each taken connection its number, and the system's identity of the file: gRPC does not report its end, but then
  // no file has its number, or another one.
  std::map<int, ino_t> connections_;
  std::chrono::steady_clock::time_point next_count_;
};

}  // namespace wasinn::serve
