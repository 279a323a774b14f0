// The flags that configure a host, the same for every subcommand with one, and their configuration keys.
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
  SpanFunction spans;                             // empty: none
  LogFunction log;                                // empty: the command's
  const char* grants_help = nullptr;              // for -S: the help on grants to a program; NULL: there are none
  bool has_one_guest = false;                     // it may use all places for computes
  std::vector<engines::Directory> guest_folders;  // the store of artifacts may be in none of them
  std::vector<std::string> grants;                // by -S, to a program: inherit-env, inherit-network, http

  bool Grants(std::string_view grant) const { return std::ranges::find(grants, grant) != grants.end(); }
};

// Each adds a group of flags to a subcommand; `flags` must live as long as `app`. A flag --nn-max-graphs may also be
// given as the environment variable WASINN_NN_MAX_GRAPHS.
void AddHostFlags(CLI::App& app, HostFlags* flags);     // --config, --threads, --log-level
void AddModelFlags(CLI::App& app, HostFlags* flags);    // --model, --models, -S, --nn-preload
void AddLimitFlags(CLI::App& app, HostFlags* flags);    // --nn-...
void AddProgramFlags(CLI::App& app, HostFlags* flags);  // --timeout, --max-..., -W: for commands that run the guest
void AddCompileFlags(CLI::App& app,
                     HostFlags* flags);  // --compile-timeout, --max-compile-memory: AddProgramFlags adds them, too
// As above, for commands in which a guest answers each request.
void AddRouteLimitFlags(CLI::App& app, HostFlags* flags);
// --allow-outbound. `whom`: the beginning of its help.
void AddOutboundFlag(CLI::App& app, HostFlags* flags, const std::string& whom);

// The host of the flags: the file's settings, then the flags', which override them. Its log goes to the command's.
// Models in registries are pulled before.
Result<Host> MakeHost(const HostFlags& flags);
// As above in two steps: the host of the settings, which reports their errors, then the models of the flags.
Result<Host> MakeHostAlone(const HostFlags& flags);
Status AddModels(const HostFlags& flags, Host& host);
// Pulls all models, so that later steps find local files.
Status PullModels(const HostFlags& flags);

engines::Pool PoolOf(const EngineOptions& settings);
engines::CompileLimits CompileLimitsOf(const EngineOptions& settings);

}  // namespace wasinn::cli
