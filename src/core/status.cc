#include "core/status.h"

#include <cstdint>

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
  switch (code) {
    case WASINN_OK:
      return "ok";
    case WASINN_ERROR_INVALID_ARGUMENT:
      return "invalid_argument";
    case WASINN_ERROR_INVALID_ENCODING:
      return "invalid_encoding";
    case WASINN_ERROR_MISSING_MEMORY:
      return "missing_memory";
    case WASINN_ERROR_BUSY:
      return "busy";
    case WASINN_ERROR_RUNTIME:
      return "runtime_error";
    case WASINN_ERROR_UNSUPPORTED_OPERATION:
      return "unsupported_operation";
    case WASINN_ERROR_TOO_LARGE:
      return "too_large";
    case WASINN_ERROR_NOT_FOUND:
      return "not_found";
    case WASINN_ERROR_TIMEOUT:
      return "timeout";
    case WASINN_ERROR_SECURITY:
      return "security";
    case WASINN_ERROR_END_OF_SEQUENCE:
      return "end_of_sequence";
    case WASINN_ERROR_CONTEXT_FULL:
      return "context_full";
    case WASINN_ERROR_PROMPT_TOO_LONG:
      return "prompt_too_long";
    case WASINN_ERROR_MODEL_NOT_FOUND:
      return "model_not_found";
    case WASINN_ERROR_UNAVAILABLE:
      return "unavailable";
    case WASINN_ERROR_LOST:
      return "lost";
  }
  return "unknown";
}

}  // namespace wasinn::core
