// How much of a prompt goes beside others' tokens, by a clock of the test's own.
#include "llama/pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace wasinn::llama {
namespace {

constexpr size_t kWaits = 500;  // tokens of prompts

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
Outcome Evaluate(Pace* pace, const Machine& machine, int batches, size_t waits = kWaits) {
  Outcome run;
  for (int i = 0; i < batches; ++i) {
    const size_t room = std::min<size_t>(pace->Room(waits), 512);
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
  EXPECT_LE(Evaluate(&pace, {.batch = 4e-4, .token = 1.5e-4}, 500).tokens, 260 * Pace::kLarge) << "it notices";
  Pace other;
  EXPECT_LE(Evaluate(&other, {.batch = 4e-4, .token = 1.5e-4}, 200).tokens, 40 * Pace::kLarge);
}

TEST(LlamaPace, KeepsThemSmallWhileALongPromptWaits) {
  Pace pace;
  const Machine machine{.batch = 1e-2, .token = 1e-3, .dearer = 1.6};
  pace.Add(0, 512, std::chrono::duration<double>(0.512));
  Evaluate(&pace, machine, 30);
  EXPECT_LE(Evaluate(&pace, machine, 200, 4000).tokens, 40 * Pace::kLarge);
  EXPECT_GE(Evaluate(&pace, machine, 200, 1000).tokens, 180 * Pace::kLarge);
}

TEST(LlamaPace, MakesThemLargeForLittleOnlyWhereThatTakesNoLongTime) {
  for (const double token : {1e-3, 1e-2}) {
    Pace pace;
    const Machine machine{.batch = 10 * token, .token = token, .dearer = 1.6};
    pace.Add(0, 512, std::chrono::duration<double>(512 * token));  // a prompt alone
    Evaluate(&pace, machine, 30);
    const size_t tokens = Evaluate(&pace, machine, 200).tokens;
    if (Pace::kLarge * token < 1) {
      EXPECT_GE(tokens, 180 * Pace::kLarge);
    } else {
      EXPECT_LE(tokens, 40 * Pace::kLarge);
    }
  }
}

TEST(LlamaPace, FollowsWhatChanges) {
  Pace pace;
  Evaluate(&pace, {.token = 1e-5}, 100);
  Evaluate(&pace, {.token = 5e-4}, 40);
  EXPECT_LE(Evaluate(&pace, {.token = 5e-4}, 100).longest, 1.65);
  Evaluate(&pace, {.batch = 0.1, .token = 2e-3}, 200);
  EXPECT_GE(Evaluate(&pace, {.batch = 0.1, .token = 2e-3}, 100).tokens, 20u * 100);
}

TEST(LlamaPace, MeasuresAnewWhereFewerOrMoreGenerate) {
  Pace pace;
  pace.Add(8, 0, std::chrono::duration<double>(0.08));
  EXPECT_GT(pace.Room(kWaits, 8), 0u);
  EXPECT_GT(pace.Room(kWaits, 7), 0u);
  EXPECT_EQ(pace.Room(kWaits, 1), 0u);
  pace.Add(1, 0, std::chrono::duration<double>(0.01));
  // A token of a prompt takes 0.5 ms: beside the batch of eight there would be room for 96.
  for (int i = 0; i < 20; ++i) {
    const size_t room = pace.Room(kWaits, 1);
    pace.Add(1, room, std::chrono::duration<double>(0.01 + 0.0005 * static_cast<double>(room)));
  }
  EXPECT_EQ(pace.Room(kWaits, 1), 12u);
}

TEST(LlamaPace, ABatchThatSomethingElseHeldUpIsNoMeasure) {
  Pace pace;
  const Machine machine{.token = 5e-4};
  Evaluate(&pace, machine, 100);
  const size_t before = Evaluate(&pace, machine, 20).tokens;
  pace.Add(1, pace.Room(kWaits), std::chrono::seconds(10));
  EXPECT_GE(Evaluate(&pace, machine, 20).tokens, before / 2);
}

}  // namespace
}  // namespace wasinn::llama
