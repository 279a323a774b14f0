#include "settings/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

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

namespace {

std::string Escaped(std::string_view text, std::string_view kept) {
  std::string printable;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too; in UTF-8 they are 0xc2 and the character's number.
    const bool c1 = c == 0xc2 && i + 1 < text.size() && (text[i + 1] & 0xe0) == 0x80;
    if (c1 || (c < 0x20 && kept.find(text[i]) == kept.npos) || c == 0x7f) {
      printable += fmt::format("\\x{:02x}", c1 ? static_cast<unsigned char>(text[++i]) : c);
    } else {
      printable += text[i];
    }
  }
  return printable;
}

}  // namespace

std::string Printable(std::string_view text) { return Escaped(text, "\n"); }

std::string PrintableName(std::string_view name) { return Escaped(name, ""); }

}  // namespace wasinn::settings
