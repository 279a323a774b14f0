// A port on which the Open Inference Protocol's gRPC form is spoken.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "serve/repository.h"
#include "serve/statistics.h"
#include "serve/workers.h"

namespace wasinn::serve {

class GrpcService;

// All that it is given outlives it.
class GrpcServer {
 public:
  GrpcServer(Repository& repository, const Statistics& statistics, Workers& workers);
  ~GrpcServer();

  // Port 0: any that is free. A larger message is refused.
  Outcome<void> Listen(const std::string& host, uint16_t port, uint64_t max_message_bytes);
  uint16_t port() const { return static_cast<uint16_t>(port_); }

  // Accepts nothing more, and waits until what was asked is answered, no longer than until then.
  void Drain(std::chrono::system_clock::time_point until);

 private:
  const std::unique_ptr<GrpcService> service_;
  int port_ = 0;
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace wasinn::serve
