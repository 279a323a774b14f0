#include "check/failures.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace wasinn::check {
namespace {

FailureFn& FailureHandler() {
  static FailureFn handler = [](const char*, int, const std::string&) {};
  return handler;
}

std::function<void(const std::string&)>& NothingToCheckHandler() {
  static std::function<void(const std::string&)> handler = [](const std::string&) {};
  return handler;
}

struct Code {
  wasinn_code code;
  const char* name;
};
constexpr Code kCodes[] = {{WASINN_OK, "ok"},
                           {WASINN_ERROR_INVALID_ARGUMENT, "invalid_argument"},
                           {WASINN_ERROR_INVALID_ENCODING, "invalid_encoding"},
                           {WASINN_ERROR_MISSING_MEMORY, "missing_memory"},
                           {WASINN_ERROR_BUSY, "busy"},
                           {WASINN_ERROR_RUNTIME, "runtime_error"},
                           {WASINN_ERROR_UNSUPPORTED_OPERATION, "unsupported_operation"},
                           {WASINN_ERROR_TOO_LARGE, "too_large"},
                           {WASINN_ERROR_NOT_FOUND, "not_found"},
                           {WASINN_ERROR_TIMEOUT, "timeout"},
                           {WASINN_ERROR_SECURITY, "security"},
                           {WASINN_ERROR_END_OF_SEQUENCE, "end_of_sequence"},
                           {WASINN_ERROR_CONTEXT_FULL, "context_full"},
                           {WASINN_ERROR_PROMPT_TOO_LONG, "prompt_too_long"},
                           {WASINN_ERROR_MODEL_NOT_FOUND, "model_not_found"},
                           {WASINN_ERROR_UNAVAILABLE, "unavailable"},
                           {WASINN_ERROR_LOST, "lost"}};

}  // namespace

void OnFailure(FailureFn handler) { FailureHandler() = std::move(handler); }
void ReportFailure(const char* file, int line, const std::string& text) { FailureHandler()(file, line, text); }

void OnNothingToCheck(std::function<void(const std::string&)> handler) { NothingToCheckHandler() = std::move(handler); }
void ReportNothingToCheck(const std::string& why) { NothingToCheckHandler()(why); }

std::string CodeName(wasinn_code code) {
  const auto* const known = std::ranges::find(kCodes, code, &Code::code);
  return known == std::end(kCodes) ? "the unknown code " + std::to_string(code) : known->name;
}

}  // namespace wasinn::check
