// The words for element types, targets and the like: one table each, used by messages, configuration and the
// command line.
#pragma once

#include <wasinn/wasinn.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/status.h"

namespace wasinn::core {

inline constexpr int kDtypeCount = WASINN_BOOL + 1;

// Bytes of one element; 0 for WASINN_DTYPE_UNKNOWN and numbers that are no dtype.
size_t DtypeSize(uint32_t dtype);
const char* DtypeName(uint32_t dtype);
const char* TargetName(uint32_t target);

// The inverse, ignoring case; the error lists the known words.
Result<wasinn_target> ParseTarget(std::string_view word);
Result<wasinn_dialect> ParseDialect(std::string_view word);
Result<wasinn_load> ParseLoad(std::string_view word);
Result<wasinn_log_level> ParseLogLevel(std::string_view word);

// INVALID_ARGUMENT with the field's name and the known numbers, if a struct from outside has another number there. By
// reference, since C++ does not let an enum with such a number be read.
Status CheckNumber(std::string_view field, const wasinn_target& value);
Status CheckNumber(std::string_view field, const wasinn_dialect& value);
Status CheckNumber(std::string_view field, const wasinn_load& value);

}  // namespace wasinn::core
