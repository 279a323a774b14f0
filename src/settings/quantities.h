// Reads sizes and durations of a user.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace wasinn::settings {

// "65536", "64M", "1.5GiB": bytes; K, M, G and T are powers of 1024, also with "i" and "B", in any case.
std::expected<uint64_t, std::string> ParseSize(std::string_view text);

// "500ms", "10s", "1.5", "2m", "1h": milliseconds; a number without a unit is seconds. Must fit 32 bits.
std::expected<uint32_t, std::string> ParseDuration(std::string_view text);

}  // namespace wasinn::settings
