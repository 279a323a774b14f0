// Models that are known to end, stop or fill the process that computes them: from guests on each engine. They run in workers, and
// cost their guest an error.
#include "hostile/killers_run.h"

namespace wasinn::testing {
namespace {

class HostileKillers : public ::testing::TestWithParam<Killer> {};

TEST_P(HostileKillers, CostTheirGuestAnError) { ExpectAnError(GetParam(), "killers", GetParam().error); }

// On every engine one of each kind; on the usual one some of each framework, too. isolated_test.cc has all of them.
INSTANTIATE_TEST_SUITE_P(Each, HostileKillers,
                         ::testing::ValuesIn(Killers({"onnx_divides", "onnx_multiplies", "onnx_doubles",
                                                      "tensorflow_checks", "torch_nests", "tflite_believes",
                                                      "openvino_loops"})),
                         NameOfKiller);

}  // namespace
}  // namespace wasinn::testing
