// The command's messages besides its results: one line each on stderr, "wasinn: warning: ...".
#pragma once

#include <cstddef>
#include <string>
#include <wasinn/wasinn.hpp>

namespace wasinn::cli {

// Exit codes of the command itself; a guest's own code passes through.
inline constexpr int kFailure = 125;  // as in env and timeout, different from a guest's
inline constexpr int kUsage = 2;

// Thread-safe. Writes one line: a newline in the message could begin a line that looks like the command's own.
void Log(LogLevel level, const char* message);
// The least important level: "error", "warning", "info" or "debug"; another word changes nothing.
void SetLogLevel(const std::string& word);
// Writes a line of the library's log.
void LogRecord(const wasinn_log_record& record);

// engines::EngineOptions::compiling: logs that a large program is compiled. Its size and not the time decides, so that
// the same program always gives the same lines.
void LogCompiling(const std::string& path, size_t bytes, bool is_kept);

// Reports why the command failed, and returns kFailure.
int Fail(const std::string& message);
// As above, for an engine's message about that program, with lines: a backtrace, or the place of an error in a text.
int FailWithLines(const std::string& name, std::string message);

}  // namespace wasinn::cli
