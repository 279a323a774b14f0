// wasinn run: runs a guest with its models, folders and environment.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>

#include "cli/command.h"
#include "cli/ending.h"
#include "cli/guest_program.h"
#include "cli/help.h"
#include "cli/host_flags.h"
#include "cli/log.h"
#include "cli/metrics_file.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/run_flags.h"
#include "cli/run_guard.h"
#include "cli/run_report.h"
#include "cli/trace_file.h"
#include "engines/engine.h"

namespace wasinn::cli {
namespace {

constexpr char kRunFooter[] =
    "Everything after MODULE goes to the guest. wasinn exits with the guest's exit code, or with 134 for a\n"
    "trap, 124 for --timeout, 125 for an error of wasinn, 2 for a wrong flag, 130 for Ctrl-C, 143 for SIGTERM.\n"
    "Settings and limits may also come from the environment: WASINN_NN_TIMEOUT is --nn-timeout. A flag overrides\n"
    "the environment, the environment overrides the file of --config.\n\n"
    "Examples:\n"
    "  wasinn run --model digits=digits.onnx --dir . classify.wasm photo.png\n"
    "  wasinn run --models models --env VERBOSE=1 --dir /data/images::/images:ro detect.wasm --fast\n"
    "  wasinn run --timeout 10s --max-memory 64M --nn-load deny -S nn-graph=onnx::fixture guest.wasm";

// Writes at once, like the guest itself.
void PrintPiece(std::string_view piece) {
  const char* text = piece.data();
  size_t size = piece.size();
  while (size > 0) {
    const ssize_t written = write(STDOUT_FILENO, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the guest's own writes report the error
    text += written;
    size -= static_cast<size_t>(written);
  }
}

// Files about the run, which are opened before the guest runs.
struct Reports {
  TraceFile trace;
  MetricsFile metrics;
  ReportFile json;
  RunReport report;
  bool stats = false;

  // 0, or the exit code.
  int Open(RunFlags& flags);
  void Add(const wasinn_span& span) {
    if (traces) trace.Add(span);
    report.Add(span);
  }
  // Thread-safe, even during another call.
  void Write(const engines::Exit& exit, int code);

 private:
  bool traces = false;
  std::mutex mutex_;  // for the report's file, and stderr
  bool is_reported_ = false;
};

int Reports::Open(RunFlags& flags) {
  const auto fail = [](const char* what, const std::string& file) {
    return Fail(fmt::format("cannot write {} {}: {}", what, file, std::strerror(errno)));
  };
  const std::vector<engines::Directory>& folders = flags.run.directories;
  if (!flags.trace.empty() && !trace.Open(flags.trace, folders)) return fail("the trace", flags.trace);
  if (!flags.metrics.empty() && !metrics.Open(flags.metrics, folders)) return fail("the metrics", flags.metrics);
  if (!flags.json.empty() && !json.Open(flags.json, folders)) return fail("the outcome", flags.json);
  json.Clear();  // removes an earlier run's report, in case this one ends before it writes
  traces = !flags.trace.empty();
  stats = flags.stats;
  if (traces || stats || json.is_open()) {
    flags.host.spans = [this](const wasinn_span& span) { Add(span); };
  }
  if (!flags.metrics.empty()) flags.host.settings.emplace_back("metrics", "true");
  return 0;
}

void Reports::Write(const engines::Exit& exit, int code) {
  report.End(exit, code);
  metrics.Write();
  const std::lock_guard lock(mutex_);
  if (is_reported_) return;
  is_reported_ = true;
  json.Write(report.ToJson(), "the outcome");
  if (stats) std::fputs(report.ToText().c_str(), stderr);
}

int Run(const CLI::App& app, RunFlags& flags, const std::vector<std::string>& module_and_args) {
  PrepareRun(app, flags, module_and_args);
  const std::string& module = module_and_args[0];
  Reports reports;  // destroyed last
  if (const int code = reports.Open(flags); code != 0) return code;
  reports.report.Begin(module, flags.engine);
  const auto fail = [&](const std::string& why, const std::string* program = nullptr) {
    const int code = program != nullptr ? FailWithLines(*program, why) : Fail(why);
    reports.Write(engines::Exit::Failed(why), code);
    return code;
  };
  RunGuard guard;  // destroyed before it, and after all others
  // Errors in the settings are reported before a guest is compiled, which may take long.
  Result<Host> host = [&flags] {
    const Progress progress("loading models");  // with `preload`
    return MakeHostAlone(flags.host);
  }();
  if (!host) return fail(host.status().message());
  const auto file = FindModule(flags, module);
  if (!file) return fail(file.error());
  const auto program = LoadProgram(flags, *host, *file);
  if (!program) return fail(program.error(), &*file);

  if (const Status status = AddModels(flags.host, *host); !status.ok()) return fail(status.message());
  GuestOptions options;
  options.name = flags.run.args[0];
  options.print = PrintPiece;
  Result<Guest> guest = Guest::Create(*host, options);
  if (!guest) return fail(guest.status().message());
  flags.run.guest = guest->get();
  const Limits limits = host->limits();
  SetLimits(flags, *host);
  const MetricsFile::Of of_host(reports.metrics, *host);
  reports.report.Running(guest->get());
  guard.Begin(guest->get(), std::chrono::milliseconds(limits.run_timeout_ms), [&reports](int code) {
    reports.trace.Flush();
    const bool is_late = code == engines::Exit::Interrupted("").code;
    reports.Write(engines::Exit::Interrupted(is_late ? "the guest did not end" : "the guest was stopped"), code);
  });
  engines::Exit exit = (*program)->Run(flags.run);
  // The guest has run: its exit code matters more than errors in writing reports.
  const int signal = guard.Over(), code = signal != 0 ? 128 + signal : exit.code;
  // Perhaps in a sleep, from which it went on to its end.
  if (signal != 0) exit = engines::Exit::Interrupted("the guest was stopped");
  if (signal == 0 && exit.kind != engines::Exit::Kind::kExited) FailWithLines(module, module + ": " + exit.message);
  reports.Write(exit, code);
  reports.trace.Flush();
  return EndAtOnce(code);
}

}  // namespace

Command AddRunCommand(CLI::App& app) {
  CLI::App* run = app.add_subcommand("run", "Run a program");
  auto flags = std::make_shared<RunFlags>();
  run->prefix_command();  // from the first word that is no flag
  run->formatter(std::make_shared<HelpFormatter>("MODULE [ARGS...]"));
  run->footer(kRunFooter);
  AddGuestFlags(*run, flags.get());
  AddReportFlags(*run, flags.get());
  AddProgramHostFlags(*run, flags.get());
  return {run, [run, flags] { return Run(*run, *flags, run->remaining()); }};
}

}  // namespace wasinn::cli
