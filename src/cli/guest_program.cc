#include "cli/guest_program.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "cli/artifact_paths.h"
#include "cli/flags.h"
#include "cli/log.h"
#include "cli/other_programs.h"
#include "cli/progress.h"

namespace wasinn::cli {
namespace {

// Warns of flags that the chosen engine does not use.
void WarnOfIdleFlags(const RunFlags& flags) {
  if (flags.engine != "wamr") return;
  const auto warn = [](const char* text) { Log(WASINN_LOG_WARNING, text); };
  const engines::EngineOptions& options = flags.engine_options;
  if (!options.cache) warn("--no-cache has no effect: WAMR keeps no compiled code");
  if (options.pool.instances != 0) warn("engine.pool_instances has no effect: WAMR has no pool");
  if (options.profile != engines::Profile::kNone) warn("--profile has no effect: WAMR writes nothing for perf");
  if (flags.run.inherit_network) warn("-S inherit-network has no effect: WAMR's guests have no sockets here");
  if (options.http) warn("-S http has no effect: WAMR runs no components");
}

// As for routes of `wasinn serve`.
engines::Result<void> LetSend(RunFlags& flags, const Host& host) {
  auto hosts = settings::OutboundHosts::Parse(host.policy().allowed_outbound_hosts);
  if (!hosts) return std::unexpected(hosts.error());
  flags.outbound = std::move(*hosts);
  flags.may_send = [&flags](std::string_view scheme, std::string_view authority) {
    return flags.outbound.Allow(scheme, authority);
  };
  if (!flags.outbound.empty()) flags.run.may_send = &flags.may_send;
  return {};
}

}  // namespace

void PrepareRun(const CLI::App& app, RunFlags& flags, const std::vector<std::string>& module_and_args) {
  if (module_and_args.empty()) throw CLI::RequiredError("MODULE");
  const std::string& module = module_and_args[0];
  if (module.starts_with('-') && module != "-") throw CLI::ExtrasError({module});
  flags.run.args = module_and_args;
  flags.run.args[0] = std::filesystem::path(module).filename().string();
  flags.run.env = EnvironmentOf(flags);
  flags.host.guest_folders = flags.run.directories;
  flags.run.inherit_network = flags.host.Grants("inherit-network");
  flags.engine_options.http = flags.host.Grants("http");

  for (const std::string& name : UnknownLimits(app)) {
    Log(WASINN_LOG_WARNING, (name + " in the environment belongs to no flag, and limits nothing").c_str());
  }
}

engines::Result<std::string> FindModule(RunFlags& flags, const std::string& module) {
  auto file = LocalGuest(module, flags.run.directories);
  if (file) flags.run.args[0] = std::filesystem::path(*file).filename().string();
  return file;
}

engines::Result<std::unique_ptr<engines::Program>> LoadProgram(RunFlags& flags, const Host& host,
                                                               const std::string& module) {
  const Limits limits = host.limits();
  engines::EngineOptions& options = flags.engine_options;
  options.interruptible = limits.run_timeout_ms > 0;
  options.metered = host.engine_limits().max_fuel > 0;
  options.guest_folders = flags.run.directories;
  const EngineOptions settings = host.engine_options();
  options.allow_precompiled |= settings.allow_precompiled;
  options.pool = PoolOf(settings);
  options.compile = CompileLimitsOf(settings);
  if (options.http) {
    if (auto sends = LetSend(flags, host); !sends) return std::unexpected(sends.error());
  }
  WarnOfIdleFlags(flags);
  const bool wamr = flags.engine == "wamr";
  if (wamr && engines::WamrVersion().version.empty()) {
    return std::unexpected("this wasinn was built without WAMR; to get it: " + HowToGetWamr());
  }
  auto engine = wamr ? engines::NewWamrEngine(options) : engines::NewWasmtimeEngine(options);
  if (!engine) return std::unexpected(engine.error());
  const Progress progress("compiling " + module);
  return (*engine)->Load(module == "-" ? "/dev/stdin" : module);
}

void SetLimits(RunFlags& flags, const Host& host) {
  const EngineLimits limits = host.engine_limits();
  flags.run.max_threads = limits.max_threads;
  flags.run.max_memory_bytes = host.limits().max_memory_bytes;
  flags.run.max_table_elements = limits.max_table_elements;
  flags.run.max_fuel = limits.max_fuel;
}

}  // namespace wasinn::cli
