// What a worker's backend has to say, kept until an answer takes it along.
#pragma once

#include <wasinn/wasinn.h>

#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "core/isolation/message.h"
#include "core/log.h"

namespace wasinn::worker {

// Any thread.
class LogLines {
 public:
  core::Logger Logger(wasinn_log_level level) { return {&LogLines::Add, this, level}; }

  // As many as an answer has room for; the others come with the next.
  void Write(isolation::Writer& writer) {
    constexpr uint32_t kMost = 32;
    const std::lock_guard lock(mutex_);
    const auto count = static_cast<uint32_t>(std::min<size_t>(lines_.size(), kMost));
    writer.Number(count);
    for (uint32_t i = 0; i < count; ++i) {
      writer.Number(lines_.front().first);
      writer.Text(lines_.front().second);
      lines_.pop_front();
    }
  }

 private:
  // More than anybody reads: the first of them say what went wrong.
  static constexpr size_t kMostLines = 256;

  static void Add(void* self, wasinn_log_level level, const char* message) {
    auto& it = *static_cast<LogLines*>(self);
    const std::lock_guard lock(it.mutex_);
    if (it.lines_.size() < kMostLines) it.lines_.emplace_back(static_cast<uint32_t>(level), message);
  }

  std::mutex mutex_;
  std::deque<std::pair<uint32_t, std::string>> lines_;
};

}  // namespace wasinn::worker
