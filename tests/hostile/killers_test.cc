// Models that are known to end, stop or fill the process that computes them: from guests on each engine. They run in workers, and
// cost their guest an error.
#include "hostile/killers_run.h"

namespace wasinn::testing {
namespace {

class HostileKillers : public ::testing::TestWithParam<Killer> {};

TEST_P(HostileKillers, CostTheirGuestAnError) { ExpectAnError(GetParam(), "killers", GetParam().error); }

INSTANTIATE_TEST_SUITE_P(Each, HostileKillers, ::testing::ValuesIn(Killers(HOSTILE_FRAMEWORKS)), NameOfKiller);

}  // namespace
}  // namespace wasinn::testing
