// Errors that the server lives through.
#pragma once

#include <cstdio>
#include <exception>

#include "cli/log.h"

namespace wasinn::serve {

// Whatever happens: where the memory ended, the log has none either.
inline void LogError(const char* what) noexcept {
  try {
    cli::Log(WASINN_LOG_ERROR, what);
  } catch (const std::exception&) {
    std::fputs("wasinn: error: out of memory\n", stderr);
  }
}

}  // namespace wasinn::serve
