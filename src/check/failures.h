// The reports of failed expectations, and of checks that have nothing to check.
#pragma once

#include <wasinn/backend.h>

#include <functional>
#include <string>

namespace wasinn::check {

using FailureFn = std::function<void(const char* file, int line, const std::string& text)>;
// Call it before any check runs. `handler` may be called from any thread.
void OnFailure(FailureFn handler);
void ReportFailure(const char* file, int line, const std::string& text);
// The same, for a check whose subject the backend or the model lacks.
void OnNothingToCheck(std::function<void(const std::string& why)> handler);
void ReportNothingToCheck(const std::string& why);

// "invalid_argument" and so on.
std::string CodeName(wasinn_code code);

}  // namespace wasinn::check
