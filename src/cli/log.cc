#include "cli/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "settings/text.h"

namespace wasinn::cli {
namespace {

std::shared_ptr<spdlog::logger> MakeLogger() {
  auto logger = std::make_shared<spdlog::logger>("wasinn", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%n: %^%l%$: %v");
  logger->set_level(spdlog::level::trace);  // the host has already dropped the levels that are off in its configuration
  return logger;
}

spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> logger = MakeLogger();
  return *logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case WASINN_LOG_ERROR:
      return spdlog::level::err;
    case WASINN_LOG_WARNING:
      return spdlog::level::warn;
    case WASINN_LOG_INFO:
      return spdlog::level::info;
    case WASINN_LOG_DEBUG:
      break;
  }
  return spdlog::level::debug;
}

void Write(LogLevel level, const std::string& printable) {
  // The library does not know the flags.
  const bool is_unknown_model = printable.find(": no model is registered as ") != std::string::npos;
  Logger().log(ToSpdlog(level), "{}{}", printable, is_unknown_model ? " (--model NAME=PATH registers one)" : "");
}

}  // namespace

void Log(LogLevel level, const char* message) { Write(level, settings::PrintableName(message)); }

void SetLogLevel(const std::string& word) {
  const auto level = spdlog::level::from_str(word);  // "off" for an unknown word
  if (level != spdlog::level::off) Logger().set_level(level);
}

void LogCompiling(const std::string& path, size_t bytes, bool is_kept) {
  // Wasmtime compiles about 1.5 MB in a second of a processor. Interpreters of Python and JavaScript are larger.
  constexpr size_t kLarge = 6 << 20;
  if (bytes < kLarge) return;
  const std::string name = settings::LastComponent(path);
  Log(WASINN_LOG_INFO, fmt::format("compiling {}{}: this takes a while", name, is_kept ? ", once" : "").c_str());
}

void LogRecord(const wasinn_log_record& record) { Log(static_cast<LogLevel>(record.level), record.message); }

int Fail(const std::string& message) {
  Log(WASINN_LOG_ERROR, message.c_str());
  return kFailure;
}

int FailWithLines(const std::string& name, std::string message) {
  const std::string printable = settings::PrintableName(name);
  for (size_t at = message.find(name); printable != name && at != std::string::npos; at = message.find(name, at)) {
    message.replace(at, name.size(), printable);
    at += printable.size();
  }
  Write(WASINN_LOG_ERROR, settings::Printable(message));
  return kFailure;
}

}  // namespace wasinn::cli
