// wasinn backends: the frameworks of this host.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/host_flags.h"
#include "cli/log.h"
#include "cli/table.h"
#ifdef WASINN_HAVE_WORKERS
#include "worker/sandbox_support.h"
#endif

namespace wasinn::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BackendsFlags {
  HostFlags host;
  bool json = false;
  bool verbose = false;
};

// The places of a key.
constexpr std::pair<uint32_t, const char*> kPlaces[] = {
    {WASINN_KEY_BACKEND, "backend"}, {WASINN_KEY_MODEL, "model"}, {WASINN_KEY_GUEST, "guest"}};

std::vector<std::string> PlacesOf(const wasinn_key& key) {
  std::vector<std::string> places;
  for (const auto& [bit, name] : kPlaces) {
    if ((key.where & bit) != 0) places.emplace_back(name);
  }
  return places;
}

std::span<const wasinn_key> KeysOf(const BackendReport& backend) { return {backend.keys, backend.n_keys}; }

Json KeysToJson(const BackendReport& backend) {
  Json keys = Json::array();
  for (const wasinn_key& key : KeysOf(backend)) {
    keys.push_back({{"name", key.name}, {"where", PlacesOf(key)}, {"description", key.description}});
  }
  return keys;
}

Json ToJson(const BackendReport& backend) {
  return {{"name", backend.name},           {"encodings", backend.encodings}, {"available", backend.available},
          {"framework", backend.framework}, {"devices", backend.devices},     {"library", backend.library},
          {"missing", backend.missing},     {"install", backend.install},     {"looked_for", backend.looked_for},
          {"keys", KeysToJson(backend)}};
}

std::string ToText(const std::vector<BackendReport>& backends) {
  Table table({"BACKEND", "ENCODINGS", "FRAMEWORK", "DEVICES", "LIBRARY"});
  std::string missing, broken;
  for (const BackendReport& backend : backends) {
    if (backend.available) {
      table.Add({backend.name, backend.encodings, backend.framework, backend.devices, backend.library});
      continue;
    }
    if (backend.install.empty()) {
      table.Add({backend.name, backend.encodings, "does not open", "-", "-"});
      if (broken.empty()) broken = "\nDoes not open:\n";
      broken += fmt::format("  {}: {}\n", backend.name, backend.missing);
      continue;
    }
    table.Add({backend.name, backend.encodings, "not found", "-", "-"});
    if (missing.empty()) missing = "\nNot found:\n";
    missing += fmt::format("  {}: {}\n", backend.name, backend.missing);
    const bool is_said = backend.missing.contains(backend.install);
    if (!is_said) missing += fmt::format("    to install it: {}\n", backend.install);
  }
  return table.ToString() + missing + broken;
}

std::string KeysToText(const std::vector<BackendReport>& backends) {
  std::string text =
      "\nKeys: backend is [backends.NAME] of the configuration, model is [models.NAME.config], and guest is what a "
      "guest may set.\n";
  for (const BackendReport& backend : backends) {
    for (const wasinn_key& key : KeysOf(backend)) {
      text +=
          fmt::format("\n{}: {} ({})\n  {}\n", backend.name, key.name, fmt::join(PlacesOf(key), ", "), key.description);
    }
  }
  return text;
}

// Whether this machine supports a worker's sandbox (docs/isolation.md), and what is missing.
#ifdef WASINN_HAVE_WORKERS
std::string WorkersToText(const std::vector<BackendReport>& backends) {
  const worker::SandboxSupport support = worker::FindSandboxSupport();
  const auto has = [](bool it) { return it ? "yes" : "no"; };
  std::string text = fmt::format(
      "\nWorkers, in which guests' own models run:\n  seccomp: {}, no_new_privs: {}, sealed memory files: {}, memory "
      "that may become executable: {}, Landlock: {}\n",
      has(support.seccomp), has(support.no_new_privs), has(support.seals), has(support.exec_memory),
      support.landlock > 0 ? fmt::format("version {}", support.landlock) : "no");
  for (const BackendReport& backend : backends) {
    if (!backend.available) continue;
    const std::string missing = support.Missing(worker::SandboxOptionsOf(backend.name, support.exec_memory));
    text += fmt::format("  {}: {}\n", backend.name, missing.empty() ? "yes" : "no, this is missing: " + missing);
  }
  return text;
}
#else
std::string WorkersToText(const std::vector<BackendReport>&) {
  return "\nWorkers, in which guests' own models run: none, this build was made without libseccomp\n";
}
#endif

int Run(const BackendsFlags& flags) {
  const Result<Host> host = MakeHost(flags.host);
  if (!host) return Fail(host.status().message());
  const std::vector<BackendReport> backends = host->Backends();
  if (flags.json) {
    Json json = Json::array();
    for (const BackendReport& backend : backends) json.push_back(ToJson(backend));
    std::puts(json.dump(2, ' ', true, Json::error_handler_t::replace).c_str());
  } else {
    std::fputs(ToText(backends).c_str(), stdout);
    if (flags.verbose) std::fputs((WorkersToText(backends) + KeysToText(backends)).c_str(), stdout);
  }
  return 0;
}

}  // namespace

Command AddBackendsCommand(CLI::App& app) {
  CLI::App* backends =
      app.add_subcommand("backends", "List what models can run on here, and how to install what is missing");
  auto flags = std::make_shared<BackendsFlags>();
  backends->add_flag("--json", flags->json, "Print JSON");
  backends->add_flag("--verbose", flags->verbose,
                     "Also show what workers support here, and list the configuration keys of each");
  backends->footer("Example:\n  wasinn backends");
  AddHostFlags(*backends, &flags->host);
  return {backends, [flags] { return Run(*flags); }};
}

}  // namespace wasinn::cli
