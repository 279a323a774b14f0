// Passes messages to the embedder's logger. The library itself writes nowhere.
#pragma once

#include <wasinn/wasinn.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "core/runtime/clock.h"

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

// Allows some lines at once, and then a number for each second. Thread-safe.
class LogLimit {
 public:
  explicit LogLimit(double at_once = 100, double per_second = 1, Clock clock = {})
      : at_once_(at_once), per_second_(per_second), clock_(clock), lines_(at_once) {}

  // Whether a line may be written now. If so, `left_out` gets the number of lines that were dropped since the last one.
  bool Allow(uint64_t& left_out) {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = clock_.now();
    lines_ += std::chrono::duration<double>(now - last_).count() * per_second_;
    if (lines_ > at_once_) lines_ = at_once_;
    last_ = now;
    if (lines_ < 1) {
      ++left_out_;
      return false;
    }
    lines_ -= 1;
    left_out = left_out_;
    left_out_ = 0;
    return true;
  }

 private:
  const double at_once_, per_second_;
  const Clock clock_;
  std::mutex mutex_;
  Clock::time_point last_ = clock_.now();
  double lines_;
  uint64_t left_out_ = 0;
};

}  // namespace wasinn::core
