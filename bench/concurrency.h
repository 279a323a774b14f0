// The flag --concurrency.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace wasinn::bench {

// How many guests run at once, level by level: N, or START:END[:STEP] as in perf_analyzer's --concurrency-range.
std::expected<std::vector<size_t>, std::string> ParseConcurrency(const std::string& text);

}  // namespace wasinn::bench
