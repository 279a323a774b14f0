#include "cli/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string_view>

#include "settings/text.h"

namespace wasinn::cli {
namespace {

std::shared_ptr<spdlog::logger> MakeLogger() {
  auto logger = std::make_shared<spdlog::logger>("wasinn", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%n: %^%l%$: %v");
  logger->set_level(spdlog::level::trace);  // the host has left out what its configuration does not want
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

}  // namespace

void Log(LogLevel level, const char* message) {
  // The library knows no flags.
  const bool is_unknown_model =
      std::string_view(message).find(": no model is registered as ") != std::string_view::npos;
  Logger().log(ToSpdlog(level), "{}{}", settings::Printable(message),
               is_unknown_model ? " (--model NAME=PATH registers one)" : "");
}

int Fail(const std::string& message) {
  Log(WASINN_LOG_ERROR, message.c_str());
  return kFailure;
}

}  // namespace wasinn::cli
