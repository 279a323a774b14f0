// What speaks the Open Inference Protocol's gRPC form to the connections of a port.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>

#include "serve/grpc/grpc_calls.h"
#include "serve/grpc/grpc_keepalive.h"
#include "serve/grpc/grpc_reflection.h"
#include "serve/grpc/grpc_watches.h"
#include "serve/http/tls.h"
#include "serve/metrics/access_log.h"
#include "serve/metrics/text_metrics.h"
#include "serve/models/statistics.h"
#include "serve/tenants/gate.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/quick_lane.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

class GrpcService;

struct GrpcOptions {
  std::shared_ptr<MemoryBudget>
      budget;  // of requests and responses; gRPC itself has as much again for what it has not given to us yet
  std::shared_ptr<Tls> tls;               // NULL: none
  std::shared_ptr<AccessLog> access_log;  // NULL: none
  RequestMetrics* requests = nullptr;     // which outlives it; NULL: nobody counts them
  uint64_t max_message_bytes = 256u << 20;
  size_t max_connections = 16384;
  int max_descriptor = INT32_MAX;  // as http_options.h has it
  GrpcCalls::Limits calls;
  GrpcKeepalive keepalive;
};

// All that it is given outlives it. Take and Drain by one thread at a time.
class GrpcServer {
 public:
  GrpcServer(const Gate& gate, const Statistics& statistics, TextMetrics& metrics, Workers& workers, Workers& loads,
             GrpcOptions options);
  ~GrpcServer();

  // Before what follows.
  Outcome<void> Start();
  // A connection of TCP, which is the server's from here on.
  void Take(int descriptor);
  // Cancels calls whose clients take too long. To be called now and then. Any thread.
  void Sweep() {
    calls_.Sweep();
    quick_.Sweep();
    watches_.Sweep();
  }

  // Calls that are under way, streams that rest among them. Any thread.
  size_t calls() const { return calls_.size(); }

  // Begins no call any more, and waits until what was asked is answered, no longer than until then.
  void Drain(std::chrono::system_clock::time_point until);

 private:
  bool HasRoomFor(int descriptor);

  const GrpcOptions options_;
  GrpcCalls calls_;
  QuickLane quick_;
  GrpcWatches watches_;
  const std::unique_ptr<GrpcService> service_;
  GrpcReflection reflection_;
  struct Running;
  std::unique_ptr<Running> running_;
  // Of connections that were taken, the number and what the system calls the file: gRPC does not say when one ends, but its number is
  // nobody's then, or another file's.
  std::map<int, ino_t> connections_;
  std::chrono::steady_clock::time_point next_count_;
};

}  // namespace wasinn::serve
