// The flag --concurrency.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace wasinn::bench {

// How many guests at once, level by level: N, or START:END[:STEP] as perf_analyzer's --concurrency-range has it.
std::expected<std::vector<size_t>, std::string> ParseConcurrency(const std::string& text);

}  // namespace wasinn::bench
