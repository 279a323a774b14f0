// Passes messages to the embedder's logger. The library itself writes nowhere.
#pragma once

#include <wasinn/wasinn.h>

#include <string_view>

namespace wasinn::core {

class Logger {
 public:
  Logger() = default;
  Logger(wasinn_log_fn function, void* user, wasinn_log_level level)
      : function_(function), user_(user), level_(level) {}

  bool Wants(uint32_t level) const { return function_ != nullptr && level <= level_; }
  wasinn_log_level level() const { return level_; }
  // Writes one line. It escapes control characters and cuts long messages, because they quote names and texts of guests
  // and models.
  void Write(wasinn_log_level level, std::string_view message) const { Write({.level = level}, message); }
  // As above; `record` has everything except the message.
  void Write(const wasinn_log_record& record, std::string_view message) const;

 private:
  wasinn_log_fn function_ = nullptr;
  void* user_ = nullptr;
  wasinn_log_level level_ = WASINN_LOG_WARNING;
};

}  // namespace wasinn::core
