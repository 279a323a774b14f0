// ONNX Runtime's optimized form of a model of the host, cached on disk for the next load.
#pragma once

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/model_cache.h"
#include "common/throw.h"
#include "onnx/config.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

class KeptModel {
 public:
  // Whether this configuration caches models, and its options for ONNX Runtime allow that.
  static bool Wanted(const SessionConfig& config) {
    if (!config.cache_dir || config.optimization_or_default() == ORT_DISABLE_ALL) return false;
    // Weights of the optimized model in another file would be next to the folder's files.
    return std::ranges::none_of(config.entries, [](const auto& entry) {
      return entry.first.starts_with("session.optimized_model_external_initializers");
    });
  }

  // For a model on the CPU that has these bytes, in one file or several. Throws Error if `cache_dir` cannot be used.
  KeptModel(const OrtLibrary& library, const SessionConfig& config, std::span<const backend::ModelCache::Bytes> sources)
      // NOLINTNEXTLINE(bugprone-unchecked-optional-access): Wanted has seen it
      : cache_(*config.cache_dir), name_(cache_.NameOf(MakerOf(library, config), sources)) {}

  // A complete model that needs no more optimization.
  std::optional<backend::ModelCache::Contents> Find() const { return cache_.Find(name_); }

  const backend::ModelCache& cache() const { return cache_; }
  const std::string& name() const { return name_; }

 private:
  // Constant facts about the first processor, by which kernels and layouts are chosen.
  static std::string Processor() {
    constexpr std::array<std::string_view, 12> kLines = {
        "vendor_id",       "cpu family",       "model",       "model name", "stepping", "flags", "Features",
        "CPU implementer", "CPU architecture", "CPU variant", "CPU part",   "isa"};
    std::string text;
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line) && !line.empty();) {
      std::string_view name = std::string_view(line).substr(0, line.find(':'));
      name = name.substr(0, name.find_last_not_of(" \t") + 1);
      if (std::ranges::find(kLines, name) != kLines.end()) text += line + "\n";
    }
    if (text.empty()) backend::Throw(WASINN_ERROR_RUNTIME, "/proc/cpuinfo does not name the processor");
    return text;
  }

  // Everything that an optimized model depends on, besides the model. Each text includes its size.
  static std::string MakerOf(const OrtLibrary& library, const SessionConfig& config) {
    std::string maker;
    const auto add = [&](std::string_view text) { maker += fmt::format("{} {}\n", text.size(), text); };
    add(library.version());
    add(library.api().GetBuildInfoString == nullptr ? "" : library.api().GetBuildInfoString());
    add(std::to_string(config.optimization_or_default()));
    for (const auto& [key, value] : config.entries) {
      add(key);
      add(value);
    }
    add(Processor());
    return maker;
  }

  const backend::ModelCache cache_;
  const std::string name_;
};

}  // namespace wasinn::onnx
