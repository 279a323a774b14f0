// The run of a guest's program: what interrupts it, and when nothing does any more.
#include "support/echo.h"
#include "support/gate.h"

namespace wasinn::testing {
namespace {

// A program that ends when it is interrupted.
class RunProgram {
 public:
  static void Interrupt(void* self) {
    auto& program = *static_cast<RunProgram*>(self);
    ++program.interrupts_;
    program.interrupts_.notify_all();
  }
  int interrupts() const { return interrupts_; }
  void Await(int count) const {
    for (int now = interrupts_; now < count; now = interrupts_) interrupts_.wait(now);
  }

 private:
  std::atomic<int> interrupts_{0};
};

class GuestRunTest : public ::testing::Test {
 protected:
  GuestPtr WithTimeout(uint32_t ms) { return NewGuest(host_.get(), &wasinn_limits::run_timeout_ms, ms); }
  wasinn_code Begin(wasinn_guest* guest) {
    const StatusPtr status(wasinn_guest_begin_run(guest, RunProgram::Interrupt, &program_));
    return wasinn_status_code(status.get());
  }

  Log log_;
  const HostPtr host_ = EchoHost(log_, "limits.compute_timeout_ms = 0\n");
  RunProgram program_;
};

constexpr uint32_t kNever = 3'600'000;

TEST_F(GuestRunTest, ADeadlineInterruptsAgainAndAgain) {
  const GuestPtr guest = WithTimeout(20);
  ASSERT_EQ(Begin(guest.get()), WASINN_OK);
  program_.Await(3);
  EXPECT_TRUE(wasinn_guest_end_run(guest.get()));
  const int interrupts = program_.interrupts();
  EXPECT_FALSE(wasinn_guest_end_run(guest.get()));
  FakeGuest calls(guest.get());
  uint32_t graph = 0;
  EXPECT_EQ(calls.LoadByName("x", graph), 5u) << "the guest is closed to new calls";
  wasinn_guest_close(guest.get());
  EXPECT_EQ(program_.interrupts(), interrupts) << "the run is over";
}

TEST_F(GuestRunTest, ARunThatEndsInTimeIsNotInterrupted) {
  const GuestPtr guest = WithTimeout(kNever);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Begin(guest.get()), WASINN_OK);
    EXPECT_FALSE(wasinn_guest_end_run(guest.get()));
  }
  wasinn_guest_close(guest.get());
  EXPECT_EQ(program_.interrupts(), 0);
}

TEST_F(GuestRunTest, ADeadlineCancelsWhatComputes) {
  AddEchoModel(host_.get(), "endless", "in x f32 1\ndelay 100000000\n");
  const GuestPtr guest = WithTimeout(100);
  FakeGuest calls(guest.get());
  const uint32_t context = calls.NewContext("endless");
  ASSERT_EQ(calls.Set(context, {7}), kSuccess);
  ASSERT_EQ(Begin(guest.get()), WASINN_OK);
  EXPECT_NE(calls.Compute(context), kSuccess);
  EXPECT_TRUE(wasinn_guest_end_run(guest.get()));
}

TEST_F(GuestRunTest, AStopInterruptsIt) {
  for (const uint32_t timeout : {0u, kNever}) {
    const GuestPtr guest = WithTimeout(timeout);
    RunProgram program;
    const StatusPtr status(wasinn_guest_begin_run(guest.get(), RunProgram::Interrupt, &program));
    ASSERT_EQ(status, nullptr);
    std::thread stopping([&] { wasinn_guest_stop(guest.get()); });
    program.Await(3);
    stopping.join();
    EXPECT_FALSE(wasinn_guest_end_run(guest.get())) << "its deadline has not passed";
  }
}

TEST_F(GuestRunTest, ACloseInterruptsItAndEndsTheRun) {
  const GuestPtr guest = WithTimeout(kNever);
  ASSERT_EQ(Begin(guest.get()), WASINN_OK);
  wasinn_guest_close(guest.get());
  const int interrupts = program_.interrupts();
  EXPECT_GE(interrupts, 1);
  wasinn_guest_close(guest.get());
  EXPECT_EQ(program_.interrupts(), interrupts);
  EXPECT_FALSE(wasinn_guest_end_run(guest.get()));
}

TEST_F(GuestRunTest, ARunThatCannotBegin) {
  const GuestPtr guest = WithTimeout(0);
  ASSERT_EQ(Begin(guest.get()), WASINN_OK);
  EXPECT_EQ(Begin(guest.get()), WASINN_ERROR_RUNTIME) << "one at a time";
  EXPECT_FALSE(wasinn_guest_end_run(guest.get()));
  wasinn_guest_stop(guest.get());
  EXPECT_EQ(Begin(guest.get()), WASINN_ERROR_RUNTIME) << "it is closed";
  EXPECT_EQ(program_.interrupts(), 0);
}

TEST_F(GuestRunTest, ItsLimitsAreSettings) {
  Log log;
  const HostPtr host =
      EchoHost(log, "[limits]\nrun_timeout_ms = 7\nmax_memory_bytes = 65536\nmax_table_elements = 9\nmax_fuel = 11\n");
  wasinn_limits limits{.struct_size = sizeof limits};
  ASSERT_EQ(wasinn_host_limits(host.get(), &limits), nullptr);
  EXPECT_EQ(limits.run_timeout_ms, 7u);
  EXPECT_EQ(limits.max_memory_bytes, 65536u);
  wasinn_engine_limits program{.struct_size = sizeof program};
  ASSERT_EQ(wasinn_host_engine_limits(host.get(), &program), nullptr);
  EXPECT_EQ(program.max_table_elements, 9u);
  EXPECT_EQ(program.max_fuel, 11u);
}

}  // namespace
}  // namespace wasinn::testing
