// wasinn models pull and wasinn models prune: fetch artifacts from registries, and remove them.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/host_flags.h"

namespace wasinn::cli {

struct PullFlags {
  CLI::App* pull = nullptr;
  CLI::App* prune = nullptr;
  std::vector<std::string> references;
  uint32_t unused_ms = 0;

  bool are_given() const { return pull->parsed() || prune->parsed(); }
};

// `flags` must live as long as `models`.
void AddPullCommands(CLI::App& models, PullFlags* flags);

// Runs the given command. Returns the exit code.
int RunPullCommand(const PullFlags& flags, const HostFlags& host, bool json);

}  // namespace wasinn::cli
