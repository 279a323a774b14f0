// How much of a prompt goes beside others' tokens, by a clock of the test's own.
#include "llama/pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace wasinn::llama {
namespace {

// A machine that takes so many seconds for a batch.
struct Machine {
  double batch = 0.01, token = 0;
  double dearer = 1;  // a token in a part of less than 64

  double Took(size_t prompt) const { return batch + token * (prompt < 64 ? dearer : 1) * static_cast<double>(prompt); }
};

// Tokens of the prompt in each of so many batches, the longest of which took so much longer than one without.
struct Outcome {
  size_t tokens = 0;
  double longest = 1;
};
Outcome Evaluate(Pace* pace, const Machine& machine, int batches) {
  Outcome run;
  for (int i = 0; i < batches; ++i) {
    const size_t room = std::min<size_t>(pace->Room(), 512);
    pace->Add(1, room, std::chrono::duration<double>(machine.Took(room)));
    run.tokens += room;
    run.longest = std::max(run.longest, machine.Took(room) / machine.Took(0));
  }
  return run;
}

TEST(LlamaPace, MakesBatchesNoMoreThanSoMuchLonger) {
  for (const double token : {1e-6, 1e-4, 5e-4, 2e-3, 5e-3}) {
    Pace pace;
    const Machine machine{.token = token};
    Evaluate(&pace, machine, 30);
    const Outcome run = Evaluate(&pace, machine, 200);
    EXPECT_LE(run.longest, std::max(1.65, machine.Took(Pace::kLeast) / machine.batch)) << token;
    // And no less than it may be.
    const double most = std::min(0.6 * machine.batch / token, 512.0);
    EXPECT_GE(static_cast<double>(run.tokens) / 200, 0.9 * std::max<double>(Pace::kLeast, std::floor(most))) << token;
  }
}

TEST(LlamaPace, GoesOnWhateverATokenTakes) {
  Pace pace;
  const Outcome run = Evaluate(&pace, {.token = 1}, 100);
  EXPECT_GE(run.tokens, 90u * Pace::kLeast);
}

TEST(LlamaPace, MakesPartsLargeWhereSmallOnesAreDear) {
  Pace pace;
  Evaluate(&pace, {.batch = 4e-4, .token = 1.5e-4, .dearer = 25}, 30);
  EXPECT_GE(Evaluate(&pace, {.batch = 4e-4, .token = 1.5e-4, .dearer = 25}, 200).tokens, 180 * Pace::kLarge);
  EXPECT_LE(Evaluate(&pace, {.batch = 4e-4, .token = 1.5e-4, .dearer = 2}, 200).tokens, 40 * Pace::kLarge);
}

TEST(LlamaPace, FollowsWhatChanges) {
  Pace pace;
  Evaluate(&pace, {.token = 1e-5}, 100);
  Evaluate(&pace, {.token = 5e-4}, 40);
  EXPECT_LE(Evaluate(&pace, {.token = 5e-4}, 100).longest, 1.65);
  Evaluate(&pace, {.batch = 0.1, .token = 2e-3}, 200);
  EXPECT_GE(Evaluate(&pace, {.batch = 0.1, .token = 2e-3}, 100).tokens, 20u * 100);
}

TEST(LlamaPace, ABatchThatSomethingElseHeldUpIsNoMeasure) {
  Pace pace;
  const Machine machine{.token = 5e-4};
  Evaluate(&pace, machine, 100);
  const size_t before = Evaluate(&pace, machine, 20).tokens;
  pace.Add(1, pace.Room(), std::chrono::seconds(10));
  EXPECT_GE(Evaluate(&pace, machine, 20).tokens, before / 2);
}

}  // namespace
}  // namespace wasinn::llama
