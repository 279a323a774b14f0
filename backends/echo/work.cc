#include "work.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace wasinn::echo {

bool Pass(const std::string& gate, const std::atomic<bool>& cancelled) {
  if (gate.empty()) return true;
  ::close(::open((gate + ".reached").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  // Allocates nothing: a test may fork in the meantime.
  while (::access(gate.c_str(), F_OK) != 0) {
    if (cancelled.load()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void Die() {
  std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would write a report
  std::raise(SIGSEGV);
}

bool Work(int ms, const std::string& gate, const std::atomic<bool>& cancelled) {
  if (!Pass(gate, cancelled)) return false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (std::chrono::steady_clock::now() < end) {
    if (cancelled.load()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace wasinn::echo
