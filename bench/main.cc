// wasinn-bench, which `wasinn bench` starts: what a model costs natively and from a guest.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/allocations.h"
#include "bench/bench.h"
#include "bench/report.h"
#include "cli/ending.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/host_flags.h"
#include "cli/log.h"
#include "settings/shapes.h"

namespace wasinn::bench {
namespace {

constexpr char kFooter[] =
    "Runs the model natively, through its framework's own API, and from a guest, in turns, with the same\n"
    "settings and pseudo-random inputs. Prints what one inference takes; then how many per second N native\n"
    "threads reach on one session (with one memcpy each way) and N guests on one graph, one thread each.\n\n"
    "Examples:\n"
    "  wasinn bench --pin 1 digits.onnx\n"
    "  wasinn bench --guests 2 --seconds 10 --json mobilenet.onnx";

struct Flags {
  Options options;
  bool json = false;
};

// NAME=1x3x224x224; NAME= is a scalar.
void AddFlags(CLI::App& app, Flags* flags) {
  app.add_option("MODEL", flags->options.model, "A model file, a model folder, or the name of a model in the settings")
      ->required();
  app.add_option("--abi", flags->options.abi,
                 "The guest: witx (default), a core module; once, one that calls compute_once; or wit, a component")
      ->type_name("ABI")
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, Abi>{{"witx", Abi::kWitx}, {"once", Abi::kOnce}, {"wit", Abi::kWit}})
                      .description(""));
  app.add_option("--engine", flags->options.engine, "What runs a core module: wasmtime (default) or wamr")
      ->type_name("NAME")
      ->envname("WASINN_ENGINE")
      ->check(cli::CheckEngine);
  app.add_option("--guests", flags->options.guests, "Guests at once, and native threads; 1 unless told")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  auto* seconds =
      app.add_option("--seconds", flags->options.budget.seconds, "For each of the three measurements; 3 unless told")
          ->type_name("S")
          ->check(CLI::PositiveNumber.description(""));
  app.add_option("--iterations", flags->options.budget.iterations, "Inferences to time, in place of seconds")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000).description(""))
      ->excludes(seconds);
  app.add_option("--pin", flags->options.cpus, "The CPU to run on; with several, 0,1, each guest has its own")
      ->type_name("CPU")
      ->delimiter(',')
      ->check(CLI::Range(0, 1023).description(""))
      ->allow_extra_args(false);
  cli::AddParsed<Shapes::value_type>(
      app, "--shape", settings::ParseShape,
      [flags](auto shape) { flags->options.shapes.insert_or_assign(shape.first, shape.second); },
      "The shape of an input where the model leaves it open; else such dims are 1")
      ->type_name("NAME=1x3x224");
  app.add_flag("--json", flags->json, "Print JSON");
  app.footer(kFooter);
  cli::AddHostFlags(app, &flags->options.host);
  cli::AddModelFlags(app, &flags->options.host);
  cli::AddInputsFlag(app, &flags->options.host, "--inputs");
}

int Main(int argc, char** argv) {
  CLI::App app("Times a model natively and from a guest.", "wasinn-bench");
  app.set_version_flag("--version", std::string("wasinn-bench ") + wasinn_version());
  app.formatter(std::make_shared<cli::HelpFormatter>());
  Flags flags;
  AddFlags(app, &flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answered) {  // --help, --version
    return app.exit(answered);
  } catch (const CLI::ParseError& error) {
    return cli::UsageError("wasinn bench", error.what());
  }
  RunUnderCounter();
  const auto report = Measure(flags.options);
  if (!report) return cli::Fail(report.error());
  std::fputs((flags.json ? ToJson(*report) : ToText(*report)).c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace wasinn::bench

int main(int argc, char** argv) { return wasinn::cli::RunToItsEnd(wasinn::bench::Main, argc, argv); }
