// The guest side as a core module, bench/guests/bench.c, for any engine.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "bench/guest.h"

// Made by bench/embed.cmake.
extern const unsigned char wasinn_bench_guest[];
extern const unsigned long wasinn_bench_guest_size;
extern const unsigned char wasinn_bench_once_guest[];
extern const unsigned long wasinn_bench_once_guest_size;
extern const unsigned char wasinn_bench_decode_guest[];
extern const unsigned long wasinn_bench_decode_guest_size;

namespace wasinn::bench {

class ModuleGuest : public GuestRunner {
 public:
  explicit ModuleGuest(Guest guest) : guest_(std::move(guest)) {}

  // Gives the guest its tensors, and lets it load the model.
  Result<void> Prepare(const std::string& name, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs);
  bool Run() override { return Call(kIterate, {}); }
  bool RunMany(uint32_t n) override { return Call(kIterateMany, {n}); }
  bool CallNothing() override { return Call(kNothing, {}); }
  std::string error() const override { return error_; }
  wasinn_statistics Statistics() const override { return guest_.Statistics(); }
  std::span<const uint8_t> output(size_t i) const override {
    return {Memory() + outputs_[i].address, outputs_[i].size};
  }

 protected:
  enum Function { kReserve, kPrepare, kIterate, kIterateMany, kNothing, kFunctions };
  static constexpr const char* kNames[kFunctions] = {"reserve", "prepare", "iterate", "iterate_many", "nothing"};
  static constexpr size_t kMaxArgs = 8;

  // Calls a function that takes and returns i32; the result goes into result_. Returns false if it trapped; error_ has
  // the reason.
  virtual bool Enter(Function function, std::initializer_list<uint32_t> args) = 0;
  virtual uint8_t* Memory() const = 0;

  Guest guest_;
  uint32_t result_ = 0;
  std::string error_;

 private:
  struct Place {
    uint32_t address;
    size_t size;
  };

  bool Call(Function function, std::initializer_list<uint32_t> args);
  uint32_t Put(const void* bytes, size_t size);

  std::vector<Place> outputs_;
  bool full_ = false;
};

// Its limits are so high that they affect no measurement.
Result<Guest> NewBenchGuest(const Host& host);

}  // namespace wasinn::bench
