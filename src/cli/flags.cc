#include "cli/flags.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "core/text.h"

namespace wasinn::cli {
namespace {

// The error about an unknown flag, "--timeout=5s", names the nearest flag. Flags of one letter are near to all others.
std::string UnknownFlag(const CLI::App& app, const std::string& word) {
  const std::string flag = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  return "unknown flag " + flag + (flag.starts_with("--") ? core::SuggestNear(flag, known) : "");
}

bool IsGiven(const CLI::Option& option, const char* const* words) {
  for (; *words != nullptr; ++words) {
    const std::string_view word = *words, name = word.substr(0, word.find('='));
    if (name.starts_with('-') && option.check_name(std::string(name))) return true;
  }
  return false;
}

bool HasSeparator(const char* const* words) {
  for (; *words != nullptr; ++words) {
    if (std::string_view(*words) == "--") return true;
  }
  return false;
}

}  // namespace

std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error, const char* const* words) {
  const std::vector<std::string> rest = app.remaining();
  const bool is_extra = app.get_prefix_command() && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr &&
                        (rest.empty() || rest[0] == "--");
  if (is_extra && HasSeparator(words)) return "no '--' is needed: all that follows the module goes to the guest";
  if (!rest.empty() && rest[0].starts_with('-') && rest[0] != "-") return UnknownFlag(app, rest[0]);
  std::string text = error.what();
  const size_t colon = text.find(": ");
  const CLI::Option* const option = colon == text.npos ? nullptr : app.get_option_no_throw(text.substr(0, colon));
  if (option == nullptr || option->get_envname().empty() || IsGiven(*option, words)) return text;
  if (std::getenv(option->get_envname().c_str()) != nullptr) text.replace(0, colon, option->get_envname());
  return text;
}

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
    static constexpr std::string_view kOfLimits[] = {"WASINN_NN_", "WASINN_MAX_", "WASINN_COMPILE_"};
    if (std::ranges::none_of(kOfLimits, [name](std::string_view of) { return name.starts_with(of); })) continue;
    const bool is_known =
        std::ranges::any_of(options, [&](const CLI::Option* option) { return option->get_envname() == name; });
    if (!is_known) unknown.emplace_back(name);
  }
  return unknown;
}

std::string UnknownCommand(const CLI::App& app, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  return "unknown command " + name + core::Suggest(name, known);
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
