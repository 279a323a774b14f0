// wasinn-serve, whole: models, ports and threads, from its options to its end.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "cli/host_flags.h"
#include "serve/file_settings.h"
#include "serve/grpc/grpc_keepalive.h"
#include "serve/http/tls.h"
#include "serve/models/repository_settings.h"
#include "serve/models/upstream.h"

namespace wasinn::serve {

struct ServeOptions {
  cli::HostFlags host_flags;
  std::map<std::string, RouteSettings> routes;    // by path
  std::map<std::string, GuestFile> guest_models;  // by name
  std::map<std::string, TenantSettings> tenants;  // by name; none: no client needs a key
  // The key, or "sha256:" and its digest, for all rights; empty: tenants have keys, or no key is needed.
  std::optional<std::string> api_key;
  std::optional<std::string> api_key_file;  // the file of such keys, one in each line
  std::string log_level;                    // "": the usual one
  HostSections sections;
  RepositorySettings repository;
  std::set<std::string, std::less<>> allowed_origins;  // of pages that may send requests; from ParseOrigin
  std::map<std::string, std::string> adapters;         // models of language models' adapters, by the adapters' names
  UpstreamSettings upstreams;                          // of models on other servers
  bool is_strict = false;                              // refuses unknown fields of /v1
  bool has_page = true;                                // for operators
  bool cache = true, allow_precompiled = false;        // of guests' code
  std::string host = "127.0.0.1";
  uint16_t http_port = 8000, metrics_port = 8002;
  std::optional<uint16_t> grpc_port;  // empty: no gRPC, whose memory a hostile client can fill
  GrpcKeepalive grpc_keepalive;
  bool has_metrics = true;
  bool has_http_metrics = false, has_metric_aliases = false;  // on the port of HTTP; by vLLM's names, too
  TlsFiles tls;                                               // without a certificate: none
  std::string access_log;                                     // "": none; "-": standard output
  uint64_t max_body_bytes = 256u << 20;                       // of one request
  uint64_t max_json_bytes = 32u << 20;                        // of these, those of JSON
  uint64_t max_memory_in_flight = 1u << 30;                   // of all requests and responses
  static constexpr size_t kUsualConnections = 16384;
  std::optional<size_t> max_connections;  // of each port; empty: that number, or the system's limit
  std::chrono::milliseconds idle_timeout{
      75'000};  // of an HTTP connection without a request, or with a part of a header
  std::chrono::milliseconds client_timeout{30'000};  // for a slow body or response
  size_t io_threads = 0;                             // 0: one for each processor
  size_t workers = 0;                                // 0: eight for each processor
  size_t max_waiting = 1024;                         // requests that wait for a worker, or have one
  std::chrono::milliseconds wait_timeout{30'000};    // for a worker
  std::chrono::seconds drain{30};
};

// Serves until SIGTERM or SIGINT, and returns the exit code. SIGHUP calls `read` again, and reads certificates again.
// `read` throws Failure.
int Serve(const std::function<ServeOptions()>& read);

}  // namespace wasinn::serve
