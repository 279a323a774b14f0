#include "bench/concurrency.h"

#include <fmt/format.h>

#include <charconv>

#include "settings/text.h"

namespace wasinn::bench {
namespace {

constexpr size_t kMaxGuests = 1024;

}  // namespace

std::expected<std::vector<size_t>, std::string> ParseConcurrency(const std::string& text) {
  std::vector<size_t> numbers;
  bool valid = true;
  for (const std::string& part : settings::Split(text, ':')) {
    size_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    valid = valid && error == std::errc() && end == part.data() + part.size() && number >= 1 && number <= kMaxGuests;
    numbers.push_back(number);
  }
  valid = valid && numbers.size() <= 3 && numbers.front() <= numbers[numbers.size() > 1 ? 1 : 0];
  if (!valid) {
    return std::unexpected(fmt::format("'{}' is not N or START:END[:STEP] of numbers from 1 to {}", text, kMaxGuests));
  }
  const size_t last = numbers.size() > 1 ? numbers[1] : numbers[0];
  const size_t step = numbers.size() > 2 ? numbers[2] : 1;
  std::vector<size_t> levels;
  for (size_t level = numbers[0]; level <= last; level += step) levels.push_back(level);
  return levels;
}

}  // namespace wasinn::bench
