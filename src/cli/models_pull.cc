#include "cli/models_pull.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <utility>

#include "artifacts/store.h"
#include "cli/artifact_paths.h"
#include "cli/flags.h"
#include "cli/log.h"
#include "cli/signature_text.h"
#include "cli/table.h"
#include "settings/quantities.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

using Json = nlohmann::ordered_json;

// A reference that was given, and its artifact.
struct PulledArtifact {
  std::string reference;
  artifacts::Artifact artifact;
};

std::string JsonOfPulled(const std::vector<PulledArtifact>& pulled) {
  Json all = Json::array();
  for (const auto& [reference, artifact] : pulled) {
    Json files = Json::array();
    for (const artifacts::ArtifactFile& file : artifact.files) {
      files.push_back({{"path", file.path}, {"digest", file.blob.digest}, {"bytes", file.blob.size}});
    }
    all.push_back({{"reference", reference},
                   {"pinned", ToString(artifact.pinned)},
                   {"digest", artifact.pinned.digest},
                   {"path", artifact.path},
                   {"pulled", artifact.was_pulled},
                   {"bytes", artifact.bytes},
                   {"files", std::move(files)}});
  }
  return Dump(all);
}

std::string TextOfPulled(const std::vector<PulledArtifact>& pulled) {
  std::string text;
  for (const auto& [reference, artifact] : pulled) {
    text += fmt::format("{}\n  {}, {} bytes\n  {}\n", ToString(artifact.pinned),
                        artifact.was_pulled ? "pulled" : "was here", artifact.bytes,
                        settings::PrintableName(artifact.path));
  }
  return text;
}

// The references in the flags and in the configuration.
engines::Result<std::vector<std::string>> ReferencesOf(const PullFlags& flags, const HostFlags& host) {
  if (!flags.references.empty()) return flags.references;
  const auto keys = ArtifactKeysOf(host.config_file);
  if (!keys) return std::unexpected(keys.error());
  std::vector<std::string> references;
  for (const ArtifactKey& key : *keys) references.push_back(key.reference);
  for (const settings::ModelFlag& model : host.models) {
    for (const std::string& path : model.paths) {
      if (artifacts::IsReference(path)) references.push_back(path);
    }
  }
  if (!references.empty()) return references;
  return std::unexpected("nothing is to be pulled: name an oci:// reference, or settings that have one");
}

int PullThem(const PullFlags& flags, const HostFlags& host, bool json) {
  const auto references = ReferencesOf(flags, host);
  if (!references) return Fail(references.error());
  std::vector<PulledArtifact> pulled;
  std::string failed;
  for (const std::string& reference : *references) {
    auto artifact = PullArtifact(reference, {});
    if (!artifact) {
      failed = artifact.error();
      break;
    }
    pulled.push_back({reference, std::move(*artifact)});
  }
  std::fputs((json ? JsonOfPulled(pulled) : TextOfPulled(pulled)).c_str(), stdout);
  return failed.empty() ? 0 : Fail(failed);
}

int PruneThem(const PullFlags& flags, bool json) {
  const auto store = artifacts::Store::Open();
  if (!store) return Fail(store.error());
  const auto unused = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::milliseconds(flags.unused_ms));
  const auto removed = store->Prune(unused);
  if (!removed) return Fail(removed.error());
  if (json) std::fputs(Dump(Json(*removed)).c_str(), stdout);
  for (const std::string& digest : *removed) {
    if (!json) std::printf("removed %s\n", digest.c_str());
  }
  return 0;
}

}  // namespace

void AddPullCommands(CLI::App& models, PullFlags* flags) {
  flags->pull = models.add_subcommand("pull", "Bring models and guests from OCI registries here");
  flags->pull->fallthrough();
  flags->pull->add_option("REFERENCE", flags->references,
                          "oci://REGISTRY/REPOSITORY:TAG or @sha256:DIGEST; default: all of the settings");
  flags->pull->footer(
      "The program skopeo pulls, with its own keys and settings (docs/artifacts.md).\n\n"
      "Examples:\n  wasinn models pull oci://ghcr.io/team/digits:1\n  wasinn models --config wasinn.toml pull --json");
  flags->prune = models.add_subcommand("prune", "Remove artifacts that were not used for some time");
  flags->prune->fallthrough();
  AddParsed<uint32_t>(
      *flags->prune, "TIME", settings::ParseDuration, [flags](uint32_t ms) { flags->unused_ms = ms; },
      "The time without use: 72h; 0: remove all")
      ->expected(1)
      ->required();
  flags->prune->footer("Example:\n  wasinn models prune 720h");
  models.require_subcommand(0, 1);
}

int RunPullCommand(const PullFlags& flags, const HostFlags& host, bool json) {
  return flags.pull->parsed() ? PullThem(flags, host, json) : PruneThem(flags, json);
}

}  // namespace wasinn::cli
