// The flags that make a host, the same for every subcommand that needs one, and what they mean for its configuration.
#pragma once

#include <CLI/App.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "engines/engine.h"
#include "settings/model_flags.h"

namespace wasinn::cli {

struct HostFlags {
  std::string config_file;
  std::vector<std::pair<std::string, std::string>> settings;  // config keys and values, in the order of the flags
  std::vector<settings::ModelFlag> models;
  std::vector<std::string> model_dirs;
  SpanFunction spans;                             // none: nobody asks
  LogFunction log;                                // none: the command's
  const char* grants_help = nullptr;              // of -S: what it may give to a program; NULL: there is none
  bool has_one_guest = false;                     // which may have all places for computes, as that program may
  std::vector<engines::Directory> guest_folders;  // in which nothing that is pulled may lie
  std::vector<std::string> grants;                // that a program is given by -S: inherit-env, inherit-network, http

  bool Grants(std::string_view grant) const { return std::ranges::find(grants, grant) != grants.end(); }
};

// Each adds a group of flags to a subcommand; `flags` must live as long as `app`. A flag --nn-max-graphs may be given
// as the environment variable WASINN_NN_MAX_GRAPHS too.
void AddHostFlags(CLI::App& app, HostFlags* flags);     // --config, --threads, --log-level
void AddModelFlags(CLI::App& app, HostFlags* flags);    // --model, --models, -S, --nn-preload
void AddLimitFlags(CLI::App& app, HostFlags* flags);    // --nn-...
void AddProgramFlags(CLI::App& app, HostFlags* flags);  // --timeout, --max-..., -W: for who runs the guest
void AddCompileFlags(CLI::App& app,
                     HostFlags* flags);  // --compile-timeout, --max-compile-memory: as AddProgramFlags does
// The same for who has a guest answer each request.
void AddRouteLimitFlags(CLI::App& app, HostFlags* flags);
// --allow-outbound. `whom`: the first words of its help.
void AddOutboundFlag(CLI::App& app, HostFlags* flags, const std::string& whom);

// The host that the flags ask for: the file's settings, then the flags', which win. Its log goes to the command's. Models that lie in
// registries are pulled before.
Result<Host> MakeHost(const HostFlags& flags);
// The same in two steps: the host of the settings, whose mistakes show here, then the models of the flags.
Result<Host> MakeHostAlone(const HostFlags& flags);
Status AddModels(const HostFlags& flags, Host& host);
// Pulls all of these, so that what comes after finds them here.
Status PullModels(const HostFlags& flags);

engines::Pool PoolOf(const EngineOptions& settings);
engines::CompileLimits CompileLimitsOf(const EngineOptions& settings);

}  // namespace wasinn::cli
