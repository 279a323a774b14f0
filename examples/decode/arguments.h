// The words of a command line: --name value, and the rest, which is the prompt.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

class Arguments {
 public:
  // `values` has the names, and their default values.
  Arguments(int argc, char** argv, std::map<std::string, std::string> values) : values_(std::move(values)) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      const auto value = word.starts_with("--") ? values_.find(word.substr(2)) : values_.end();
      if (value != values_.end() && i + 1 < argc) {
        value->second = argv[++i];
      } else if (word.starts_with("--")) {
        wrong_ = true;
      } else {
        prompt_ += (prompt_.empty() ? "" : " ") + word;
      }
    }
  }

  const std::string& prompt() const { return prompt_; }
  const std::string& Text(const std::string& name) const { return values_.at(name); }
  double Number(const std::string& name) const { return std::strtod(Text(name).c_str(), nullptr); }
  size_t Count(const std::string& name) const {
    return static_cast<size_t>(std::strtoul(Text(name).c_str(), nullptr, 10));
  }
  // Prints the usage if the command line is wrong.
  bool Check(const char* usage) const {
    if (!wrong_ && !prompt_.empty()) return true;
    std::fprintf(stderr, "%s\n", usage);
    return false;
  }

 private:
  std::map<std::string, std::string> values_;
  std::string prompt_;
  bool wrong_ = false;
};
