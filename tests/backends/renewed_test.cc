#include "common/renewed.h"
#include "support/test.h"

#include <latch>

namespace wasinn::backend {
namespace {

struct Thing {
  explicit Thing(int id) : number(id) {}
  const int number;
  std::atomic<bool> worn = false;
};
bool Enter(const Thing& thing) { return !thing.worn; }

TEST(Renewed, IsMadeAnewOnceForAll) {
  std::atomic<int> made = 0;
  Renewed<Thing> shared([&] { return std::make_shared<Thing>(++made); });
  std::atomic<bool> cancelled = false;
  const auto first = shared.Use(Enter, cancelled);
  EXPECT_EQ(shared.Use(Enter, cancelled), first);
  first->worn = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 1000; ++round) ASSERT_EQ(shared.Use(Enter, cancelled)->number, 2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 2);
  EXPECT_EQ(first->number, 1) << "its holder keeps it";
}

TEST(Renewed, NoCallerWaitsLongerThanItMay) {
  std::latch begun(1), go_on(1);
  int made = 0;
  Renewed<Thing> shared([&] {
    if (++made == 2) {
      begun.count_down();
      go_on.wait();
    }
    return std::make_shared<Thing>(made);
  });
  std::atomic<bool> cancelled = false;
  shared.Use(Enter, cancelled)->worn = true;
  std::thread maker([&] {
    const std::atomic<bool> own = false;
    EXPECT_EQ(shared.Use(Enter, own)->number, 2);
  });
  begun.wait();
  std::thread patient([&] {
    const std::atomic<bool> own = false;
    EXPECT_EQ(shared.Use(Enter, own)->number, 2);
  });
  std::thread waiting([&] { EXPECT_EQ(shared.Use(Enter, cancelled), nullptr); });
  cancelled = true;
  waiting.join();  // though it is not made yet
  go_on.count_down();
  maker.join();
  patient.join();
  EXPECT_EQ(made, 2);
}

TEST(Renewed, AFailureIsTheNextOnesChance) {
  int made = 0;
  Renewed<Thing> shared([&] {
    if (++made == 2) throw std::runtime_error("not now");
    return std::make_shared<Thing>(made);
  });
  const std::atomic<bool> cancelled = false;
  shared.Use(Enter, cancelled)->worn = true;
  EXPECT_THROW(shared.Use(Enter, cancelled), std::runtime_error);
  EXPECT_EQ(shared.Use(Enter, cancelled)->number, 3);
}

TEST(Renewed, TheFirstIsTakenOnce) {
  int made = 0;
  Renewed<Thing> shared([&] { return std::make_shared<Thing>(++made); });
  EXPECT_EQ(shared.first().number, 1);
  EXPECT_EQ(shared.Take()->number, 1);
  EXPECT_EQ(shared.Take()->number, 2);
  EXPECT_EQ(shared.New()->number, 3);
}

}  // namespace
}  // namespace wasinn::backend
