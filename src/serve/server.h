// wasinn-serve, whole: models, ports and threads, from its options to its end.
#pragma once

#include <string>

#include "cli/host_flags.h"
#include "serve/http_options.h"

namespace wasinn::serve {

struct ServeOptions {
  cli::HostFlags host_flags;
  std::string host = "127.0.0.1";
  uint16_t http_port = 8000, grpc_port = 8001, metrics_port = 8002;
  bool has_grpc = true, has_metrics = true;
  HttpOptions http;
  size_t io_threads = 0;      // 0: two for each processor
  size_t workers = 0;         // 0: eight for each processor
  size_t max_waiting = 1024;  // requests that wait for one of them
  uint32_t drain_seconds = 30;
};

// Until SIGTERM or SIGINT. The exit code.
int Serve(ServeOptions options);

}  // namespace wasinn::serve
