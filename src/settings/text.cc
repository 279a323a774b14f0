#include "settings/text.h"

#include <algorithm>
#include <filesystem>

#include "core/escape.h"

namespace wasinn::settings {

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string LastComponent(const std::string& path) {
  std::error_code ignored;
  const auto full = std::filesystem::absolute(path, ignored).lexically_normal();
  return (full.has_filename() ? full : full.parent_path()).filename().string();
}

bool IsAddress(std::string_view path) { return path.find("://") != path.npos; }

std::string_view AddressHint(std::string_view path) {
  const std::string_view server = path.substr(0, path.find('/'));
  const size_t colon = server.rfind(':');
  if (server.size() == path.size() || colon == server.npos || colon == 0) return "";
  const std::string_view port = server.substr(colon + 1);
  const bool is_port = !port.empty() && std::ranges::all_of(port, [](unsigned char c) { return c >= '0' && c <= '9'; });
  return is_port ? "; an address begins with grpc:// or http://" : "";
}

std::string Printable(std::string_view text) {
  std::string printable;
  for (const std::string& line : Split(text, '\n')) printable += core::Escape(line) + '\n';
  printable.pop_back();
  return printable;
}

std::string PrintableName(std::string_view name) { return core::Escape(name); }

}  // namespace wasinn::settings
