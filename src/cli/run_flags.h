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
  // With -S http: whom the guest may send requests to, and that for the engine.
  settings::OutboundHosts outbound;
  engines::HttpPermission may_send;
  std::vector<std::pair<std::string, std::string>> file_env;  // of --env-file, which --env beats
  engines::EngineOptions engine_options = {
      .warn = [](const std::string& what) { Log(WASINN_LOG_WARNING, what.c_str()); }};
};

// Each adds flags to a subcommand; `flags` must live as long as `app`.
void AddGuestFlags(CLI::App& app, RunFlags* flags);        // what runs the guest, and what it gets
void AddReportFlags(CLI::App& app, RunFlags* flags);       // files about the run
void AddProgramHostFlags(CLI::App& app, RunFlags* flags);  // the host's, models and limits

// All of the guest's environment, each name once: --env beats --env-file, which beats ours where the guest inherits it.
std::vector<std::pair<std::string, std::string>> EnvironmentOf(const RunFlags& flags);

}  // namespace wasinn::cli
