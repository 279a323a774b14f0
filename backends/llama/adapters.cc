#include "llama/adapters.h"

#include <algorithm>
#include <charconv>

#include "common/throw.h"

namespace wasinn::llama {

using backend::Config;
using backend::Throw;

namespace {

constexpr double kLargestScale = 100;

double ParseScale(const std::string& name, const std::string& text) {
  double scale = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scale);
  // In this order, because every comparison with NaN is false.
  if (error == std::errc() && end == text.data() + text.size() && scale >= -kLargestScale && scale <= kLargestScale) {
    return scale;
  }
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "lora: '{}': scale: expected a number from {} to {}, found '{}'", name,
        -kLargestScale, kLargestScale, text);
}

AdapterSettings::One Read(const Config::Named& named) {
  AdapterSettings::One one{.name = named.name, .scale = std::nullopt};
  for (const auto& [key, value] : named.options) {
    if (key != "scale") {
      Throw(WASINN_ERROR_INVALID_ARGUMENT, "lora: '{}': expected \"name\" and \"scale\", found '{}'", named.name, key);
    }
    one.scale = ParseScale(named.name, value);
  }
  return one;
}

std::vector<AdapterSettings::One> ReadList(const Config& config) {
  if (config.IsString("lora")) {
    const std::string name = config.String("lora").value_or("");
    if (name.empty()) return {};
    return {{.name = name, .scale = std::nullopt}};
  }
  std::vector<AdapterSettings::One> list;
  for (const Config::Named& named : config.NamedList("lora").value_or(std::vector<Config::Named>())) {
    list.push_back(Read(named));
  }
  return list;
}

}  // namespace

void AdapterSettings::Apply(const Config& config, const std::map<std::string, std::string>& paths) {
  if (const auto given = config.Number("lora-scale", -kLargestScale, kLargestScale)) scale = *given;
  if (!config.Has("lora")) return;
  std::vector<One> wanted = ReadList(config);
  for (auto one = wanted.begin(); one != wanted.end(); ++one) {
    if (!paths.contains(one->name)) {
      Throw(WASINN_ERROR_INVALID_ARGUMENT, "lora: '{}' is not one of the model's loras in the host's configuration",
            one->name);
    }
    if (std::any_of(wanted.begin(), one, [&](const One& other) { return other.name == one->name; })) {
      Throw(WASINN_ERROR_INVALID_ARGUMENT, "lora: '{}' occurs twice", one->name);
    }
  }
  list = std::move(wanted);
}

std::map<std::string, float> AdapterSettings::Scales() const {
  std::map<std::string, float> scales;
  for (const One& one : list) {
    const auto of_one = static_cast<float>(one.scale.value_or(scale));
    if (of_one != 0) scales.emplace(one.name, of_one);
  }
  return scales;
}

}  // namespace wasinn::llama
