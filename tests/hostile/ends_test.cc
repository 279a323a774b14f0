// A compute without an end.
#include "hostile/run.h"

namespace wasinn::testing {
namespace {

TEST(HostileEnds, AnEndlessModelIsStoppedAtItsDeadline) {
  const std::vector<std::string> stopped = {"compute: timeout: onnx: the compute was stopped after 300 ms"};
  std::vector<Attack> attacks = {{"input"}};
  for (int i = 0; i < 3; ++i) {
    attacks.push_back(Line("computing"));
    attacks.push_back({"compute", "runtime_error", stopped});
    attacks.push_back({"output", "invalid_argument", {"there is no output before a successful compute"}});
    attacks.push_back(Honest());
  }
  const GuestRun run{.guest = "endless", .args = {"3"}, .flags = {"--nn-timeout", "300ms"}, .models = {"endless"}};
  ExpectAttacks(run.Execute(), attacks);
}

}  // namespace
}  // namespace wasinn::testing
