#include "cli/flags.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace wasinn::cli {

std::string EnvironmentName(const std::string& flag) {
  std::string name = "WASINN";
  for (const char c : flag.substr(1)) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

std::vector<std::string> UnknownLimits(const CLI::App& app) {
  const std::vector<const CLI::Option*> options = app.get_options();
  std::vector<std::string> unknown;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with("WASINN_NN_") && !name.starts_with("WASINN_MAX_")) continue;
    const bool is_known =
        std::ranges::any_of(options, [&](const CLI::Option* option) { return option->get_envname() == name; });
    if (!is_known) unknown.emplace_back(name);
  }
  return unknown;
}

std::string CheckEngine(const std::string& name) {
  if (name == "wasmtime" || name == "wamr") return "";
  const std::string other =
      name == "wasmedge" ? ": WasmEdge's own program takes wasinn as a plugin (docs/wasmedge.md)" : "";
  return "'" + name + "' is not wasmtime or wamr" + other;
}

CLI::Option* AddRepeated(CLI::App& app, const std::string& flag,
                         const std::function<void(const std::vector<std::string>&)>& use, const std::string& help) {
  // One value each time: without this, a flag before MODULE would take MODULE too.
  return app.add_option_function<std::vector<std::string>>(flag, use, help)->allow_extra_args(false);
}

}  // namespace wasinn::cli
