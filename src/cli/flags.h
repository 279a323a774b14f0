// Flags whose values are parsed by functions of ours.
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

// Variables of the environment that look like limits of a guest's and are no flag's: a limit that is misspelt holds nothing.
std::vector<std::string> UnknownLimits(const CLI::App& app);

// What is wrong with the command line of `app`, which CLI11 says in `error`: with the flag that was meant, and with the variable of the
// environment where that brought the value. `words`: of the command line, NULL at their end.
std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error, const char* const* words);

// "unknown command rnu", and which one was meant.
std::string UnknownCommand(const CLI::App& app, const std::string& name);

// For CLI11: what is wrong with the name of an engine, "" if nothing is.
std::string CheckEngine(const std::string& name);

// A flag that may be given several times, with one value each time; `use` gets all of them.
CLI::Option* AddRepeated(CLI::App& app, const std::string& flag,
                         const std::function<void(const std::vector<std::string>&)>& use, const std::string& help);

// The same; `use` gets each value as `parse` understood it. What `parse` refuses is a usage error.
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
