#include "core/models/single_flight.h"
#include "support/test.h"

namespace wasinn::core {
namespace {

using namespace std::chrono_literals;

// A caller that has waited for others before: repeated attempts of others hold up no caller for ever.
TEST(SingleFlight, PatienceIsOneForAllAttempts) {
  Watchdog watchdog;
  const WaitOptions patience{.watchdog = &watchdog, .deadline = 1h, .since = std::chrono::steady_clock::now() - 1h};
  SingleFlight<int> made(SingleFlight<int>::Failures::kOfOne);
  const Result<int> result = made.Get(patience, "a model", [&]() -> Result<int> {
    const Result<int> waits = made.Get(patience, "a model", [] { return Result<int>(1); });
    EXPECT_EQ(waits.error().code(), WASINN_ERROR_TIMEOUT);
    EXPECT_THAT(std::string(waits.error().message()), ::testing::HasSubstr("after 3600000 ms"));
    return 2;
  });
  EXPECT_EQ(result, 2);
}

// If it was forgotten while it was made, only the caller that made it gets the result.
TEST(SingleFlight, AnObjectThatIsForgottenDuringItsAttemptIsMadeAgain) {
  SingleFlight<int> made;
  const Result<int> first = made.Get({}, "a model", [&]() -> Result<int> {
    made.Forget();
    EXPECT_EQ(made.Get({}, "a model", [] { return Result<int>(2); }), 2);
    return 1;
  });
  EXPECT_EQ(first, 1);
  EXPECT_EQ(made.Peek(), 2);
  made.Forget();
  EXPECT_EQ(made.Peek(), std::nullopt);
}

TEST(SingleFlight, NothingIsLeftOfADeadlineOnlyIfThereIsNone) {
  EXPECT_EQ(WaitOptions{}.left(), 0ms);
  EXPECT_GT((WaitOptions{.deadline = 1h}.left()), 59min);
}

}  // namespace
}  // namespace wasinn::core
