// wasinn-serve, which `wasinn serve` starts: models behind the field's protocols.
#include <CLI/CLI.hpp>

#include <memory>

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

void AddFlags(CLI::App& app, ServeOptions* options) {
  app.add_option("--host", options->host, "The address to listen on; 127.0.0.1 unless told, 0.0.0.0: all")
      ->type_name("ADDRESS");
  app.add_option("--http-port", options->http_port, "8000 unless told; 0: any that is free")->type_name("PORT");
  app.add_option("--grpc-port", options->grpc_port, "8001 unless told; 0: any that is free")->type_name("PORT");
  app.add_option("--metrics-port", options->metrics_port, "8002 unless told; 0: any that is free")->type_name("PORT");
  app.add_flag_callback("--no-grpc", [options] { options->has_grpc = false; }, "No port for gRPC");
  app.add_flag_callback("--no-metrics", [options] { options->has_metrics = false; }, "No port for metrics");
  cli::AddParsed<uint64_t>(
      app, "--max-body", settings::ParseSize, [options](uint64_t bytes) { options->http.max_body_bytes = bytes; },
      "The largest request: 256M unless told")
      ->type_name("SIZE");
  app.add_option("--max-connections", options->http.max_connections, "16384 unless told")->type_name("N");
  app.add_option("--max-waiting", options->max_waiting, "Requests that may wait for a thread; 1024 unless told")
      ->type_name("N");
  app.footer(kFooter);
  cli::AddHostFlags(app, &options->host_flags);
  cli::AddModelFlags(app, &options->host_flags);
  cli::AddLimitFlags(app, &options->host_flags);
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
