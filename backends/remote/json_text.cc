#include "remote/json_text.h"

#include <algorithm>
#include <cstring>

namespace wasinn::remote {

namespace {

constexpr bool IsPlain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

// The letter after the backslash; 0: an escape with its number.
constexpr char ShortOf(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

constexpr size_t kNumbered = 6;  // \u001f

}  // namespace

uint64_t EscapedBytes(std::string_view text) {
  uint64_t bytes = text.size();
  for (const char c : text) {
    if (!IsPlain(c)) bytes += ShortOf(c) != 0 ? 1 : kNumbered - 1;
  }
  return bytes;
}

char* WriteEscaped(std::string_view text, char* to) {
  constexpr char kDigits[] = "0123456789abcdef";
  while (!text.empty()) {
    const auto plain = static_cast<size_t>(std::ranges::find_if_not(text, IsPlain) - text.begin());
    std::memcpy(to, text.data(), plain);
    to += plain;
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text.front();
    text.remove_prefix(1);
    *to++ = '\\';
    if (const char known = ShortOf(c); known != 0) {
      *to++ = known;
      continue;
    }
    const char numbered[] = {'u', '0', '0', kDigits[c >> 4], kDigits[c & 15]};
    to = std::ranges::copy(numbered, to).out;
  }
  return to;
}

uint64_t JsonMemory(std::string_view text) {
  // The largest item is an entry of an object: a tree node with a string and a value, in two blocks of memory. A
  // growing list has room for twice its values.
  constexpr uint64_t kEach = 160;
  const auto is_structure = [](char c) { return c == ',' || c == ':' || c == '[' || c == '{'; };
  const auto n = static_cast<uint64_t>(std::ranges::count_if(text, is_structure));
  // While it is read, a text exists several times, and again in the result.
  constexpr uint64_t kCopies = 8;
  return text.size() * kCopies + (n + 1) * kEach;
}

}  // namespace wasinn::remote
