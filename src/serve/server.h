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
  std::map<std::string, TenantSettings> tenants;  // by name; none: nobody needs a key
  // Or "sha256:" and its digest, for all rights; nothing: tenants have keys, or no key is needed.
  std::optional<std::string> api_key;
  std::optional<std::string> api_key_file;  // that has such keys, one in each line
  std::string log_level;                    // "": the usual one
  HostSections sections;
  RepositorySettings repository;
  std::set<std::string, std::less<>> allowed_origins;  // whose pages may ask, as ParseOrigin has them
  std::map<std::string, std::string> adapters;         // models of language models' adapters, by the adapters' names
  UpstreamSettings upstreams;                          // of models that servers have
  bool is_strict = false;                              // a field of /v1 that nothing here reads is refused
  bool has_page = true;                                // for operators
  bool cache = true, allow_precompiled = false;        // of guests' code
  std::string host = "127.0.0.1";
  uint16_t http_port = 8000, metrics_port = 8002;
  std::optional<uint16_t> grpc_port;  // nothing: no gRPC, which a hostile client can make take any memory
  GrpcKeepalive grpc_keepalive;
  bool has_metrics = true;
  bool has_http_metrics = false, has_metric_aliases = false;  // on the port of HTTP; by vLLM's names, too
  TlsFiles tls;                                               // without a certificate: none
  std::string access_log;                                     // "": none; "-": standard output
  uint64_t max_body_bytes = 256u << 20;                       // of one request
  uint64_t max_json_bytes = 32u << 20;                        // of these, those of JSON
  uint64_t max_memory_in_flight = 1u << 30;                   // of all requests and responses
  static constexpr size_t kUsualConnections = 16384;
  std::optional<size_t> max_connections;  // of each port; nothing: so many, or as the system lets it have
  std::chrono::milliseconds idle_timeout{
      75'000};  // of a connection of HTTP without a request, or with a part of a header
  std::chrono::milliseconds client_timeout{30'000};  // for which a body or a response may go slowly
  size_t io_threads = 0;                             // 0: one for each processor
  size_t workers = 0;                                // 0: eight for each processor
  size_t max_waiting = 1024;                         // requests that wait for one of them, or have it
  std::chrono::milliseconds wait_timeout{30'000};    // for one of them
  std::chrono::seconds drain{30};
};

// Until SIGTERM or SIGINT. The exit code. SIGHUP has `read` called again, and read again what else may have changed.
// `read` throws Failure.
int Serve(const std::function<ServeOptions()>& read);

}  // namespace wasinn::serve
