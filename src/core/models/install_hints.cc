#include "core/models/install_hints.h"

#include <filesystem>
#include <fstream>
#include <utility>

namespace wasinn::core {
namespace {

constexpr std::string_view kFolder = "{folder}";  // stands for the file's folder

}  // namespace

InstallHints::InstallHints(std::span<const std::string> folders) {
  for (const std::string& folder : folders) {
    std::ifstream file(std::filesystem::path(folder) / "install-hints");
    for (std::string line; std::getline(file, line);) {
      const size_t space = line.find(' ');
      if (space == 0 || space == std::string::npos) continue;
      std::string command = line.substr(space + 1);
      if (const size_t at = command.find(kFolder); at != std::string::npos) command.replace(at, kFolder.size(), folder);
      commands_.emplace(line.substr(0, space), std::move(command));
    }
  }
}

std::string InstallHints::For(std::string_view backend, std::string_view own) const {
  const auto found = commands_.find(backend);
  return found == commands_.end() ? std::string(own) : found->second;
}

std::string InstallHints::WithBetterCommand(std::string_view message, std::string_view backend,
                                            std::string_view own) const {
  std::string text(message);
  const auto found = commands_.find(backend);
  if (found == commands_.end() || own.empty()) return text;
  for (size_t at = text.find(own); at != std::string::npos; at = text.find(own, at + found->second.size())) {
    text.replace(at, own.size(), found->second);
  }
  return text;
}

}  // namespace wasinn::core
