#include "cli/run_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "cli/flags.h"
#include "engines/read_file.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

using Variable = std::pair<std::string, std::string>;

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
    const auto directory = is_left ? engines::Directory{left, right} : engines::Directory{right, left};
    if (directory.guest.starts_with('/') || directory.guest.starts_with('.')) return directory;
    // Else a :ro that is misspelled would be the name of a folder that the guest may write.
    return std::unexpected(
        fmt::format("'{}' is not HOST[::GUEST][:ro]: '{}' is neither ro nor a guest's path that "
                    "begins with / or .; or write HOST::GUEST",
                    text, directory.guest));
  }
  return std::unexpected(
      fmt::format("'{}' is not HOST[::GUEST]: {} of '{}' and '{}' is a folder here; write HOST::GUEST", text,
                  is_left && is_right ? "each" : "neither", left, right));
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
  const size_t more = colons == text.npos ? text.npos : directory.guest.rfind(':');
  if (more != text.npos && (more == 0 || directory.guest[more - 1] != ':')) {
    return std::unexpected(
        fmt::format("'{}' is not HOST[::GUEST][:ro]: '{}' is not ro", text, directory.guest.substr(more + 1)));
  }
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
settings::Parsed<Variable> ParseEnvironment(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (name.empty()) return std::unexpected("'" + text + "' is not NAME=VALUE or NAME");
  if (equals != text.npos) return Variable(name, text.substr(equals + 1));
  const char* inherited = std::getenv(name.c_str());
  if (inherited == nullptr) return std::unexpected("the environment has no " + name);
  return Variable(name, inherited);
}

// Lines of NAME=VALUE or NAME, as docker has them; # begins a comment's line.
settings::Parsed<std::vector<Variable>> ParseEnvironmentFile(const std::string& path) {
  const auto text = engines::ReadFile(path);
  if (!text) return std::unexpected(text.error());
  std::vector<Variable> variables;
  size_t number = 0;
  for (std::string line : settings::Split(*text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty() || line.starts_with('#')) continue;
    settings::Parsed<Variable> variable = ParseEnvironment(line);
    if (!variable) return std::unexpected(fmt::format("{}:{}: {}", path, number, variable.error()));
    variables.push_back(std::move(*variable));
  }
  return variables;
}

}  // namespace

void AddGuestFlags(CLI::App& app, RunFlags* flags) {
  flags->host.runs_program = true;
  AddParsed<engines::Directory>(
      app, "--dir", ParseDirectory, [flags](auto directory) { flags->run.directories.push_back(std::move(directory)); },
      "A folder that the guest may use, under the same name or as GUEST;\n:ro: it may only read there")
      ->type_name("HOST[::GUEST][:ro]");
  AddParsed<std::pair<std::string, std::string>>(
      app, "--env", ParseEnvironment, [flags](auto variable) { flags->run.env.push_back(std::move(variable)); },
      "An environment variable of the guest; without VALUE, this environment's value")
      ->type_name("NAME[=VALUE]");
  AddParsed<std::vector<Variable>>(
      app, "--env-file", ParseEnvironmentFile,
      [flags](const auto& file) { flags->file_env.insert(flags->file_env.end(), file.begin(), file.end()); },
      "A file with lines NAME=VALUE; --env beats it")
      ->type_name("FILE");
  app.add_option("--invoke", flags->engine_options.invoke,
                 "Call this exported function, not the program's start. ARGS are its values:\nnumbers or, for "
                 "components, WAVE; its results are printed")
      ->type_name("FUNC");
  app.add_option("--engine", flags->engine, "The engine that runs the guest; default wasmtime")
      ->type_name("wasmtime|wamr")
      ->envname("WASINN_ENGINE")
      ->check(CheckEngine);
  app.add_flag_callback(
      "--no-cache", [flags] { flags->engine_options.cache = false; },
      "Compile the module again, and keep no compiled code");
  app.add_flag(
      "--allow-precompiled", flags->engine_options.allow_precompiled,
      "Run files of native code, which no sandbox confines: those of `wasinn compile`\nand of WAMR's compiler");
}

void AddReportFlags(CLI::App& app, RunFlags* flags) {
  app.add_option("--trace", flags->trace,
                 "Write the times of loads, waiting, computes and copies, for each thread;\n"
                 "Perfetto and chrome://tracing show the file")
      ->type_name("FILE")
      ->envname("WASINN_TRACE");
  app.add_option("--metrics", flags->metrics,
                 "Write counters and times at the guest's end, in Prometheus' format; - is stderr")
      ->type_name("FILE")
      ->envname("WASINN_METRICS");
  app.add_option("--json", flags->json,
                 "Write how the run ended, what it used, and its times, as a JSON object;\n- is stderr")
      ->type_name("FILE");
  app.add_flag("--stats", flags->stats, "Print the same on stderr, as text, at the guest's end");
  const std::map<std::string, engines::Profile> profiles = {{"perfmap", engines::Profile::kPerfMap},
                                                            {"jitdump", engines::Profile::kJitDump}};
  app.add_option("--profile", flags->engine_options.profile,
                 "Write the names of the guest's functions for perf(1): to /tmp/perf-PID.map, or to\njit-PID.dump here")
      ->type_name("perfmap|jitdump")
      ->transform(CLI::CheckedTransformer(profiles).description(""));
}

void AddProgramHostFlags(CLI::App& app, RunFlags* flags) {
  AddHostFlags(app, &flags->host);
  AddModelFlags(app, &flags->host);
  AddOutboundFlag(app, &flags->host, "With -S http: origins to which the guest may send requests");
  AddProgramFlags(app, &flags->host);
  AddLimitFlags(app, &flags->host);
}

std::vector<Variable> EnvironmentOf(const RunFlags& flags) {
  std::vector<Variable> all;
  std::map<std::string, size_t> places;
  const auto set = [&](const Variable& variable) {
    const auto [place, is_new] = places.try_emplace(variable.first, all.size());
    if (is_new) {
      all.push_back(variable);
    } else {
      all[place->second].second = variable.second;
    }
  };
  const bool inherits = flags.host.Grants("inherit-env");
  for (char** ours = environ; inherits && *ours != nullptr; ++ours) {
    const std::string_view text = *ours;
    const size_t equals = text.find('=');
    if (equals != text.npos) set({std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))});
  }
  for (const Variable& variable : flags.file_env) set(variable);
  for (const Variable& variable : flags.run.env) set(variable);
  return all;
}

}  // namespace wasinn::cli
