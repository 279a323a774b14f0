// The same from components: one of each kind, since a backend does not know who calls.
#include "hostile/killers_run.h"

namespace wasinn::testing {
namespace {

class HostileComponents : public ::testing::TestWithParam<Killer> {};

// Of the interface's codes one says that a deadline has passed.
TEST_P(HostileComponents, KillersCostAnError) {
  const bool is_late = GetParam().log.front().find("timeout") != std::string::npos;
  ExpectAnError(GetParam(), "killers.component", is_late ? "timeout" : GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(Each, HostileComponents,
                         ::testing::ValuesIn(Killers({"onnx_divides", "onnx_multiplies", "onnx_doubles",
                                                      "tensorflow_checks"})),
                         NameOfKiller);

}  // namespace
}  // namespace wasinn::testing
