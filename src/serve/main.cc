// wasinn-serve, which `wasinn serve` starts: models behind the field's protocols.
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "cli/ending.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "serve/server.h"
#include "settings/quantities.h"

namespace wasinn::serve {
namespace {

constexpr char kFooter[] =
    "Serves models by the Open Inference Protocol (KServe's v2) as Triton does: HTTP on one port, gRPC on\n"
    "another, Prometheus' metrics on a third. SIGTERM ends it once all that was asked is answered.\n\n"
    "Example:\n"
    "  wasinn serve --model digits=digits.onnx\n"
    "  curl localhost:8000/v2/models/digits";

void AddSize(CLI::App& app, const char* flag, uint64_t* size, const char* help) {
  cli::AddParsed<uint64_t>(
      app, flag, settings::ParseSize, [size](uint64_t bytes) { *size = bytes; }, help)
      ->type_name("SIZE");
}

void AddDuration(CLI::App& app, const char* flag, std::chrono::milliseconds* duration, const char* help) {
  cli::AddParsed<uint32_t>(
      app, flag, settings::ParseDuration, [duration](uint32_t ms) { *duration = std::chrono::milliseconds(ms); }, help)
      ->type_name("TIME");
}

settings::Parsed<std::pair<std::string, std::string>> ParseRoute(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == text.npos) return std::unexpected("'" + text + "' is not /PATH=FILE");
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

void AddFlags(CLI::App& app, ServeOptions* options) {
  app.add_option("--host", options->host, "The address to listen on; 127.0.0.1 unless told, 0.0.0.0: all")
      ->type_name("ADDRESS");
  app.add_option("--http-port", options->http_port, "8000 unless told; 0: any that is free")->type_name("PORT");
  app.add_option("--grpc-port", options->grpc_port, "8001 unless told; 0: any that is free")->type_name("PORT");
  app.add_option("--metrics-port", options->metrics_port, "8002 unless told; 0: any that is free")->type_name("PORT");
  app.add_flag_callback("--no-grpc", [options] { options->has_grpc = false; }, "No port for gRPC");
  app.add_flag_callback("--no-metrics", [options] { options->has_metrics = false; }, "No port for metrics");
  AddSize(app, "--max-body", &options->max_body_bytes, "The largest request: 256M unless told");
  AddSize(app, "--max-json", &options->max_json_bytes,
          "The largest JSON of a request, without tensors that follow it as bytes: 32M unless told");
  AddSize(app, "--max-memory-in-flight", &options->max_memory_in_flight,
          "What all requests and responses may hold together: 1G unless told");
  app.add_option("--max-connections", options->max_connections,
                 "Of each port; 16384 unless told, and what open files allow")
      ->type_name("N");
  app.add_option("--max-waiting", options->max_waiting, "Requests that wait for a thread, or have it; 1024 unless told")
      ->type_name("N");
  AddDuration(app, "--wait-timeout", &options->wait_timeout, "How long a request waits for a thread: 30s unless told");
  AddDuration(app, "--client-timeout", &options->client_timeout,
              "How long a body or a response may go slower than 100 KB/s: 30s unless told");
  cli::AddParsed<std::pair<std::string, std::string>>(
      app, "--route", ParseRoute,
      [options](auto route) { options->routes.insert_or_assign(route.first, route.second); },
      "Have a guest answer what is asked of a path, and below it, by the rules of CGI")
      ->type_name("/PATH=FILE");
  app.add_flag_callback("--no-cache", [options] { options->cache = false; }, "Compile guests anew");
  app.add_flag("--allow-precompiled", options->allow_precompiled, "Run guests of native code, which no sandbox holds");
  app.footer(kFooter);
  cli::AddHostFlags(app, &options->host_flags);
  cli::AddModelFlags(app, &options->host_flags);
  cli::AddLimitFlags(app, &options->host_flags);
  cli::AddProgramFlags(app, &options->host_flags);
}

int Main(int argc, char** argv) {
  CLI::App app("Serves models over HTTP and gRPC.", "wasinn serve");
  app.formatter(std::make_shared<cli::HelpFormatter>());
  ServeOptions options;
  AddFlags(app, &options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answered) {
    return app.exit(answered);
  } catch (const CLI::ParseError& error) {
    return cli::UsageError("wasinn serve", error.what());
  }
  return Serve(std::move(options));
}

}  // namespace
}  // namespace wasinn::serve

int main(int argc, char** argv) { return wasinn::cli::RunToItsEnd(wasinn::serve::Main, argc, argv); }
