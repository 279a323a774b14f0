// Models that are known to end the process that computes them, in workers: they cost their guest an error.
#include <gtest/gtest.h>

#include "made_models.h"
#include "run.h"

namespace wasinn::testing {
namespace {

// The processor's instruction raises SIGFPE for the least integer divided by -1. ONNX Runtime 1.31 computes it, of
// constants when it loads the model.
TEST(HostileKillers, LeastIntegerDividedByMinusOne) {
  const TempFolder folder;
  folder.Write("killer", Divides("Div", /*by_zero=*/false));
  folder.Write("harmless", Divides("Div", /*by_zero=*/true));
  const GuestRun run{.guest = "load_files",
                     .args = {"/made/killer", "/made/harmless"},
                     .flags = {"--dir", folder.path().string() + "::/made", "--nn-load", "isolated"}};
  const CommandResult result = run.Execute();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "killer: runtime_error\nharmless: runtime_error\n" + std::string(kHonest) + "\n");
  // By signal 8, or as a sanitizer ends who gets it.
  EXPECT_NE(result.err.find("onnx: a worker is gone"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace wasinn::testing
