// Where what a route's guest writes goes.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "engines/engine.h"
#include "serve/memory_budget.h"

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

// Its first lines go to the log, each with the guest's name.
class LoggedOutput final : public engines::Sink {
 public:
  explicit LoggedOutput(std::string name) : name_(std::move(name)) {}

  bool Write(std::string_view bytes) noexcept override;
  // The last line may have no end.
  void Flush();

 private:
  void LogLine(std::string_view line);

  const std::string name_;
  std::mutex mutex_;  // of what follows
  std::string line_;
  size_t left_ = 16;  // lines that the log still gets of this run
};

}  // namespace wasinn::serve
