// Flags whose values are parsed by functions of ours.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/model_flags.h"

namespace wasinn::cli {

// "--nn-max-graphs" is WASINN_NN_MAX_GRAPHS.
inline std::string EnvironmentName(const std::string& flag) {
  std::string name = "WASINN";
  for (const char c : flag.substr(1)) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

// A flag that may be given several times; `use` gets each value as `parse` understood it. What `parse` refuses is a
// usage error.
template <typename T>
CLI::Option* AddParsed(CLI::App& app, const std::string& flag, std::function<Parsed<T>(const std::string&)> parse,
                       std::function<void(T)> use, const std::string& help) {
  auto each = [flag, parse, use](const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      Parsed<T> parsed = parse(value);
      if (!parsed) throw CLI::ValidationError(flag, parsed.error());  // CLI11's way to end parsing
      use(std::move(*parsed));
    }
  };
  // One value each time: without this, a flag before MODULE would take MODULE too.
  return app.add_option_function<std::vector<std::string>>(flag, each, help)->allow_extra_args(false);
}

}  // namespace wasinn::cli
