// wasinn-serve, which `wasinn serve` starts: serves models over the usual protocols.
#include <fmt/format.h>
#include <malloc.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.h"
#include "cli/artifact_paths.h"
#include "cli/ending.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "serve/http/origins.h"
#include "serve/http/ports.h"
#include "serve/routes/route_flags.h"
#include "serve/server.h"
#include "settings/quantities.h"

namespace wasinn::serve {
namespace {

constexpr size_t kMaxCount = 1'000'000;
constexpr char kKeyVariable[] = "WASINN_API_KEY";
// Blocks from this size on go back to the system when they are freed. By default the C library raises the limit to 32
// MiB by itself; then answers that grow token by token, each in a slightly larger block, left 3 GB in the heap.
constexpr int kLargeBlock = 256 << 10;
constexpr char kFooter[] =
    "Serves models by the Open Inference Protocol (KServe's v2) as Triton does: HTTP on one port, Prometheus'\n"
    "metrics on another, gRPC on a third if --grpc-port names it. SIGTERM ends it after all requests are\n"
    "answered; SIGHUP makes it read its configuration and its certificates again, and open its access log again.\n\n"
    "Example:\n"
    "  wasinn serve --model digits=digits.onnx\n"
    "  curl localhost:8000/v2/models/digits";

settings::Parsed<uint16_t> ParsePort(const std::string& text) {
  if (const auto port = base::ParseNumber<uint16_t>(text)) return *port;
  return std::unexpected("'" + text + "' is not an integer from 0 to 65535");
}

settings::Parsed<size_t> ParseCount(const std::string& text) {
  const auto count = base::ParseNumber<size_t>(text);
  if (count && *count > 0 && *count <= kMaxCount) return *count;
  return std::unexpected(fmt::format("'{}' is not an integer from 1 to {}", text, kMaxCount));
}

// The value that `parse` reads, except 0, which would serve no client.
template <typename T>
auto AtLeastOne(std::expected<T, std::string> (*parse)(std::string_view)) {
  return [parse](const std::string& text) -> settings::Parsed<T> {
    auto parsed = parse(text);
    if (parsed && *parsed == 0) return std::unexpected("'" + text + "' is too little: no request could be served");
    return parsed;
  };
}

void AddPort(CLI::App& app, const char* flag, std::function<void(uint16_t)> take, const char* help) {
  cli::AddParsed<uint16_t>(app, flag, ParsePort, std::move(take), help)->type_name("PORT");
}

void AddPorts(CLI::App& app, ServeOptions* options) {
  AddPort(app, "--http-port", [=](uint16_t port) { options->http_port = port; }, "default 8000; 0: any free port");
  AddPort(
      app, "--grpc-port", [=](uint16_t port) { options->grpc_port = port; },
      "gRPC there, for clients that you trust; by default there is none");
  const auto take_metrics = [=](uint16_t port) {
    options->metrics_port = port;
    options->has_metrics = true;
  };
  AddPort(app, "--metrics-port", take_metrics, "default 8002; 0: any free port");
  app.add_flag("--http-metrics", options->has_http_metrics,
               "/metrics on the port of HTTP, too; with tenants for operators");
  app.add_flag("--metric-aliases", options->has_metric_aliases,
               "Metrics of language models also by vLLM's names, for routers and autoscalers");
  app.add_flag_callback("--no-metrics", [=] { options->has_metrics = false; }, "No port for metrics");
}

void AddCount(CLI::App& app, const char* flag, auto* count, const char* help) {
  cli::AddParsed<size_t>(
      app, flag, ParseCount, [count](size_t number) { *count = std::remove_pointer_t<decltype(count)>(number); }, help)
      ->type_name("N");
}

void AddSize(CLI::App& app, const char* flag, uint64_t* size, const char* help) {
  cli::AddParsed<uint64_t>(
      app, flag, AtLeastOne(settings::ParseSize), [size](uint64_t bytes) { *size = bytes; }, help)
      ->type_name("SIZE");
}

void AddDuration(CLI::App& app, const char* flag, std::function<settings::Parsed<uint32_t>(const std::string&)> parse,
                 std::chrono::milliseconds* duration, const char* help) {
  cli::AddParsed<uint32_t>(
      app, flag, std::move(parse), [duration](uint32_t ms) { *duration = std::chrono::milliseconds(ms); }, help)
      ->type_name("TIME");
}

// As in Triton, in milliseconds; or with a unit.
settings::Parsed<uint32_t> ParseTritonTime(const std::string& text) {
  const bool has_unit = text.find_first_not_of("0123456789") != text.npos;
  return AtLeastOne(settings::ParseDuration)(has_unit ? text : text + "ms");
}

void AddKeepalive(CLI::App& app, GrpcKeepalive* keepalive) {
  AddDuration(app, "--grpc-keepalive-time", ParseTritonTime, &keepalive->time,
              "gRPC: an idle connection is pinged after this; milliseconds by default, like the others; default 60s");
  AddDuration(app, "--grpc-keepalive-timeout", ParseTritonTime, &keepalive->timeout,
              "gRPC: a client that has not answered a ping by then is gone; default 20s");
  AddDuration(app, "--grpc-http2-min-recv-ping-interval-without-data", ParseTritonTime, &keepalive->least_between_pings,
              "gRPC: clients that ping more often without data are disconnected; default 9500");
  AddDuration(app, "--grpc-max-connection-age", ParseTritonTime, &keepalive->age,
              "gRPC: a connection takes no calls after that; default 30m");
  AddDuration(app, "--grpc-max-connection-age-grace", ParseTritonTime, &keepalive->age_grace,
              "gRPC: its calls end this long after that; default 30m");
}

using Pair = std::pair<std::string, std::string>;

// `form`: for the message, NAME=FILE.
auto ParsePair(const char* form) {
  return [form](const std::string& text) -> settings::Parsed<Pair> {
    const size_t equals = text.find('=');
    if (equals == text.npos) return std::unexpected(fmt::format("'{}' is not {}", text, form));
    return Pair(text.substr(0, equals), text.substr(equals + 1));
  };
}

void AddPair(CLI::App& app, const char* flag, const char* form, std::function<void(const Pair&)> take,
             const char* help) {
  cli::AddParsed<Pair>(app, flag, ParsePair(form), std::move(take), help)->type_name(form);
}

settings::Parsed<std::string> ReadOrigin(const std::string& text) {
  auto origin = Try([&] { return ParseOrigin(text); });
  if (!origin) return std::unexpected(std::move(origin.error().message));
  return std::move(*origin);
}

void AddRepositoryFlags(CLI::App& app, RepositorySettings* repository) {
  cli::AddParsed<RepositorySettings::Control>(
      app, "--model-control-mode", ParseControl,
      [repository](RepositorySettings::Control control) { repository->control = control; },
      "As for Triton. none: all models are loaded at the start; poll: so are those that come later;\nexplicit: "
      "those "
      "of --load-model, and by request. Default: a model is loaded at its first request")
      ->type_name("none|explicit|poll");
  cli::AddParsed<std::string>(
      app, "--load-model", [](const std::string& name) -> settings::Parsed<std::string> { return name; },
      [repository](const std::string& name) { repository->load_models.insert(name); },
      "Load this model at the start, and keep it loaded; *: all")
      ->type_name("NAME");
  AddCount(app, "--repository-poll-secs", &repository->poll,
           "Check models' files and folders this often; default 15 with poll, else at SIGHUP");
  AddCount(app, "--max-loaded", &repository->max_loaded,
           "Models loaded at once; for one more, the longest idle one is unloaded; default: any number");
  AddDuration(app, "--idle-unload", settings::ParseDuration, &repository->idle_unload,
              "Unload a model that was not used for this long: 10m; default: never");
}

void AddFlags(CLI::App& app, ServeOptions* options) {
  app.add_option("--host", options->host, "The address to listen on; default 127.0.0.1; 0.0.0.0: all")
      ->type_name("ADDRESS");
  AddAddressFlag(app, options);
  AddPorts(app, options);
  AddKeepalive(app, &options->grpc_keepalive);
  CLI::Option* const certificate = app.add_option("--tls-cert", options->tls.certificate,
                                                  "TLS on all ports, with this certificate (PEM) and its signers'")
                                       ->type_name("FILE");
  CLI::Option* const key = app.add_option("--tls-key", options->tls.key, "The certificate's key (PEM, not encrypted)")
                               ->type_name("FILE")
                               ->needs(certificate);
  certificate->needs(key);
  app.add_option("--tls-client-ca", options->tls.client_ca,
                 "Clients must have a certificate that one of these authorities (PEM) has signed")
      ->type_name("FILE")
      ->needs(certificate);
  app.add_option_function<std::string>(
         "--api-key", [=](const std::string& api_key) { options->api_key = api_key; },
         "A key that clients must send (Authorization: Bearer KEY), if there are no tenants. The variable keeps "
         "it\nfrom readers of the command line")
      ->type_name("KEY")
      ->envname(kKeyVariable);
  app.add_option_function<std::string>(
         "--api-key-file", [=](const std::string& file) { options->api_key_file = file; },
         "Such keys, one in each line. SIGHUP reads it again")
      ->type_name("FILE");
  app.add_option("--access-log", options->access_log,
                 "Write a line of JSON for each request; -: standard output. SIGHUP opens it again")
      ->type_name("FILE");
  AddSize(app, "--max-body", &options->max_body_bytes, "The largest request; default 256M");
  AddSize(app, "--max-json", &options->max_json_bytes,
          "The largest JSON of a request, without tensors that follow it as bytes; default 32M");
  AddSize(app, "--max-memory-in-flight", &options->max_memory_in_flight,
          "Memory of all requests and responses together; default 1G");
  AddCount(app, "--max-connections", &options->max_connections,
           "For each port; default 16384, or as many as the limit of open files allows");
  AddCount(app, "--max-waiting", &options->max_waiting, "Requests that wait for a thread or have one; default 1024");
  AddDuration(app, "--wait-timeout", AtLeastOne(settings::ParseDuration), &options->wait_timeout,
              "How long a request waits for a thread; default 30s");
  AddDuration(app, "--idle-timeout", AtLeastOne(settings::ParseDuration), &options->idle_timeout,
              "How long a connection may have no request, or take for its header; default 75s");
  AddDuration(app, "--client-timeout", settings::ParseDuration, &options->client_timeout,
              "How long a body or a response may be slower than 100 KB/s; default 30s");
  AddRepositoryFlags(app, &options->repository);
  AddRouteFlags(app, options);
  AddPair(
      app, "--guest-model", "NAME=FILE",
      [options](const Pair& model) { options->guest_models[model.first] = {.file = model.second}; },
      "Let a component that exports wasinn:serve/model answer as a model of this name");
  cli::AddOutboundFlag(app, &options->host_flags, "Origins to which components behind routes may send requests");
  app.add_flag_callback("--no-page", [options] { options->has_page = false; }, "No page for operators at /");
  cli::AddParsed<std::string>(
      app, "--allow-origin", ReadOrigin,
      [options](const std::string& origin) { options->allowed_origins.insert(origin); },
      "Let pages of another site send requests; *: any site. The server's own pages always may")
      ->type_name("ORIGIN");
  app.add_flag("--strict", options->is_strict,
               "Refuse fields of requests to /v1 that are not served; else they are ignored");
  app.add_flag_callback("--no-cache", [options] { options->cache = false; }, "Compile guests again");
  app.add_flag("--allow-precompiled", options->allow_precompiled,
               "Run guests of native code, which no sandbox confines");
  app.footer(kFooter);
  cli::AddHostFlags(app, &options->host_flags);
  cli::AddModelFlags(app, &options->host_flags);
  cli::AddLimitFlags(app, &options->host_flags);
  cli::AddRouteLimitFlags(app, &options->host_flags);
}

// Errors that may come from the file, from flags, or from both together. Throws Failure, like the next ones.
void Check(ServeOptions& options, const CLI::App& app) {
  (void)ParseAddress(options.host);
  if (options.max_body_bytes > options.max_memory_in_flight) {
    ThrowInvalid(
        "max_body_bytes (--max-body), {}, is more than max_bytes_in_flight "
        "(--max-memory-in-flight), {}: no such request could come",
        options.max_body_bytes, options.max_memory_in_flight);
  }
  RepositorySettings& repository = options.repository;
  if (repository.control == RepositorySettings::Control::kPoll && repository.poll.count() == 0) {
    repository.poll = std::chrono::seconds(15);
  }
  for (const auto& [key, value] : options.host_flags.settings) {
    if (key == "log.level") options.log_level = value;
  }
  const char* const key = std::getenv(kKeyVariable);
  if (key != nullptr && app.count("--api-key") == 0) options.api_key = key;  // CLI11 ignores an empty one
  TakeApiKeys(options);
  CheckRoutes(options, app.count("FILE") > 0);
}

// Pulls models and guests from registries before the server begins: until then a signal ends it at once.
void Pull(ServeOptions& options) {
  options.host_flags.guest_folders = FoldersOf(options.routes);
  OrThrow(cli::PullModels(options.host_flags));
  const auto pull = [&](const char* what, const std::string& name, std::string& file) {
    auto local = cli::LocalGuest(file, options.host_flags.guest_folders);
    if (!local) Throw(WASINN_ERROR_UNAVAILABLE, "{} '{}': {}", what, name, local.error());
    file = std::move(*local);
  };
  for (auto& [path, route] : options.routes) pull("the route", path, route.file);
  for (auto& [name, guest] : options.guest_models) pull("the guest model", name, guest.file);
}

// The file's options, then the flags', which override them. They were parsed before, so they are valid.
ServeOptions ReadOptions(int argc, char** argv, const std::string& file) {
  ServeOptions options;
  options.max_body_bytes = 0;  // clients may not ask for that, and do not see it
  if (!file.empty()) ReadServeFile(file, options);
  CLI::App app;
  AddFlags(app, &options);
  app.parse(argc, argv);
  Check(options, app);
  Pull(options);
  if (options.max_body_bytes == 0) options.max_body_bytes = ServeOptions().max_body_bytes;
  return options;
}

// Copies the arguments, and removes the key from those that the system shows to others.
std::vector<std::string> TakeArguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  constexpr std::string_view kFlag = "--api-key";
  for (int i = 1; i < argc; ++i) {
    const bool is_key = arguments[i - 1] == kFlag;
    const size_t keep = arguments[i].starts_with(std::string(kFlag) + "=") ? kFlag.size() + 1 : 0;
    if (is_key || keep > 0) std::memset(argv[i] + keep, '*', arguments[i].size() - keep);
  }
  return arguments;
}

int Main(int argc, char** argv) {
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  ServeOptions flags;
  CLI::App app("Serves models over HTTP and gRPC.", "wasinn serve");
  app.formatter(std::make_shared<cli::HelpFormatter>());
  AddFlags(app, &flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answered) {
    return app.exit(answered);
  } catch (const CLI::ParseError& error) {
    return cli::UsageError("wasinn serve", cli::WhatIsWrong(app, error, argv));
  }
  const auto arguments = std::make_shared<std::vector<std::string>>(TakeArguments(argc, argv));
  return Serve([=] {
    std::vector<char*> words;
    for (std::string& word : *arguments) words.push_back(word.data());
    return ReadOptions(argc, words.data(), flags.host_flags.config_file);
  });
}

}  // namespace
}  // namespace wasinn::serve

int main(int argc, char** argv) { return wasinn::cli::RunToItsEnd(wasinn::serve::Main, argc, argv); }
