// wasinn-bench, which `wasinn bench` starts: the cost of a model natively and from a guest.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/allocations.h"
#include "bench/bench.h"
#include "bench/concurrency.h"
#include "bench/noise.h"
#include "bench/plot.h"
#include "bench/progress.h"
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
    "settings and pseudo-random inputs. Prints the time of one inference. Then prints inferences per second:\n"
    "of N native threads on one session (with one memcpy each way), and of N guests on one graph, with one\n"
    "thread each. For the guests it also prints the time of each step on the host. With several models,\n"
    "engines or ABIs it measures each combination beside its own native side.\n\n"
    "Examples:\n"
    "  wasinn bench --pin 1 digits.onnx\n"
    "  wasinn bench --concurrency 1:16 --svg rates.svg mobilenet.onnx\n"
    "  wasinn bench --engine wasmtime,wamr --abi witx,once --json digits.onnx digits.tflite";

struct Flags {
  Options options;  // settings of all measurements
  std::vector<std::string> models, engines = {"wasmtime"};
  std::vector<Abi> abis = {Abi::kWitx};
  bool json = false;
  std::string csv, svg;  // files; "": none
};

// Every combination. Only Wasmtime runs components.
std::vector<Options> Combinations(const Flags& flags) {
  std::vector<Options> all;
  for (const std::string& model : flags.models) {
    for (const Abi abi : flags.abis) {
      const std::vector<std::string> engines =
          IsOfComponents(abi) ? std::vector<std::string>{"wasmtime"} : flags.engines;
      for (const std::string& engine : engines) {
        Options& options = all.emplace_back(flags.options);
        options.model = model;
        options.abi = abi;
        options.engine = engine;
      }
    }
  }
  return all;
}

// NAME=1x3x224x224; NAME= is a scalar.
void AddFlags(CLI::App& app, Flags* flags) {
  app.add_option("MODEL", flags->models, "A model file, a model folder, or the name of a model in the settings")
      ->required();
  app.add_option("--abi", flags->abis,
                 "The guest: witx (default), a core module; once: with compute_once; wit: a component; wit-0.3: one of "
                 "wasi:nn@0.3.0-draft")
      ->type_name("ABI,…")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, Abi>{
                          {"witx", Abi::kWitx}, {"once", Abi::kOnce}, {"wit", Abi::kWit}, {"wit-0.3", Abi::kWit03}})
                      .description(""));
  app.add_option("--engine", flags->engines, "The engine for core modules: wasmtime (default) or wamr")
      ->type_name("NAME,…")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->envname("WASINN_ENGINE")
      ->check(cli::CheckEngine);
  cli::AddParsed<std::vector<size_t>>(
      app, "--concurrency,--guests", ParseConcurrency,
      [flags](auto levels) { flags->options.concurrency = std::move(levels); },
      "Guests at once, and native threads, from START to END by STEP; default 1")
      ->type_name("N, START:END[:STEP]");
  auto* seconds = app.add_option("--seconds", flags->options.budget.seconds, "The time of each measurement; default 3")
                      ->type_name("S")
                      ->check(CLI::PositiveNumber.description(""));
  app.add_option("--iterations", flags->options.budget.iterations, "The number of inferences, instead of a time")
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
      "The shape of an input with open dimensions; default: 1 for each")
      ->type_name("NAME=1x3x224");
  app.add_flag_callback("--no-steps", [flags] { flags->options.steps = false; }, "Do not measure the host's steps");
  app.add_flag("--json", flags->json, "Print JSON");
  app.add_option("--csv", flags->csv, "Write a line for each number of guests")->type_name("FILE");
  app.add_option("--svg", flags->svg, "Draw rates and p99 over the number of guests")->type_name("FILE");
  app.footer(kFooter);
  cli::AddHostFlags(app, &flags->options.host);
  cli::AddModelFlags(app, &flags->options.host);
}

Result<std::vector<Report>> MeasureAll(const Flags& flags) {
  std::vector<Options> all = Combinations(flags);
  Progress progress(all.size() * StepsOf(flags.options));
  std::vector<Report> reports;
  for (Options& options : all) {
    options.on_step = [&](const std::string& step) {
      progress.Begin(options.model + " on " + options.engine + ", " + NameOf(options.abi) + ": " + step);
    };
    auto report = Measure(options);
    if (!report) return std::unexpected(report.error());
    reports.push_back(std::move(*report));
  }
  return reports;
}

void Print(std::span<const Report> reports, bool json) {
  std::string text;
  if (json) {
    text = ToJson(reports);
  } else {
    for (const Report& report : reports) text += (text.empty() ? "" : "\n") + ToText(report);
    if (reports.size() > 1) text += "\n" + ToComparison(reports);
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);  // before the message about it on stderr
}

// Does nothing if the file is written, or if there is none. "ae" keeps what the file has: this only checks that it can
// be written, before minutes of measuring.
std::string Write(const std::string& path, const std::string& text, const char* mode = "we") {
  if (path.empty()) return "";
  std::FILE* const file = std::fopen(path.c_str(), mode);
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  return written ? "" : "cannot write " + path + ": " + std::strerror(errno);
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
    return cli::UsageError("wasinn bench", cli::WhatIsWrong(app, error, argv));
  }
  for (const std::string& path : {flags.csv, flags.svg}) {
    if (const std::string error = Write(path, "", "ae"); !error.empty()) return cli::Fail(error);
  }
  RunUnderCounter();
  const auto reports = MeasureAll(flags);
  if (!reports) return cli::Fail(reports.error());
  Print(*reports, flags.json);
  for (const std::string& warning : NoiseWarnings(*reports)) cli::Log(WASINN_LOG_WARNING, warning.c_str());
  for (const std::string& error : {Write(flags.csv, ToCsv(*reports)), Write(flags.svg, ToSvg(*reports))}) {
    if (!error.empty()) return cli::Fail(error);
  }
  return 0;
}

}  // namespace
}  // namespace wasinn::bench

int main(int argc, char** argv) { return wasinn::cli::RunToItsEnd(wasinn::bench::Main, argc, argv); }
