#include "cli/description.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "settings/text.h"

namespace wasinn::cli {
namespace {

using Json = nlohmann::ordered_json;

FlagText DescribeOption(const CLI::Option& option) {
  FlagText flag;
  if (option.nonpositional()) {
    for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
    flag.group = option.get_group();
  } else {
    flag.names = {option.get_name(true)};
  }
  flag.value = option.get_type_size() == 0 ? "" : option.get_type_name();
  flag.help = option.get_description();
  flag.variable = option.get_envname();
  flag.is_repeated = option.get_items_expected_max() > 1;
  return flag;
}

Json FlagToJson(const FlagText& flag) {
  return {{"names", flag.names}, {"value", flag.value},       {"group", flag.group},
          {"help", flag.help},   {"variable", flag.variable}, {"is_repeated", flag.is_repeated}};
}

std::vector<FlagText> FlagsFromJson(const Json& json) {
  std::vector<FlagText> flags;
  for (const Json& flag : json) {
    flags.push_back({flag.at("names"), flag.at("value"), flag.at("group"), flag.at("help"), flag.at("variable"),
                     flag.at("is_repeated")});
  }
  return flags;
}

}  // namespace

std::vector<std::string> FlagText::Choices() const {
  const bool has_words = value.find('|') != value.npos && value.find_first_of("[]:=") == value.npos;
  return has_words ? settings::Split(value, '|') : std::vector<std::string>();
}

CommandText Describe(const CLI::App& app, const std::string& name) {
  constexpr std::string_view kUsageWord = "Usage: ";
  CommandText text;
  text.name = name;
  text.about = app.get_description();
  // Every app of this program has this formatter.
  if (const auto formatter = std::dynamic_pointer_cast<CLI::Formatter>(app.get_formatter())) {
    text.usage = formatter->make_usage(&app, name.empty() ? "wasinn" : "wasinn " + name);
  }
  if (text.usage.starts_with(kUsageWord)) text.usage.erase(0, kUsageWord.size());
  while (text.usage.ends_with('\n')) text.usage.pop_back();
  text.footer = app.get_footer();
  text.ends_with_operand = app.get_prefix_command();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->nonpositional() ? text.flags : text.operands).push_back(DescribeOption(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandText& inner = text.commands.emplace_back();
    inner.name = command->get_name();
    inner.about = command->get_description();
  }
  return text;
}

std::string ToText(const CommandText& command) {
  Json flags = Json::array(), operands = Json::array();
  for (const FlagText& flag : command.flags) flags.push_back(FlagToJson(flag));
  for (const FlagText& operand : command.operands) operands.push_back(FlagToJson(operand));
  const Json json = {{"name", command.name},     {"about", command.about}, {"usage", command.usage},
                     {"footer", command.footer}, {"flags", flags},         {"operands", operands}};
  return json.dump() + "\n";
}

std::optional<CommandText> CommandTextFrom(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    CommandText command;
    command.name = json.at("name");
    command.about = json.at("about");
    command.usage = json.at("usage");
    command.footer = json.at("footer");
    command.flags = FlagsFromJson(json.at("flags"));
    command.operands = FlagsFromJson(json.at("operands"));
    return command;
  } catch (const Json::exception&) {
    return {};
  }
}

}  // namespace wasinn::cli
