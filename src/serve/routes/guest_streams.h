// Receivers of the output of a route's guest.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <wasinn/wasinn.hpp>

#include "engines/engine.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

// Keeps all of it, if there is room.
class KeptOutput final : public engines::Sink {
 public:
  KeptOutput(std::shared_ptr<MemoryBudget> budget, uint64_t most) : charge_(std::move(budget)), most_(most) {}

  bool Write(std::string_view bytes) noexcept override;

  enum class State { kWhole, kTooLarge, kNoMemory };
  struct Taken {
    State state = State::kWhole;
    std::string text;
    Charge charge;
  };
  // Later output is lost.
  Taken Take();

 private:
  bool Refuse(State why) {
    taken_.state = why;
    return false;
  }

  std::mutex mutex_;  // guards the members below
  Charge charge_;
  const uint64_t most_;
  Taken taken_;
  bool is_taken_ = false;
};

// Keeps its first lines, for the log.
class FirstLines final : public engines::Sink {
 public:
  bool Write(std::string_view bytes) noexcept override;
  // Later output is lost.
  std::vector<std::string> Take();

 private:
  std::mutex mutex_;  // guards the members below
  std::vector<std::string> lines_;
  std::string last_;  // without an end yet
  bool is_full_ = false;
};

// Guests' output goes to the log, but no more than one can read: clients decide how often guests run. Thread-safe.
class GuestLog {
 public:
  void Write(wasinn_log_level level, const std::string& guest, const std::string& line);

 private:
  std::mutex mutex_;  // guards the members below
  std::chrono::steady_clock::time_point second_;
  size_t n_written_ = 0, n_left_out_ = 0;  // in this second
};

}  // namespace wasinn::serve
