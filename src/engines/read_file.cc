#include "engines/read_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace wasinn::engines {
namespace {

constexpr size_t kChunk = 1 << 20;

}  // namespace

std::expected<std::string, std::string> ReadFile(const std::string& path) {
  std::error_code ignored;
  // Opening a folder succeeds, reading it fails without a reason.
  if (std::filesystem::is_directory(path, ignored)) return std::unexpected(fmt::format("{} is a folder", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  // Components are 10 MB and more. A size that is wrong, as a pipe's is, only costs time.
  const auto expected = std::filesystem::file_size(path, ignored);
  std::string bytes;
  if (!ignored) bytes.reserve(expected + kChunk);
  size_t size = 0;
  do {
    bytes.resize(size + kChunk);
    file.read(bytes.data() + size, kChunk);
    size += static_cast<size_t>(file.gcount());
  } while (file);
  bytes.resize(size);
  if (file.bad()) return std::unexpected(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return bytes;
}

}  // namespace wasinn::engines
