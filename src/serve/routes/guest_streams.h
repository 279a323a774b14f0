// Where what a route's guest writes goes.
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

// All of it is kept, as far as there is room.
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
  // What is written from here on is lost.
  Taken Take();

 private:
  bool Refuse(State why) {
    taken_.state = why;
    return false;
  }

  std::mutex mutex_;  // of what follows
  Charge charge_;
  const uint64_t most_;
  Taken taken_;
  bool is_taken_ = false;
};

// Its first lines are kept, for the log.
class FirstLines final : public engines::Sink {
 public:
  bool Write(std::string_view bytes) noexcept override;
  // What is written from here on is lost.
  std::vector<std::string> Take();

 private:
  std::mutex mutex_;  // of what follows
  std::vector<std::string> lines_;
  std::string last_;  // that has no end yet
  bool is_full_ = false;
};

// What guests say goes to the log, and not more of it than somebody could read: clients decide how often they run. Any thread.
class GuestLog {
 public:
  void Write(wasinn_log_level level, const std::string& guest, const std::string& line);

 private:
  std::mutex mutex_;  // of what follows
  std::chrono::steady_clock::time_point second_;
  size_t n_written_ = 0, n_left_out_ = 0;  // in this second
};

}  // namespace wasinn::serve
