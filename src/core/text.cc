#include "core/text.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace wasinn::core {
namespace {

// Levenshtein's distance.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Join(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string SuggestNear(std::string_view word, std::span<const std::string> known) {
  if (known.empty()) return "";
  const auto nearest =
      std::ranges::min_element(known, {}, [&](const std::string& candidate) { return Distance(word, candidate); });
  const bool is_near = Distance(word, *nearest) <= std::max<size_t>(2, word.size() / 3);
  return is_near ? "; did you mean '" + *nearest + "'?" : "";
}

std::string Suggest(std::string_view word, std::span<const std::string> known) {
  if (known.empty()) return "; there are none here";
  const std::string near = SuggestNear(word, known);
  return near.empty() ? "; known are " + Join(known) : near;
}

}  // namespace wasinn::core
