// wasinn bench: what a model costs natively and from a guest.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <memory>

#include "cli/bench/allocations.h"
#include "cli/bench/bench.h"
#include "cli/bench/report.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/host_flags.h"
#include "cli/log.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

constexpr char kBenchFooter[] =
    "Runs the model natively, through its framework's own API, and from a guest, in turns, with the same\n"
    "settings and pseudo-random inputs. Prints what one inference takes; then how many per second N native\n"
    "threads reach on one session (with one memcpy each way) and N guests on one graph, one thread each.\n\n"
    "Examples:\n"
    "  wasinn bench --pin 1 digits.onnx\n"
    "  wasinn bench --guests 2 --seconds 10 --json mobilenet.onnx";

struct BenchFlags {
  bench::Options options;
  bool json = false;
};

// NAME=1x3x224x224; NAME= is a scalar.
settings::Parsed<bench::Shapes::value_type> ParseShape(const std::string& text) {
  const size_t equals = text.rfind('=');
  const auto fail = [&] { return std::unexpected("'" + text + "' is not NAME=DIMxDIM..."); };
  if (equals == text.npos || equals == 0) return fail();
  std::vector<int64_t> dims;
  if (equals + 1 < text.size()) {
    for (const std::string& part : settings::Split(std::string_view(text).substr(equals + 1), 'x')) {
      int64_t dim = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), dim);
      if (error != std::errc() || end != part.data() + part.size() || dim < 0) return fail();
      dims.push_back(dim);
    }
  }
  return bench::Shapes::value_type(text.substr(0, equals), std::move(dims));
}

int Run(const BenchFlags& flags) {
  bench::RunUnderCounter();
  const auto report = bench::Measure(flags.options);
  if (!report) return Fail(report.error());
  std::fputs((flags.json ? ToJson(*report) : ToText(*report)).c_str(), stdout);
  return 0;
}

}  // namespace

Command AddBenchCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Time a model natively and from a guest");
  auto flags = std::make_shared<BenchFlags>();
  command
      ->add_option("MODEL", flags->options.model,
                   "A model file, a model folder, or the name of a model in the settings")
      ->required();
  command->add_option("--abi", flags->options.abi, "The guest: witx (default), a core module, or wit, a component")
      ->type_name("ABI")
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, bench::Abi>{{"witx", bench::Abi::kWitx}, {"wit", bench::Abi::kWit}})
                      .description(""));
  command->add_option("--engine", flags->options.engine, "What runs a core module: wasmtime (default) or wamr")
      ->type_name("NAME")
      ->envname("WASINN_ENGINE")
      ->check(CheckEngine);
  command->add_option("--guests", flags->options.guests, "Guests at once, and native threads; 1 unless told")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  auto* seconds =
      command
          ->add_option("--seconds", flags->options.budget.seconds, "For each of the three measurements; 3 unless told")
          ->type_name("S")
          ->check(CLI::PositiveNumber.description(""));
  command->add_option("--iterations", flags->options.budget.iterations, "Inferences to time, in place of seconds")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000).description(""))
      ->excludes(seconds);
  command->add_option("--pin", flags->options.cpus, "The CPU to run on; with several, 0,1, each guest has its own")
      ->type_name("CPU")
      ->delimiter(',')
      ->check(CLI::Range(0, 1023).description(""))
      ->allow_extra_args(false);
  AddParsed<bench::Shapes::value_type>(
      *command, "--shape", ParseShape,
      [flags](auto shape) { flags->options.shapes.insert_or_assign(shape.first, shape.second); },
      "The shape of an input where the model leaves it open; else such dims are 1")
      ->type_name("NAME=1x3x224");
  command->add_flag("--json", flags->json, "Print JSON");
  command->footer(kBenchFooter);
  AddHostFlags(*command, &flags->options.host);
  AddModelFlags(*command, &flags->options.host);
  AddInputsFlag(*command, &flags->options.host, "--inputs");
  return {command, [flags] { return Run(*flags); }};
}

}  // namespace wasinn::cli
