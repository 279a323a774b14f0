#include "serve/guest_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "cli/log.h"

namespace wasinn::serve {
namespace {

constexpr size_t kMostLine = 1024;

}  // namespace

bool KeptOutput::Write(std::string_view bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_taken_ || taken_.state != State::kWhole) return false;
  if (bytes.size() > most_ - taken_.text.size()) return Refuse(State::kTooLarge);
  try {
    if (!charge_.Add(2 * bytes.size())) return Refuse(State::kNoMemory);  // a text that grows has room for more
    taken_.text += bytes;
    return true;
  } catch (const std::exception&) {
    return Refuse(State::kNoMemory);
  }
}

KeptOutput::Taken KeptOutput::Take() {
  const std::lock_guard lock(mutex_);
  is_taken_ = true;
  charge_.ShrinkTo(taken_.text.capacity());
  taken_.charge = std::move(charge_);
  return std::move(taken_);
}

// Of `mutex_`.
void LoggedOutput::LogLine(std::string_view line) {
  if (left_ == 0) return;
  const char* const more = --left_ == 0 ? " (the log gets no more of this run)" : "";
  cli::Log(WASINN_LOG_INFO, fmt::format("guest '{}': {}{}", name_, line, more).c_str());
}

bool LoggedOutput::Write(std::string_view bytes) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    while (left_ > 0 && !bytes.empty()) {
      const size_t end = bytes.find('\n');
      line_ += bytes.substr(0, std::min(end, kMostLine - line_.size()));
      if (end == bytes.npos && line_.size() < kMostLine) break;
      LogLine(line_);
      line_.clear();
      if (end == bytes.npos) break;  // what is longer than a line may be is left out
      bytes.remove_prefix(end + 1);
    }
  } catch (const std::exception&) {
    left_ = 0;
  }
  return true;
}

void LoggedOutput::Flush() {
  const std::lock_guard lock(mutex_);
  if (!line_.empty()) LogLine(line_);
  line_.clear();
}

}  // namespace wasinn::serve
