#include "common/dtype.h"
#include "support/test.h"

namespace wasinn::backend {
namespace {

TEST(Saturating, StopsAtTheMost) {
  EXPECT_EQ(AddSat(2, 3), 5u);
  EXPECT_EQ(AddSat(UINT64_MAX - 1, 1), UINT64_MAX);
  EXPECT_EQ(AddSat(UINT64_MAX - 1, 2), UINT64_MAX);
  EXPECT_EQ(AddSat(UINT64_MAX, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(MulSat(2, 3), 6u);
  EXPECT_EQ(MulSat(uint64_t{1} << 32, uint64_t{1} << 32), UINT64_MAX);
  EXPECT_EQ(MulSat(0, UINT64_MAX), 0u);
}

TEST(Saturating, AnOverflowStaysOneEvenTimesZero) { EXPECT_EQ(MulSat(UINT64_MAX, 0), UINT64_MAX); }

}  // namespace
}  // namespace wasinn::backend
