// The flags of `wasinn run`.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/host_flags.h"
#include "cli/log.h"
#include "engines/engine.h"
#include "settings/outbound_hosts.h"

namespace wasinn::cli {

struct RunFlags {
  HostFlags host;
  engines::RunOptions run;
  std::string engine = "wasmtime";
  std::string trace, metrics, json;  // files; "": none
  bool stats = false;
  // With -S http: the hosts that the guest may send requests to, and the engine's function for that.
  settings::OutboundHosts outbound;
  engines::HttpPermission may_send;
  std::vector<std::pair<std::string, std::string>> file_env;  // from --env-file; --env overrides it
  engines::EngineOptions engine_options = {
      .warn = [](const std::string& what) { Log(WASINN_LOG_WARNING, what.c_str()); }, .compiling = LogCompiling};
};

// Each adds flags to a subcommand; `flags` must live as long as `app`.
void AddGuestFlags(CLI::App& app, RunFlags* flags);        // how the guest runs, and its arguments
void AddReportFlags(CLI::App& app, RunFlags* flags);       // files about the run
void AddProgramHostFlags(CLI::App& app, RunFlags* flags);  // for the host, models and limits

// The guest's environment, each name once: --env overrides --env-file, which overrides an inherited environment.
std::vector<std::pair<std::string, std::string>> EnvironmentOf(const RunFlags& flags);

}  // namespace wasinn::cli
