// An error with a formatted message.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "common/error.h"

namespace wasinn::backend {

// Throw(WASINN_ERROR_NOT_FOUND, "no file '{}'", name)
template <typename... Args>
[[noreturn, gnu::cold]] void Throw(wasinn_code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace wasinn::backend
