// Inputs in guest memory while a compute reads them, and another thread ends it.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "support/gate.h"
#include "unit/lent_memory.h"

namespace wasinn::testing {
namespace {

// Whoever ends a compute waits until it is out of the guest's memory.
class LentInputInFlight : public LentInput {
 protected:
  // A compute that cannot be cancelled, under way until the gate is opened.
  void Begin() {
    context_ = NewContext("in x f32 2\ndeaf\n" + gate_.Compute());
    memory_.Write<float>(LentMemory::kData, {1, 2});
    ASSERT_EQ(memory_.SetFloats(context_, LentMemory::kData), kSuccess);
    thread_ = std::thread([this] {
      error_ = memory_.Call("compute", {context_});
      returned_ = true;
    });
    gate_.Await();
  }

  const Gate gate_;
  std::thread thread_;
  std::atomic<bool> returned_{false};
  std::atomic<uint32_t> error_{~0u};
  uint32_t context_ = 0;
};

TEST_F(LentInputInFlight, CloseWaits) {
  Begin();
  std::atomic<bool> closed{false};
  std::thread closing([&] {
    wasinn_guest_close(program_.guest.get());
    closed = true;
    memory_.Move(64);  // nobody looks there any more
  });
  LentMemory other(program_.guest.get(), 8);
  constexpr uint32_t kNothing = 1000;
  while (other.Call("finalize_execution_context", {kNothing}) == kInvalidArgument) std::this_thread::yield();
  EXPECT_FALSE(closed) << "the guest is closed, and waits for the compute";
  gate_.Open();
  closing.join();
  thread_.join();
  EXPECT_EQ(error_, kRuntimeError);
}

TEST_F(LentInputInFlight, FinalizeLeavesItToTheCall) {
  Begin();
  EXPECT_EQ(LentMemory(program_.guest.get(), 8).Call("finalize_execution_context", {context_}), kSuccess);
  EXPECT_FALSE(returned_);
  gate_.Open();
  thread_.join();
  EXPECT_EQ(error_, kRuntimeError) << "cancelled";
  memory_.Move(64);
  EXPECT_EQ(Stats().tensor_bytes, 0u);
}

}  // namespace
}  // namespace wasinn::testing
