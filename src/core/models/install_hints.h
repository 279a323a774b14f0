// What installs a backend or its framework, where a package of wasinn knows better than the backend: its file "install-hints" in the
// folder of backends, a line for each, "onnx pip install 'wasinn[onnx]'". "{folder}" in a line stands for that folder.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace wasinn::core {

class InstallHints {
 public:
  InstallHints() = default;
  // Of the first folder that has one for a backend. A folder may have no such file.
  explicit InstallHints(std::span<const std::string> folders);

  // The command; `own`, the backend's, where there is no better one.
  std::string For(std::string_view backend, std::string_view own) const;
  // A message of the backend's, with the command in place of its own.
  std::string Told(std::string_view message, std::string_view backend, std::string_view own) const;
  bool Has(std::string_view backend) const { return commands_.contains(backend); }

 private:
  std::map<std::string, std::string, std::less<>> commands_;  // by the backend's name
};

}  // namespace wasinn::core
