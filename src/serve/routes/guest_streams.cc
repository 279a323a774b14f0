#include "serve/routes/guest_streams.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "serve/log.h"
#include "settings/text.h"

namespace wasinn::serve {
namespace {

constexpr size_t kMostLine = 1024, kMostLines = 16;  // of one run
constexpr size_t kMostPerSecond = 100;

}  // namespace

bool KeptOutput::Write(std::string_view bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_taken_ || taken_.state != State::kWhole) return false;
  if (bytes.size() > most_ - taken_.text.size()) return Refuse(State::kTooLarge);
  try {
    if (!charge_.Add(2 * bytes.size())) return Refuse(State::kNoMemory);  // a growing text has room for more
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

bool FirstLines::Write(std::string_view bytes) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    while (!is_full_ && !bytes.empty()) {
      const size_t end = bytes.find('\n');
      last_ += bytes.substr(0, std::min(end, kMostLine - last_.size()));
      if (end == bytes.npos) break;
      lines_.push_back(std::exchange(last_, {}));
      is_full_ = lines_.size() == kMostLines;
      bytes.remove_prefix(end + 1);
    }
  } catch (const std::exception&) {
    is_full_ = true;
  }
  return true;
}

std::vector<std::string> FirstLines::Take() {
  const std::lock_guard lock(mutex_);
  if (!last_.empty() && !is_full_) lines_.push_back(std::move(last_));
  is_full_ = true;
  return std::move(lines_);
}

void GuestLog::Write(wasinn_log_level level, const std::string& guest, const std::string& line) {
  size_t left_out = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now - second_ >= std::chrono::seconds(1)) {
      second_ = now;
      n_written_ = 0;
      left_out = std::exchange(n_left_out_, 0);
    }
    if (n_written_ == kMostPerSecond) {
      ++n_left_out_;
      return;
    }
    ++n_written_;
  }
  if (left_out > 0) Log(WASINN_LOG_WARNING, "{} lines about guests were left out", left_out);
  Log(level, "guest '{}': {}", guest, settings::Printable(line));
}

}  // namespace wasinn::serve
