// The better commands of a wasinn package for installing backends and their frameworks: its file "install-hints" in the
// folder of backends, with lines like "onnx pip install 'wasinn[onnx]'". "{folder}" stands for that folder.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace wasinn::core {

class InstallHints {
 public:
  InstallHints() = default;
  // For each backend the hint of the first folder that has one. A folder may have no such file.
  explicit InstallHints(std::span<const std::string> folders);

  // The command; `own`, the backend's, if there is no better one.
  std::string For(std::string_view backend, std::string_view own) const;
  // A backend's message, with the better command instead of `own`.
  std::string WithBetterCommand(std::string_view message, std::string_view backend, std::string_view own) const;
  bool Has(std::string_view backend) const { return commands_.contains(backend); }

 private:
  std::map<std::string, std::string, std::less<>> commands_;  // by the backend's name
};

}  // namespace wasinn::core
