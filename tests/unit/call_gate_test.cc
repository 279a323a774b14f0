// When a backend's cancel is called: only while a call is inside, and its end waits for it.
#include "base/call_gate.h"

#include "support/gate.h"

namespace wasinn::testing {
namespace {

TEST(CallGate, CancelOnlyReachesACallThatIsInside) {
  base::CallGate gate;
  int cancels = 0;
  const auto cancel = [&] { gate.Cancel([&] { ++cancels; }); };
  cancel();
  gate.Enter();
  gate.Leave();
  cancel();
  EXPECT_EQ(cancels, 0);
  gate.Enter();
  cancel();
  cancel();
  EXPECT_EQ(cancels, 2) << "again and again while it is inside";
  gate.Close();
  cancel();
  gate.Leave();
  EXPECT_EQ(cancels, 2) << "its end was reported";
}

TEST(CallGate, ACallMayEndInsideOfItsCancel) {
  base::CallGate gate;
  gate.Enter();
  gate.Cancel([&] { gate.Close(); });
  gate.Leave();
}

// `flag` is the backend's, plain memory that no thread may touch once the call has left: a thread sanitizer watches.
TEST(CallGate, TheEndOfACallWaitsForTheCancelThatIsUnderWay) {
  base::CallGate gate;
  int flag = 0;
  std::atomic<bool> done = false;
  std::thread watchdog([&] {
    while (!done) {
      gate.Cancel([&] {
        std::this_thread::yield();
        flag = 1;
      });
    }
  });
  for (int cancelled = 0; cancelled < 100; cancelled += flag) {
    flag = 0;
    gate.Enter();
    std::this_thread::yield();
    gate.Leave();
  }
  done = true;
  watchdog.join();
}

}  // namespace
}  // namespace wasinn::testing
