// wasinn check: whether a model and a guest fit, by the guest's imports and a run.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/artifact_paths.h"
#include "cli/command.h"
#include "cli/ending.h"
#include "cli/guest_program.h"
#include "cli/help.h"
#include "cli/log.h"
#include "cli/progress.h"
#include "cli/run_flags.h"
#include "cli/run_guard.h"
#include "cli/run_report.h"
#include "cli/signature_text.h"
#include "engines/wasm_file.h"
#include "engines/wasm_sections.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDoesNotFit = 1;

constexpr char kCheckFooter[] =
    "Loads the model, lists the guest's imports, and runs the guest. Give it the flags and arguments of\n"
    "`wasinn run`. For each failed call of wasi-nn it says what was expected and what came. The guest's\n"
    "standard output goes to stderr. Exits with 0 if the guest computed MODEL by its name and no call failed,\n"
    "else with 1. It only sees the calls of this run.\n\n"
    "Examples:\n"
    "  wasinn check digits.onnx --dir . classify.wasm photo.png\n"
    "  wasinn check names=digits.onnx guest.wasm";

// The host's errors about the guest.
class Complaints {
 public:
  // Thread-safe.
  void Add(const wasinn_log_record& record) {
    const std::string_view text = record.message;
    const size_t end = record.guest != 0 ? text.find("': ") : text.npos;
    if (end == text.npos) return LogRecord(record);
    const std::lock_guard lock(mutex_);
    const std::string words = settings::Printable(text.substr(end + 3));
    if (seen_.insert(words).second) all_.push_back(words);  // a guest may try again
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::set<std::string> seen_;
  std::vector<std::string> all_;
};

struct Verdict {
  std::string name;  // the model's
  Signature signature;
  std::vector<std::string> imports;     // of wasi-nn
  std::vector<std::string> complaints;  // failed calls
  engines::Exit exit;
  RunReport::Sum sum;
  std::string run;             // as JSON
  std::string missing_folder;  // it contains a file in the guest's arguments, and the guest does not have it; "": none

