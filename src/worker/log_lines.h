// The log lines of a worker's backend, kept until an answer takes them along.
#pragma once

#include <wasinn/wasinn.h>

#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "core/isolation/protocol.h"
#include "core/runtime/log.h"

namespace wasinn::worker {

// Thread-safe.
class LogLines {
 public:
  core::Logger Logger(wasinn_log_level level) { return {&LogLines::Add, this, level}; }

  // Writes as many as an answer has room for; the others come with the next.
  void Write(isolation::Writer& writer) {
    constexpr uint32_t kMax = 32;
    constexpr size_t kMaxBytes = 32u << 10;  // enough for several lines
    const std::lock_guard lock(mutex_);
    const size_t count_at = writer.used();
    writer.Number(uint32_t{0});
    uint32_t count = 0;
    for (size_t bytes = 0; count < kMax && !lines_.empty(); ++count) {
      bytes += lines_.front().second.size();
      if (bytes > kMaxBytes) break;
      writer.Number(lines_.front().first);
      writer.Text(lines_.front().second);
      lines_.pop_front();
    }
    writer.NumberAt(count_at, count);
  }

 private:
  // More than anyone reads: the first of them show the problem.
  static constexpr size_t kMaxLines = 256;

  static void Add(void* self, const wasinn_log_record* record) {
    auto& it = *static_cast<LogLines*>(self);
    const std::lock_guard lock(it.mutex_);
    if (it.lines_.size() < kMaxLines) it.lines_.emplace_back(record->level, record->message);
  }

  std::mutex mutex_;
  std::deque<std::pair<uint32_t, std::string>> lines_;
};

}  // namespace wasinn::worker
