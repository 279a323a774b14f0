#include "engines/read_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace wasinn::engines {
namespace {

constexpr size_t kChunk = 1 << 20, kLeast = 4096;

}  // namespace

std::expected<std::string, std::string> ReadFile(const std::string& path, uint64_t most) {
  std::error_code ignored;
  // Opening a folder succeeds, reading it fails without a reason.
  if (std::filesystem::is_directory(path, ignored)) return std::unexpected(fmt::format("{} is a folder", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  // Components have 10 MB and more. A wrong size, like a pipe's, only costs time.
  const auto expected = std::filesystem::file_size(path, ignored);
  const auto too_large = [&] { return std::unexpected(fmt::format("{} has more than {} bytes", path, most)); };
  if (!ignored && expected > most) return too_large();
  std::string bytes;
  size_t size = 0, chunk = ignored ? kChunk : std::max(expected + 1, kLeast);  // one more, to see the end
  do {
    bytes.resize(size + chunk);
    file.read(bytes.data() + size, static_cast<std::streamsize>(chunk));
    size += static_cast<size_t>(file.gcount());
    if (size > most) return too_large();
    chunk = kChunk;
  } while (file);
  bytes.resize(size);
  if (file.bad()) return std::unexpected(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return bytes;
}

}  // namespace wasinn::engines