  bool HasComputed() const { return sum.computed + sum.steps > 0; }
  bool Fits() const { return HasComputed() && sum.errors == 0 && exit.kind == engines::Exit::Kind::kExited; }
  // Nothing failed, and no call was made that would show a failure.
  bool IsOpen() const {
    return exit.kind == engines::Exit::Kind::kExited && sum.errors == 0 && !Fits() && !imports.empty();
  }
  std::string Why() const {
    if (exit.kind != engines::Exit::Kind::kExited) return "the guest's run failed: " + exit.message;
    if (sum.errors > 0) return fmt::format("calls that failed: {}", sum.errors);
    if (imports.empty()) return "the guest does not import wasi-nn";
    if (!HasComputed() && sum.others > 0) {
      return fmt::format("the guest computed other models in this run ({} times), and never '{}'", sum.others,
                         settings::PrintableName(name));
    }
    if (!HasComputed() && !missing_folder.empty()) {
      return fmt::format(
          "the guest computed nothing in this run, and has no folder with its arguments: does `--dir {}` help?",
          missing_folder);
    }
    if (!HasComputed())
      return "the guest computed nothing in this run; which arguments, which folder (--dir) or what on its standard "
             "input does it want?";
    if (sum.computed == 0)
      return fmt::format("steps of a generation that went well: {}, and no call failed", sum.steps);
    return fmt::format("computes that went well: {}, and no call failed", sum.computed);
  }
};

// The folder of the first argument that names a local file which the guest cannot see; "": there is none.
std::string MissingFolder(const engines::RunOptions& run) {
  namespace fs = std::filesystem;
  for (size_t i = 1; i < run.args.size(); ++i) {
    std::error_code ignored;
    const fs::path path = run.args[i];
    if (path.empty() || !fs::exists(path, ignored)) continue;
    const fs::path parent = fs::is_directory(path, ignored) ? path : path.parent_path();
    const std::string folder = parent.empty() ? "." : parent.string();
    const bool is_there = std::ranges::any_of(run.directories, [&](const engines::Directory& directory) {
      const fs::path inside = fs::path(folder).lexically_normal().lexically_relative(directory.guest);
      return directory.guest == "." || (!inside.empty() && *inside.begin() != "..");
    });
    if (!is_there) return folder;
  }
  return "";
}

// "wasi_ephemeral_nn.load", or an interface of a component.
std::vector<std::string> ImportsOfNn(const std::string& path, const engines::CompileLimits& limits) {
  std::vector<std::string> names;
  engines::Result<engines::WasmFile> file = engines::ReadWasmFile(path);
  if (!file) return names;  // the engine reports it
  if (file->kind == engines::WasmKind::kText) {
    engines::Result<std::string> wasm = engines::ParseText(file->bytes, limits);
    if (!wasm) return names;
    file->bytes = std::move(*wasm);
  }
  for (const engines::Import& import : engines::ImportsOf(file->bytes)) {
    const bool is_nn = import.module.starts_with("wasi_ephemeral_nn") || import.module.starts_with("wasi_nn") ||
                       import.module.starts_with("wasi:nn") || import.module.starts_with("wasinn");
    if (is_nn)
      names.push_back(std::string(import.module) + (import.name.empty() ? "" : ".") + std::string(import.name));
  }
  return names;
}

// MODEL is a path, whose file gives the name, or NAME=PATH.
settings::ModelFlag ReadModel(const std::string& text) {
  std::error_code ignored;
  const std::filesystem::path path = text;
  const bool is_path = std::filesystem::exists(path, ignored) || text.find('=') == text.npos;
  const std::string name = std::filesystem::path(NameOfPath(text)).stem().string();
  auto model = settings::ParseModelFlag(is_path ? name + "=" + text : text);
  if (!model) throw CLI::ValidationError("MODEL", model.error());
  model->flag = "MODEL";
  return *model;
}

// During its life, the standard output goes to stderr.
class OutputAside {
 public:
  OutputAside() : kept_(dup(STDOUT_FILENO)) { dup2(STDERR_FILENO, STDOUT_FILENO); }
  ~OutputAside() {
    std::fflush(stdout);
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }
  OutputAside(const OutputAside&) = delete;
  OutputAside& operator=(const OutputAside&) = delete;

