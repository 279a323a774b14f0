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
#include "cli/surroundings.h"
#include "engines/read_file.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

// Lines of NAME=VALUE or NAME, as for docker; # begins a comment.
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
  flags->host.has_one_guest = true;
  flags->host.grants_help =
      "inherit-env: with this environment; only for components, inherit-network:\nwith sockets, http: with wasi:http, "
      "for requests";
  AddParsed<engines::Directory>(
      app, "--dir", [](const std::string& text) { return ParseDirectory(text); },
      [flags](auto directory) { flags->run.directories.push_back(std::move(directory)); },
      "A folder that the guest may use, under the same name or as GUEST;\n:ro: it may only read there")
      ->type_name("HOST[::GUEST][:ro]");
  AddParsed<std::pair<std::string, std::string>>(
      app, "--env", ParseEnvironment, [flags](auto variable) { flags->run.env.push_back(std::move(variable)); },
      "An environment variable of the guest; without VALUE, this environment's value")
      ->type_name("NAME[=VALUE]");
  AddParsed<std::vector<Variable>>(
      app, "--env-file", ParseEnvironmentFile,
      [flags](const auto& file) { flags->file_env.insert(flags->file_env.end(), file.begin(), file.end()); },
      "A file with lines NAME=VALUE; --env overrides it")
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
