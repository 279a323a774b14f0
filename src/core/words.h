// The words for element types, targets and other enums: one table each, for messages, configuration and the command
// line.
#pragma once

#include <wasinn/wasinn.h>

#include <string>
#include <string_view>

#include "core/status.h"

namespace wasinn::core {

inline constexpr int kDtypeCount = WASINN_DTYPE_BOOL + 1;

const char* DtypeName(uint32_t dtype);
const char* TargetName(uint32_t target);

// The inverse, ignoring case; the error lists the known words.
Result<wasinn_target> ParseTarget(std::string_view word);
Result<wasinn_dialect> ParseDialect(std::string_view word);
Result<wasinn_load> ParseLoad(std::string_view word);
Result<wasinn_log_level> ParseLogLevel(std::string_view word);

// Converts a number in a struct from outside to the enum. INVALID_ARGUMENT names the field and the known numbers if it
// is none of these.
Result<wasinn_target> TargetOf(std::string_view field, uint32_t number);
Result<wasinn_dialect> DialectOf(std::string_view field, uint32_t number);
Result<wasinn_load> LoadOf(std::string_view field, uint32_t number);

}  // namespace wasinn::core
