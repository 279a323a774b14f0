#include "worker/self_status.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <thread>

namespace wasinn::worker {

SelfStatus::SelfStatus() : file_(open("/proc/self/status", O_RDONLY | O_CLOEXEC)) {}

bool SelfStatus::HasThreads(uint64_t count) const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (threads() != count) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

std::optional<uint64_t> SelfStatus::Bytes(std::string_view name) const {
  const auto kib = Number(name);
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}
std::optional<uint64_t> SelfStatus::data_bytes() const { return Bytes("\nVmData:"); }
std::optional<uint64_t> SelfStatus::all_bytes() const { return Bytes("\nVmSize:"); }

std::optional<uint64_t> SelfStatus::Number(std::string_view name) const {
  std::array<char, 4096> bytes;
  const ssize_t got = pread(file_.number(), bytes.data(), bytes.size(), 0);
  const std::string_view text(bytes.data(), got < 0 ? 0 : static_cast<size_t>(got));
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const size_t digit = text.find_first_not_of(" \t", at + name.size());
  uint64_t number = 0;
  if (digit == std::string_view::npos ||
      std::from_chars(text.data() + digit, text.data() + text.size(), number).ec != std::errc()) {
    return std::nullopt;
  }
  return number;
}

}  // namespace wasinn::worker
