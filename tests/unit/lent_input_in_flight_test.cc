// Inputs in guest memory while a compute reads them, and somebody ends it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "unit/lent_memory.h"

namespace wasinn::testing {
namespace {

// Whoever ends a compute waits until it is out of the guest's memory.
class LentInputInFlight : public LentInput {
 protected:
  // A compute of 300 ms that cannot be cancelled, under way.
  void Begin() {
    context_ = NewContext("in x f32 2\ndelay 300\ndeaf\n");
    memory_.Write<float>(LentMemory::kData, {1, 2});
    ASSERT_EQ(memory_.SetFloats(context_, LentMemory::kData), kSuccess);
    thread_ = std::thread([this] {
      error_ = memory_.Call("compute", {context_});
      returned_ = true;
    });
    while (Stats().computes == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  std::thread thread_;
  std::atomic<bool> returned_{false};
  std::atomic<uint32_t> error_{~0u};
  uint32_t context_ = 0;
};

TEST_F(LentInputInFlight, CloseWaits) {
  const auto start = std::chrono::steady_clock::now();
  Begin();
  wasinn_process_close(process_.get());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(300));
  memory_.Move(64);  // nobody looks there any more
  thread_.join();
  EXPECT_EQ(error_, kRuntimeError);
}

TEST_F(LentInputInFlight, FinalizeLeavesItToTheCall) {
  Begin();
  EXPECT_EQ(LentMemory(process_.get(), 8).Call("finalize_execution_context", {context_}), kSuccess);
  EXPECT_FALSE(returned_);
  thread_.join();
  EXPECT_EQ(error_, kRuntimeError) << "cancelled";
  memory_.Move(64);
  EXPECT_EQ(Stats().tensor_bytes, 0u);
}

TEST_F(LentInputInFlight, AnotherThreadIsTold) {
  Begin();
  LentMemory other(process_.get(), 8);
  EXPECT_EQ(other.Call("compute", {context_}), kBusy);
  EXPECT_EQ(other.SetFloats(context_, LentMemory::kData), kBusy);
  thread_.join();
  EXPECT_EQ(error_, kSuccess);
}

}  // namespace
}  // namespace wasinn::testing
