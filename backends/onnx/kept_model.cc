#include "onnx/kept_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include "common/error.h"

namespace wasinn::onnx {

using backend::Error;

namespace {

// What kernels and layouts are chosen by: of the first processor, what does not change from one moment to the next.
std::string Processor() {
  constexpr std::array<std::string_view, 12> kLines = {"vendor_id",        "cpu family",  "model",    "model name",
                                                       "stepping",         "flags",       "Features", "CPU implementer",
                                                       "CPU architecture", "CPU variant", "CPU part", "isa"};
  std::string text;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    std::string_view name = std::string_view(line).substr(0, line.find(':'));
    name = name.substr(0, name.find_last_not_of(" \t") + 1);
    if (std::ranges::find(kLines, name) != kLines.end()) text += line + "\n";
  }
  if (text.empty()) throw Error(WASINN_ERROR_RUNTIME, "/proc/cpuinfo does not tell what the processor is");
  return text;
}

// All that an optimized model depends on, beside the model. Each text is told with its size.
std::string MakerOf(const OrtLibrary& library, const SessionConfig& config) {
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

}  // namespace

bool KeptModel::Wanted(const SessionConfig& config) {
  if (!config.cache_dir || config.optimization_or_default() == ORT_DISABLE_ALL) return false;
  // Weights of the optimized model in another file would be beside the folder's files.
  return std::ranges::none_of(config.entries, [](const auto& entry) {
    return entry.first.starts_with("session.optimized_model_external_initializers");
  });
}

KeptModel::KeptModel(const OrtLibrary& library, const SessionConfig& config,
                     std::span<const backend::ModelCache::Bytes> sources)
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): Wanted has seen it
    : cache_(*config.cache_dir), name_(cache_.NameOf(MakerOf(library, config), sources)) {}

}  // namespace wasinn::onnx
