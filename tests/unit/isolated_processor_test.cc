// The processor on which a worker computes.
#include <sched.h>

#include "support/this_build.h"
#include "unit/isolated_program.h"
#include "unit/turned_host.h"

namespace wasinn::testing {
namespace {

// In the system's form: "0-1", or "1".
std::string ProcessorsOf(const std::filesystem::path& task) {
  std::ifstream status(task / "status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kName = "Cpus_allowed_list:\t";
    if (line.starts_with(kName)) return line.substr(kName.size());
  }
  return "";
}

// The threads of all workers and zygotes.
std::vector<std::string> ProcessorsOfWorkers() {
  std::vector<std::string> all;
  for (const pid_t process : KnownProcesses()) {
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
      all.push_back(ProcessorsOf(task.path()));
    }
  }
  return all;
}

class IsolatedProcessor : public Isolation {
 protected:
  void SetUp() override {
    ASSERT_EQ(::sched_getaffinity(0, sizeof(before_), &before_), 0);
    if (CPU_COUNT(&before_) < 2) GTEST_SKIP() << "this machine has one processor";
  }
  void TearDown() override { EXPECT_EQ(::sched_setaffinity(0, sizeof(before_), &before_), 0); }

  // This thread runs on it from now on.
  int StayOnOne() {
    const int number = ::sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(number, &one);
    EXPECT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    return number;
  }

  // How many threads of workers are bound to that one.
  static long CountOn(int number) { return std::ranges::count(ProcessorsOfWorkers(), std::to_string(number)); }

 private:
  cpu_set_t before_{};
};

TEST_F(IsolatedProcessor, IsTheCallersIfComputesAreQuick) {
  core::Clock::Hands hands;
  const HostPtr host = TurnedHost(hands, log, Settings("[limits]\ncompute_timeout_ms = 50\n"));
  Program program(host.get());
  const uint32_t context = program.Open("in x f32 1\nendless 64\n");
  ASSERT_NE(context, 0u);
  program.Infer(context, {0});
  const int here = StayOnOne();
  // On a machine that is busy some take longer, and are not quick.
  while (CountOn(here) == 0) program.Infer(context, {0});
  EXPECT_EQ(CountOn(here), 1) << ::testing::PrintToString(ProcessorsOfWorkers());

  auto slow = std::async(std::launch::async, [&] { return program.Infer(context, {2}); });  // 2 is 0x40000000
  // In large steps, lest the worker be ended before it has read that it is to stop.
  do hands.Turn(std::chrono::milliseconds(50));
  while (slow.wait_for(std::chrono::seconds(1)) != std::future_status::ready);
  EXPECT_TRUE(slow.get().empty());
  EXPECT_FALSE(program.Infer(context, {0}).empty());
  EXPECT_EQ(CountOn(here), 0) << "the last one but one was slow";
}

// Each side looks for the other's messages, and needs a processor for that.
TEST_F(IsolatedProcessor, IsAnotherWhereBothSpin) {
  const HostPtr host = EchoHost(
      log, std::string("worker = \"") + WorkerFile() + "\"\nworker_spin_us = 1\n[policy]\nload = \"isolated\"\n");
  Program program(host.get());
  const uint32_t context = program.Open("in x f32 1\n");
  ASSERT_NE(context, 0u);
  program.Infer(context, {0});
  const int here = StayOnOne();
  for (int i = 0; i < 100; ++i) program.Infer(context, {0});
  EXPECT_EQ(CountOn(here), 0);
}

}  // namespace
}  // namespace wasinn::testing
