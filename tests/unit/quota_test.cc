#include "core/memory/quota.h"
#include "support/test.h"

namespace wasinn::core {
namespace {

TEST(Quota, ChargesGrowShrinkAndComeBack) {
  Quota quota("bytes", "limits.max_bytes", 100);
  {
    Reservation a(quota), b(quota);
    EXPECT_TRUE(a.Resize(60).ok());
    EXPECT_EQ(b.Resize(41).code(), WASINN_ERROR_TOO_LARGE);
    EXPECT_EQ(b.held(), 0u);
    EXPECT_TRUE(b.Resize(40).ok());
    EXPECT_TRUE(a.Resize(10).ok());
    EXPECT_EQ(quota.used(), 50u);
  }
  EXPECT_EQ(quota.used(), 0u);
}

TEST(Quota, RefusesSizesThatWouldOverflow) {
  Quota quota("bytes", "limits.max_bytes", 100);
  Reservation a(quota), b(quota);
  EXPECT_TRUE(a.Resize(99).ok());
  EXPECT_EQ(b.Resize(std::numeric_limits<uint64_t>::max()).code(), WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(quota.used(), 99u);
}

TEST(Quota, PartsOfAWholeKeepToItsLimitTogether) {
  const auto whole = std::make_shared<Quota>("all guests", "max_total_bytes", 100);
  Quota one("bytes", "limits.max_bytes", 80, whole), other("bytes", "limits.max_bytes", 80, whole);
  {
    Reservation a(one), b(other);
    EXPECT_TRUE(a.Resize(70).ok());
    EXPECT_EQ(b.Resize(31).message(), "31 more bytes would exceed the limit of 100 for all guests (max_total_bytes)");
    EXPECT_EQ(other.used() + b.held(), 0u) << "nothing is taken of the part, either";
    EXPECT_EQ(a.Resize(81).code(), WASINN_ERROR_TOO_LARGE);
    EXPECT_EQ(whole->used(), 70u);
    EXPECT_TRUE(b.Resize(30).ok());
    EXPECT_TRUE(a.Resize(10).ok());
    EXPECT_EQ(whole->used(), 40u);
  }
  EXPECT_EQ(whole->used(), 0u);
}

TEST(Quota, NamesTheLimit) {
  Quota quota("graphs", "limits.max_graphs", 2);
  Reservation a(quota);
  EXPECT_EQ(a.Resize(3).message(), "3 more graphs would exceed the limit of 2 (0 held; limits.max_graphs)");
}

TEST(Quota, ThreadsTogetherNeverExceedIt) {
  Quota quota("things", "limits.max_things", 50);
  std::atomic<int> granted{0};
  std::vector<Reservation> charges(200);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 50; ++i) {
        Reservation charge(quota);
        if (charge.Resize(1).ok()) ++granted;
        charges[static_cast<size_t>(t) * 50 + i] = std::move(charge);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted, 50);
  EXPECT_EQ(quota.used(), 50u);
}

}  // namespace
}  // namespace wasinn::core
