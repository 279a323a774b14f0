// Whole numbers in texts.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace wasinn::base {

// The number that the whole text is; nothing: it is none, or not one of this type.
template <std::integral Number>
std::optional<Number> ParseNumber(std::string_view text, int base = 10) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

}  // namespace wasinn::base
