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

std::string_view AddressHint(std::string_view path) {
  const std::string_view server = path.substr(0, path.find('/'));
  const size_t colon = server.rfind(':');
  if (server.size() == path.size() || colon == server.npos || colon == 0) return "";
  const std::string_view port = server.substr(colon + 1);
  const bool is_port = !port.empty() && std::ranges::all_of(port, [](unsigned char c) { return c >= '0' && c <= '9'; });
  return is_port ? "; an address begins with grpc:// or http://" : "";
}

namespace {

// U+0080 to U+009F are control characters too, and some others change how the rest of a line reads: marks of direction, breaks
// of lines. Of such a character that begins a text the number of bytes; 0: there is none.
size_t SizeOfHidden(std::string_view text) {
  const auto byte = [text](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const auto is_among = [&](int first, int last) { return byte(2) >= first && byte(2) <= last; };
  if (byte(0) == 0xc2 && (byte(1) & 0xe0) == 0x80) return 2;
  if (byte(0) == 0xd8 && byte(1) == 0x9c) return 2;
  if (byte(0) != 0xe2) return 0;
  if (byte(1) == 0x80) return is_among(0x8e, 0x8f) || is_among(0xa8, 0xae) ? 3 : 0;
  return byte(1) == 0x81 && is_among(0xa6, 0xa9) ? 3 : 0;
}

std::string Escaped(std::string_view text, std::string_view kept) {
  std::string printable;
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    const size_t hidden = SizeOfHidden(text);
    if (hidden == 2 && c == 0xc2) {
      printable += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[1]));
    } else if (hidden > 0) {
      for (const char one : text.substr(0, hidden)) {
        printable += fmt::format("\\x{:02x}", static_cast<unsigned char>(one));
      }
    } else if ((c < 0x20 && kept.find(text[0]) == kept.npos) || c == 0x7f) {
      printable += fmt::format("\\x{:02x}", c);
    } else {
      printable += text[0];
    }
    text.remove_prefix(std::max<size_t>(hidden, 1));
  }
  return printable;
}

}  // namespace

std::string Printable(std::string_view text) { return Escaped(text, "\n"); }

std::string PrintableName(std::string_view name) { return Escaped(name, ""); }

}  // namespace wasinn::settings
