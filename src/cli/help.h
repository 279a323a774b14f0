// The layout of --help.
#pragma once

#include <CLI/App.hpp>
#include <CLI/FormatterFwd.hpp>
#include <string>

namespace wasinn::cli {

// CLI11's, without the variables and dots that make lines long, and with MODULE if a command takes a program.
class HelpFormatter : public CLI::Formatter {
 public:
  // `operands`: the words after the flags that CLI11 does not know, "MODULE [ARGS...]".
  explicit HelpFormatter(std::string operands = {});

  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_option_opts(const CLI::Option* option) const override;

 private:
  std::string operands_;
};

}  // namespace wasinn::cli
