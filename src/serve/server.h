// wasinn-serve, whole: models, ports and threads, from its options to its end.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "cli/host_flags.h"

namespace wasinn::serve {

struct ServeOptions {
  cli::HostFlags host_flags;
  std::map<std::string, std::string> routes;     // guests' files, by their paths
  bool cache = true, allow_precompiled = false;  // of their code
  std::string host = "127.0.0.1";
  uint16_t http_port = 8000, grpc_port = 8001, metrics_port = 8002;
  bool has_grpc = true, has_metrics = true;
  uint64_t max_body_bytes = 256u << 20;              // of one request
  uint64_t max_json_bytes = 32u << 20;               // of these, those of JSON
  uint64_t max_memory_in_flight = 1u << 30;          // of all requests and responses
  std::optional<size_t> max_connections;             // of each port; 16,384, or as many as the system lets it have
  std::chrono::milliseconds client_timeout{30'000};  // for which a body or a response may go slowly
  size_t io_threads = 0;                             // 0: two for each processor
  size_t workers = 0;                                // 0: eight for each processor
  size_t max_waiting = 1024;                         // requests that wait for one of them, or have it
  std::chrono::milliseconds wait_timeout{30'000};    // for one of them
  std::chrono::seconds drain{30};
};

// Until SIGTERM or SIGINT. The exit code.
int Serve(ServeOptions options);

}  // namespace wasinn::serve