 private:
  const int kept_;
};

std::string ToJson(const Verdict& verdict) {
  return Dump({{"fits", verdict.IsOpen() ? Json() : Json(verdict.Fits())},
               {"why", verdict.Why()},
               {"model", verdict.name},
               {"inputs", IosToJson(verdict.signature.inputs)},
               {"outputs", IosToJson(verdict.signature.outputs)},
               {"imports", verdict.imports},
               {"failed_calls", verdict.complaints},
               {"run", Json::parse(verdict.run)}});
}

std::string ToText(const Verdict& verdict) {
  std::string text = fmt::format("model {}\n  in   {}\n  out  {}\n", settings::PrintableName(verdict.name),
                                 LineOf(verdict.signature.inputs), LineOf(verdict.signature.outputs));
  text += "the guest imports\n";
  for (const std::string& import : verdict.imports) text += "  " + settings::PrintableName(import) + "\n";
  if (verdict.imports.empty()) text += "  nothing of wasi-nn\n";
  if (!verdict.complaints.empty()) text += "calls that failed\n";
  for (const std::string& complaint : verdict.complaints) text += "  " + settings::PrintableName(complaint) + "\n";
  text += verdict.Fits() ? "fits: " : verdict.IsOpen() ? "not known whether it fits: " : "does not fit: ";
  for (const char c : settings::Printable(verdict.Why())) {
    text += c;
    if (c == '\n') text += "  ";  // so that no line of a backtrace, which has the guest's names, looks like a verdict
  }
  return text + "\n";
}

// Runs the guest with the host's defaults. Returns the signal that stopped it, or 0.
engines::Result<int> RunGuest(RunFlags& flags, Host& host, const engines::Program& program, RunReport& report,
                              Verdict& verdict) {
  GuestOptions options;
  options.name = flags.run.args[0];
  Result<Guest> guest = Guest::Create(host, options);
  if (!guest) return std::unexpected(guest.status().message());
  flags.run.guest = guest->get();
  SetLimits(flags, host);
  RunGuard guard;
  report.Running(guest->get());
  guard.Begin(guest->get(), std::chrono::milliseconds(host.limits().run_timeout_ms), [](int) {});
  const OutputAside aside;
  verdict.exit = program.Run(flags.run);
  const int signal = guard.Over();
  report.End(verdict.exit, verdict.exit.code);
  return signal;
}

struct CheckModelFlags {
  RunFlags run;
  std::string model;
  bool json = false;
};

int Run(const CLI::App& app, CheckModelFlags& check) {
  RunFlags& flags = check.run;
  const std::vector<std::string> words = app.remaining();
  if (words.empty()) throw CLI::RequiredError("GUEST");
  if (words[0] == "-") throw CLI::ValidationError("GUEST", "is a file: what the guest imports is read before it runs");
  PrepareRun(app, flags, words);
  const settings::ModelFlag model = ReadModel(check.model);
  flags.host.models.push_back(model);
  Complaints complaints;  // outlive the host
  RunReport report;
  flags.host.log = [&complaints](const wasinn_log_record& record) { complaints.Add(record); };
  flags.host.spans = [&report](const wasinn_span& span) { report.Add(span); };
  Result<Host> host = MakeHost(flags.host);
  if (!host) return Fail(host.status().message());
  Verdict verdict;
  verdict.name = model.name;
  Result<Signature> signature = [&] {
    const Progress progress("loading " + model.name);
    return host->Inspect(model.name);
  }();
  if (!signature) return Fail(signature.status().message());
  verdict.signature = std::move(*signature);
  const auto guest = FindModule(flags, words[0]);
  if (!guest) return Fail(guest.error());
  report.Begin(words[0], flags.engine);
  const auto program = LoadProgram(flags, *host, *guest);
  if (!program) return FailWithLines(*guest, program.error());
  verdict.imports = ImportsOfNn(*guest, CompileLimitsOf(host->engine_options()));
  const engines::Result<int> signal = RunGuest(flags, *host, **program, report, verdict);
  if (!signal) return Fail(signal.error());
  if (*signal != 0) return EndAtOnce(128 + *signal);  // its result is unknown
  verdict.complaints = complaints.all();
  verdict.sum = report.Total(model.name);
  verdict.run = report.ToJson();
  verdict.missing_folder = MissingFolder(flags.run);
  std::fputs((check.json ? ToJson(verdict) : ToText(verdict)).c_str(), stdout);
  return EndAtOnce(verdict.Fits() ? 0 : kDoesNotFit);
}

}  // namespace

Command AddCheckCommand(CLI::App& app) {
  CLI::App* check = app.add_subcommand("check", "Check whether a model and a guest fit: names, types and shapes");
  auto flags = std::make_shared<CheckModelFlags>();
  check->prefix_command();  // from GUEST on
  check->formatter(std::make_shared<HelpFormatter>("MODEL GUEST [ARGS...]"));
  check->add_option("MODEL", flags->model, "NAME=PATH, or a PATH; then the file's name is the model's name")
      ->required();
  check->add_flag("--json", flags->json, "Print JSON");
  AddGuestFlags(*check, &flags->run);
  AddProgramHostFlags(*check, &flags->run);
  check->footer(kCheckFooter);
  return {check, [check, flags] { return Run(*check, *flags); }};
}

}  // namespace wasinn::cli
