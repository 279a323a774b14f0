// Flags whose values are parsed by wasinn's own functions.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "settings/model_flags.h"

namespace wasinn::cli {

// "--nn-max-graphs" is WASINN_NN_MAX_GRAPHS.
std::string EnvironmentName(const std::string& flag);

// Variables of the environment that look like limits of a guest and are no flag's: a misspelt limit limits nothing.
std::vector<std::string> UnknownLimits(const CLI::App& app);

// Improves CLI11's `error` about the command line of `app`: names the intended flag, and the variable of the
// environment if that had the value. `words`: the command line, NULL at the end.
std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error, const char* const* words);

// "unknown command rnu", and the intended one.
std::string UnknownCommand(const CLI::App& app, const std::string& name);

// For CLI11: the error about the name of an engine, "" if it is valid.
std::string CheckEngine(const std::string& name);

// A flag that may be given several times, with one value each time; `use` gets all of them.
CLI::Option* AddRepeated(CLI::App& app, const std::string& flag,
                         const std::function<void(const std::vector<std::string>&)>& use, const std::string& help);

// As above; `use` gets the values that `parse` returns. Its errors are usage errors.
template <typename T>
CLI::Option* AddParsed(CLI::App& app, const std::string& flag,
                       std::function<settings::Parsed<T>(const std::string&)> parse, std::function<void(T)> use,
                       const std::string& help) {
  auto each = [flag, parse = std::move(parse), use = std::move(use)](const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      settings::Parsed<T> parsed = parse(value);
      if (!parsed) throw CLI::ValidationError(flag, parsed.error());  // CLI11's way to end parsing
      use(std::move(*parsed));
    }
  };
  return AddRepeated(app, flag, std::move(each), help);
}

}  // namespace wasinn::cli
