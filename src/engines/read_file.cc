#include "engines/read_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace wasinn::engines {

std::expected<std::string, std::string> ReadFile(const std::string& path) {
  std::error_code ignored;
  // Opening a folder succeeds, reading it fails without a reason.
  if (std::filesystem::is_directory(path, ignored)) return std::unexpected(fmt::format("{} is a folder", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::unexpected(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return bytes;
}

}  // namespace wasinn::engines
