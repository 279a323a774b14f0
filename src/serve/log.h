// The server's log.
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/log.h"

namespace wasinn::serve {

template <typename... Args>
void Log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  cli::Log(level, fmt::format(format, std::forward<Args>(args)...).c_str());
}

// An error after which the server goes on. Never fails: if memory is short, the log may lack the line, too.
inline void LogError(const char* what) noexcept {
  try {
    cli::Log(WASINN_LOG_ERROR, what);
  } catch (const std::exception&) {
    std::fputs("wasinn: error: out of memory\n", stderr);
  }
}

// Logs that a field of requests is ignored, since clients send it to any kind of server: once for each, for the first
// 256. `api`: the field's API; `place`: the text before the field's name, such as "inputs."; `field`: the client's word,
// of which the log has the beginning.
void LogIgnored(std::string_view api, std::string_view place, std::string_view field);
// The same for a line about any other ignored part of a request. The line is bounded.
void LogOnce(std::string line);

}  // namespace wasinn::serve
