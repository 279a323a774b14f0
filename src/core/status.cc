#include "core/status.h"

#include <cstdint>
#include <iterator>

namespace wasinn::core {

std::string Cut(std::string text, size_t most) {
  static constexpr std::string_view kMark = "… (cut)";
  if (text.size() <= most) return text;
  size_t end = most - kMark.size();
  // A character has at most three continuation bytes.
  for (int i = 0; i < 3 && end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80; ++i) --end;
  std::string cut;  // so that it does not keep the whole text's memory
  cut.reserve(end + kMark.size());
  cut.append(text, 0, end).append(kMark);
  return cut;
}

const char* CodeName(wasinn_code code) {
  static constexpr const char* kNames[] = {"ok",
                                           "invalid_argument",
                                           "invalid_encoding",
                                           "missing_memory",
                                           "busy",
                                           "runtime_error",
                                           "unsupported_operation",
                                           "too_large",
                                           "not_found",
                                           "timeout",
                                           "security",
                                           "end_of_sequence",
                                           "context_full",
                                           "prompt_too_long",
                                           "model_not_found",
                                           "unavailable",
                                           "lost"};
  static_assert(std::size(kNames) == WASINN_ERROR_LOST + 1);
  return static_cast<size_t>(code) < std::size(kNames) ? kNames[code] : "unknown";
}

}  // namespace wasinn::core
