// wasinn run: a guest with its models, folders and environment.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "cli/command.h"
#include "cli/ending.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/host_flags.h"
#include "cli/log.h"
#include "cli/metrics_file.h"
#include "cli/run_guard.h"
#include "cli/trace_file.h"
#include "engines/engine.h"

namespace wasinn::cli {
namespace {

constexpr char kRunFooter[] =
    "Everything after MODULE goes to the guest. Its exit code is ours; 134 is a trap, 124 the end of\n"
    "--timeout, 125 an error of wasinn, 2 a wrong flag, 130 Ctrl-C, 143 SIGTERM. Settings and limits\n"
    "can come from the environment too: --nn-timeout is WASINN_NN_TIMEOUT. A flag beats the\n"
    "environment, the environment beats the file of --config.\n\n"
    "Examples:\n"
    "  wasinn run --model digits=digits.onnx --dir . classify.wasm photo.png\n"
    "  wasinn run --models models --env VERBOSE=1 --dir /data/images::/images:ro detect.wasm --fast\n"
    "  wasinn run --timeout 10s --max-memory 64M --nn-load deny -S nn-graph=onnx::fixture guest.wasm";

struct RunFlags {
  HostFlags host;
  engines::RunOptions run;
  std::string engine = "wasmtime";
  std::string trace, metrics;  // files; "": none
  engines::EngineOptions engine_options = {
      .warn = [](const std::string& what) { Log(WASINN_LOG_WARNING, what.c_str()); }};
};

// A:B, as other commands have it. WasmEdge's order is GUEST:HOST, and others' HOST:GUEST, so only what can have one
// meaning is taken.
settings::Parsed<engines::Directory> ParseOneColon(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string left = text.substr(0, colon), right = text.substr(colon + 1);
  std::error_code ignored;
  const bool is_left = std::filesystem::is_directory(left, ignored),
             is_right = std::filesystem::is_directory(right, ignored);
  if (left == right && is_left) return engines::Directory{left, right};
  const bool is_pair = !left.empty() && !right.empty() && right.find(':') == right.npos;
  if (is_pair && is_left != is_right) {
    return is_left ? engines::Directory{left, right} : engines::Directory{right, left};
  }
  return std::unexpected(fmt::format("'{}' is not HOST[::GUEST]: of '{}' and '{}', {} a folder here; write HOST::GUEST",
                                     text, left, right, is_left && is_right ? "each is" : "not one is"));
}

// HOST[::GUEST]
settings::Parsed<engines::Directory> ParseWritable(const std::string& text) {
  const size_t colons = text.find("::");
  std::error_code ignored;
  if (colons == text.npos && text.find(':') != text.npos && !std::filesystem::exists(text, ignored)) {
    return ParseOneColon(text);
  }
  engines::Directory directory{text.substr(0, colons), colons == text.npos ? text : text.substr(colons + 2)};
  if (directory.host.empty() || directory.guest.empty()) return std::unexpected("'" + text + "' is not HOST[::GUEST]");
  return directory;
}

// HOST[::GUEST][:ro]
settings::Parsed<engines::Directory> ParseDirectory(const std::string& text) {
  constexpr std::string_view kReadOnly = ":ro";
  const bool read_only = text.ends_with(kReadOnly);
  auto directory = ParseWritable(read_only ? text.substr(0, text.size() - kReadOnly.size()) : text);
  if (directory) directory->read_only = read_only;
  return directory;
}

// NAME=VALUE, or NAME for the value that the command itself got.
settings::Parsed<std::pair<std::string, std::string>> ParseEnvironment(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (name.empty()) return std::unexpected("'" + text + "' is not NAME=VALUE or NAME");
  if (equals != text.npos) return std::pair(name, text.substr(equals + 1));
  const char* inherited = std::getenv(name.c_str());
  if (inherited == nullptr) return std::unexpected("the environment has no " + name);
  return std::pair(name, std::string(inherited));
}

// Flags that the chosen engine has no use for.
void WarnOfIdleFlags(const RunFlags& flags) {
  const auto warn = [](const char* text) { Log(WASINN_LOG_WARNING, text); };
  const bool wamr = flags.engine == "wamr";
  if (wamr && !flags.engine_options.cache) warn("--no-cache has no effect: WAMR keeps no compiled code");
  if (wamr && flags.engine_options.pool.instances != 0) warn("engine.pool_instances has no effect: WAMR has no pool");
}

int Run(const CLI::App& app, RunFlags& flags, const std::vector<std::string>& module_and_args) {
  if (module_and_args.empty()) throw CLI::RequiredError("MODULE");
  if (module_and_args[0].starts_with('-')) throw CLI::ValidationError("run", "unknown flag " + module_and_args[0]);
  const std::string& module = module_and_args[0];
  flags.run.args = module_and_args;
  flags.run.args[0] = std::filesystem::path(module).filename().string();

  for (const std::string& name : UnknownLimits(app)) {
    Log(WASINN_LOG_WARNING, (name + " in the environment is no flag's, and limits nothing").c_str());
  }

  TraceFile trace;  // goes last
  if (!flags.trace.empty()) {
    if (!trace.Open(flags.trace, flags.run.directories)) {
      return Fail("cannot write the trace " + flags.trace + ": " + std::strerror(errno));
    }
    flags.host.spans = [&trace](const wasinn_span& span) { trace.Add(span); };
  }
  MetricsFile metrics;
  if (!flags.metrics.empty()) {
    if (!metrics.Open(flags.metrics, flags.run.directories)) {
      return Fail("cannot write the metrics " + flags.metrics + ": " + std::strerror(errno));
    }
    flags.host.settings.emplace_back("metrics", "true");
  }
  RunGuard guard;  // goes before it, and after all else
  // A mistake in the settings is told before a guest is compiled, which may take long.
  Result<Host> host = MakeHostAlone(flags.host);
  if (!host) return Fail(host.status().message());
  const Limits limits = host->limits();
  flags.engine_options.interruptible = limits.run_timeout_ms > 0;
  flags.engine_options.metered = limits.max_fuel > 0;
  flags.engine_options.guest_folders = flags.run.directories;
  const EngineOptions settings = host->engine_options();
  flags.engine_options.allow_precompiled |= settings.allow_precompiled;
  flags.engine_options.pool = PoolOf(settings);
  WarnOfIdleFlags(flags);
  auto engine = flags.engine == "wamr" ? engines::NewWamrEngine(flags.engine_options)
                                       : engines::NewWasmtimeEngine(flags.engine_options);
  if (!engine) return Fail(engine.error());
  const auto program = (*engine)->Load(module);
  if (!program) return Fail(program.error());

  if (const Status status = AddModels(flags.host, *host); !status.ok()) return Fail(status.message());
  GuestOptions options;
  options.name = flags.run.args[0];
  Result<Guest> guest = Guest::Create(*host, options);
  if (!guest) return Fail(guest.status().message());
  flags.run.guest = guest->get();
  flags.run.max_threads = limits.max_threads;
  flags.run.max_memory_bytes = limits.max_memory_bytes;
  flags.run.max_table_elements = limits.max_table_elements;
  flags.run.max_fuel = limits.max_fuel;
  const MetricsFile::Of of_host(metrics, *host);
  guard.Begin(guest->get(), std::chrono::milliseconds(limits.run_timeout_ms), [&trace, &metrics] {
    trace.Flush();
    metrics.Write();
  });
  const engines::Exit exit = (*program)->Run(flags.run);
  metrics.Write();  // the guest has run: its exit code counts for more than whether this works
  const int signal = guard.Over();
  if (signal == 0 && exit.kind != engines::Exit::Kind::kExited) Fail(module + ": " + exit.message);
  trace.Flush();
  return EndAtOnce(signal != 0 ? 128 + signal : exit.code);
}

}  // namespace

Command AddRunCommand(CLI::App& app) {
  CLI::App* run = app.add_subcommand("run", "Run a program");
  auto flags = std::make_shared<RunFlags>();
  run->prefix_command();  // from the first word that is no flag of ours
  run->formatter(std::make_shared<HelpFormatter>("MODULE [ARGS...]"));
  run->footer(kRunFooter);
  AddParsed<engines::Directory>(
      *run, "--dir", ParseDirectory,
      [flags](auto directory) { flags->run.directories.push_back(std::move(directory)); },
      "A folder that the guest may use, under the same name or GUEST;\n:ro keeps it from writing there")
      ->type_name("HOST[::GUEST][:ro]");
  AddParsed<std::pair<std::string, std::string>>(
      *run, "--env", ParseEnvironment, [flags](auto variable) { flags->run.env.push_back(std::move(variable)); },
      "An environment variable of the guest; without a value, ours")
      ->type_name("NAME[=VALUE]");
  run->add_option("--engine", flags->engine, "What runs the guest: wasmtime (default) or wamr")
      ->type_name("NAME")
      ->envname("WASINN_ENGINE")
      ->check(CheckEngine);
  run->add_flag_callback(
      "--no-cache", [flags] { flags->engine_options.cache = false; },
      "Compile the module anew instead of keeping compiled code");
  run->add_flag("--allow-precompiled", flags->engine_options.allow_precompiled,
                "Run files of native code, which no sandbox holds: those of `wasinn compile`\nand of WAMR's compiler");
  run->add_option("--trace", flags->trace,
                  "Write how long loads, waiting, computes and copies took, for each thread;\n"
                  "Perfetto and chrome://tracing show the file")
      ->type_name("FILE")
      ->envname("WASINN_TRACE");
  run->add_option("--metrics", flags->metrics,
                  "Write counters and times when the guest has ended, in Prometheus' format;\n- is stderr")
      ->type_name("FILE")
      ->envname("WASINN_METRICS");
  AddHostFlags(*run, &flags->host);
  AddModelFlags(*run, &flags->host);
  AddProgramFlags(*run, &flags->host);
  AddLimitFlags(*run, &flags->host);
  return {run, [run, flags] { return Run(*run, *flags, run->remaining()); }};
}

}  // namespace wasinn::cli
