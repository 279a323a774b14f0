// Errors after which the server goes on.
#pragma once

#include <cstdio>
#include <exception>

#include "cli/log.h"

namespace wasinn::serve {

// Never fails: if memory is short, the log may lack the line, too.
inline void LogError(const char* what) noexcept {
  try {
    cli::Log(WASINN_LOG_ERROR, what);
  } catch (const std::exception&) {
    std::fputs("wasinn: error: out of memory\n", stderr);
  }
}

}  // namespace wasinn::serve
