// How the server keeps its models: Triton's modes for the repository, and limits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <set>
#include <string>

#include "serve/oip/inference.h"

namespace wasinn::serve {

struct RepositorySettings {
  // kOnDemand: a model is loaded at its first request. The others are Triton's: all at the start (kNone), the same with
  // later ones (kPoll), those that are named at the start or by an operator (kExplicit).
  enum class Control : uint8_t { kOnDemand, kNone, kExplicit, kPoll };
  Control control = Control::kOnDemand;
  std::set<std::string> load_models;         // at the start; "*": all
  std::set<std::string> preloaded;           // by the configuration's [models.NAME]
  std::chrono::seconds poll{0};              // how often files are checked; 0: on request
  size_t max_loaded = 0;                     // 0: no limit
  std::chrono::milliseconds idle_unload{0};  // 0: never

  bool loads_all() const { return control == Control::kNone || control == Control::kPoll || load_models.contains("*"); }
  // At the start. These stay loaded.
  bool preloads(const std::string& model) const {
    return loads_all() || load_models.contains(model) || preloaded.contains(model);
  }
  bool needs_upkeep() const { return poll.count() > 0 || idle_unload.count() > 0; }
};

// Reads Triton's words.
inline std::expected<RepositorySettings::Control, std::string> ParseControl(const std::string& word) {
  if (word == "none") return RepositorySettings::Control::kNone;
  if (word == "explicit") return RepositorySettings::Control::kExplicit;
  if (word == "poll") return RepositorySettings::Control::kPoll;
  return std::unexpected("'" + word + "' is not none, explicit or poll");
}

// For a load: Triton's `config` and `file:…` bring a configuration and files, which only the operator may do here.
inline void CheckLoadParameter(const std::string& name) {
  if (name != "config" && !name.starts_with("file:")) return;
  throw Invalid("the parameter '" + name +
                "' of a load is not served: the server's configuration has the models' settings, and "
                "their folders have the files");
}

}  // namespace wasinn::serve
