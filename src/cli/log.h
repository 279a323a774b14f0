// What the command says beside its results: one line each on stderr, "wasinn: warning: ...".
#pragma once

#include <string>
#include <wasinn/wasinn.hpp>

namespace wasinn::cli {

// Exit codes of the command itself; a guest's own code passes through.
inline constexpr int kFailure = 125;  // as env and timeout have it, to tell it from a guest's
inline constexpr int kUsage = 2;

// Any thread. One line, whatever the message has: a newline of somebody else's could begin a line that looks like ours.
void Log(LogLevel level, const char* message);
// Of these lines: "error", "warning", "info" or "debug"; another word changes nothing.
void SetLogLevel(const std::string& word);
// What the library logs.
void LogRecord(const wasinn_log_record& record);

// Says why the command failed, and returns kFailure.
int Fail(const std::string& message);
// The same of an engine's words about the program of that name, which have lines: a backtrace, or where a mistake in a text is.
int FailWithLines(const std::string& name, std::string message);

}  // namespace wasinn::cli
