#include "settings/quantities.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "settings/text.h"

namespace wasinn::settings {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// Splits `text` into the number at its start and the rest. No sign, no exponent, no "inf".
bool SplitNumber(std::string_view text, double* number, std::string_view* rest) {
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789."));
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), *number, std::chars_format::fixed);
  *rest = text.substr(digits.size());
  return !digits.empty() && error == std::errc() && stop == digits.data() + digits.size();
}

// `text` in the smallest unit, rounded up so that no positive value becomes 0.
template <size_t n>
bool Scale(std::string_view text, const Unit (&units)[n], double max, double* out) {
  double number;
  std::string_view rest;
  if (!SplitNumber(text, &number, &rest)) return false;
  for (const Unit& unit : units) {
    if (!EqualsIgnoringCase(rest, unit.name)) continue;
    *out = std::ceil(number * unit.factor);
    return *out < max;
  }
  return false;
}

}  // namespace

std::expected<uint64_t, std::string> ParseSize(std::string_view text) {
  constexpr double k = 1024;
  static constexpr Unit kUnits[] = {{"", 1},
                                    {"B", 1},
                                    {"K", k},
                                    {"KB", k},
                                    {"KiB", k},
                                    {"M", k * k},
                                    {"MB", k * k},
                                    {"MiB", k * k},
                                    {"G", k * k * k},
                                    {"GB", k * k * k},
                                    {"GiB", k * k * k},
                                    {"T", k * k * k * k},
                                    {"TB", k * k * k * k},
                                    {"TiB", k * k * k * k}};
  double bytes;
  // 2^63: the limit of a TOML integer.
  if (Scale(text, kUnits, 9223372036854775808.0, &bytes)) return static_cast<uint64_t>(bytes);
  return std::unexpected(fmt::format("'{}' is not a size such as 65536, 64M or 1G", text));
}

std::expected<uint32_t, std::string> ParseDuration(std::string_view text) {
  static constexpr Unit kUnits[] = {{"", 1e3}, {"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"min", 60e3}, {"h", 3600e3}};
  double milliseconds;
  if (Scale(text, kUnits, 4294967296.0, &milliseconds)) return static_cast<uint32_t>(milliseconds);
  return std::unexpected(fmt::format("'{}' is not a duration such as 500ms, 10s, 2m or plain seconds", text));
}

}  // namespace wasinn::settings
