#include "engines/one_line.h"

#include <algorithm>

namespace wasinn::engines {
namespace {

// Whether a line quotes a module in text format: "1 | (module", "|".
bool QuotesSource(std::string_view line) {
  const size_t bar = line.find_first_not_of("0123456789 ");
  return bar != line.npos && line[bar] == '|';
}

}  // namespace

std::string OneLine(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    const size_t digits = part.find_first_not_of("0123456789");
    if (digits != 0 && digits != part.npos && part.substr(digits).starts_with(": ")) part.remove_prefix(digits + 2);
    if (part.empty() || part == "Caused by:" || QuotesSource(part)) continue;
    if (!line.empty()) line += ": ";
    line += part;
  }
  return line;
}

}  // namespace wasinn::engines
