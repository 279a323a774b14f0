#include "cli/surroundings.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <system_error>

namespace wasinn::cli {
namespace {

namespace fs = std::filesystem;

bool IsFolder(const std::string& path, const fs::path& base) {
  std::error_code ignored;
  return fs::is_directory(base / path, ignored);
}

// A:B, as in other commands. WasmEdge's order is GUEST:HOST, and others' HOST:GUEST, so only unambiguous pairs are
// accepted.
settings::Parsed<engines::Directory> ParseOneColon(const std::string& text, const fs::path& base) {
  const size_t colon = text.find(':');
  const std::string left = text.substr(0, colon), right = text.substr(colon + 1);
  const bool is_left = IsFolder(left, base), is_right = IsFolder(right, base);
  if (left == right && is_left) return engines::Directory{left, right};
  const bool is_pair = !left.empty() && !right.empty() && right.find(':') == right.npos;
  if (is_pair && is_left != is_right) {
    const auto directory = is_left ? engines::Directory{left, right} : engines::Directory{right, left};
    if (directory.guest.starts_with('/') || directory.guest.starts_with('.')) return directory;
    // Else a misspelt :ro would be the name of a folder that the guest may write to.
    return std::unexpected(
        fmt::format("'{}' is not HOST[::GUEST][:ro]: '{}' is neither ro nor a guest's path that "
                    "begins with / or .; or write HOST::GUEST",
                    text, directory.guest));
  }
  return std::unexpected(
      fmt::format("'{}' is not HOST[::GUEST]: {} of '{}' and '{}' is a folder here; write HOST::GUEST", text,
                  is_left && is_right ? "each" : "neither", left, right));
}

// HOST[::GUEST]. `wrong`: the error for another word at its end.
settings::Parsed<engines::Directory> ParseFolders(const std::string& text, const fs::path& base, const char* wrong) {
  const size_t colons = text.find("::");
  std::error_code ignored;
  if (colons == text.npos && text.find(':') != text.npos && !fs::exists(base / text, ignored)) {
    return ParseOneColon(text, base);
  }
  engines::Directory directory{text.substr(0, colons), colons == text.npos ? text : text.substr(colons + 2)};
  if (directory.host.empty() || directory.guest.empty()) return std::unexpected("'" + text + "' is not HOST[::GUEST]");
  const size_t more = colons == text.npos ? text.npos : directory.guest.rfind(':');
  if (more != text.npos && (more == 0 || directory.guest[more - 1] != ':')) {
    return std::unexpected(
        fmt::format("'{}' is not HOST[::GUEST][:ro]: '{}' is {}", text, directory.guest.substr(more + 1), wrong));
  }
  return directory;
}

}  // namespace

settings::Parsed<engines::Directory> ParseDirectory(const std::string& text) {
  constexpr std::string_view kReadOnly = ":ro";
  const bool read_only = text.ends_with(kReadOnly);
  auto directory = ParseFolders(read_only ? text.substr(0, text.size() - kReadOnly.size()) : text, {}, "not ro");
  if (directory) directory->read_only = read_only;
  return directory;
}

settings::Parsed<engines::Directory> ParseServedDirectory(const std::string& text, const fs::path& base) {
  constexpr std::string_view kReadOnly = ":ro", kWritable = ":rw";
  const bool writable = text.ends_with(kWritable);
  const bool says_so = writable || text.ends_with(kReadOnly);
  auto directory =
      ParseFolders(says_so ? text.substr(0, text.size() - kReadOnly.size()) : text, base, "neither ro nor rw");
  if (!directory) return directory;
  directory->read_only = !writable;
  if (!base.empty()) directory->host = (base / directory->host).lexically_normal().string();
  return directory;
}

settings::Parsed<Variable> ParseEnvironment(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (name.empty()) return std::unexpected("'" + text + "' is not NAME=VALUE or NAME");
  if (equals != text.npos) return Variable(name, text.substr(equals + 1));
  const char* inherited = std::getenv(name.c_str());
  if (inherited == nullptr) return std::unexpected("the environment has no " + name);
  return Variable(name, inherited);
}

}  // namespace wasinn::cli
