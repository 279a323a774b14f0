#include "cli/help.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <utility>

#include "cli/description.h"

namespace wasinn::cli {

HelpFormatter::HelpFormatter(std::string operands) : operands_(std::move(operands)) { column_width(26); }

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  if (operands_.empty()) return Formatter::make_usage(app, std::move(name));
  return "Usage: " + name + " [OPTIONS] " + operands_ + "\n";
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  if (std::getenv(kDescribeVariable) != nullptr) return ToText(Describe(*app, ""));
  std::string help = Formatter::make_help(app, std::move(name), mode);
  for (size_t gap; (gap = help.find("\n\n\n")) != help.npos;) help.erase(gap, 1);
  return help;
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  return option->get_type_size() == 0 || option->get_positional() ? "" : " " + option->get_type_name();
}

}  // namespace wasinn::cli
