// Models of a guest's own that are broken, or made to harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "hostile/run.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

// Some thousand models that are nearly good.
void ExpectAnswers(const std::string& kind, const std::string& tried) {
  const GuestRun run{.guest = "mutants",
                     .args = {kind, "/models/digits.onnx"},
                     .flags = {"--dir", SourcePath("models") + "::/models", "--nn-max-graphs", "100000",
                               "--nn-max-contexts", "100000", "--nn-timeout", "5s"},
                     .timeout_s = 500};
  const CommandResult result = run.Execute();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, kind + ": " + tried + " tried, 0 with an answer that none may have\n" + kHonest + "\n");
}

TEST(HostileModels, Truncated) { ExpectAnswers("truncated", "300"); }
TEST(HostileModels, Flipped) { ExpectAnswers("flipped", "500"); }
TEST(HostileModels, Scrambled) { ExpectAnswers("scrambled", "200"); }

// Tensors whose bytes are said to stand elsewhere: in files, in the host's memory. The command runs in a folder that
// has the file that some of them ask for.
TEST(HostileModels, ThatReachOutOfThemselves) {
  const TempFolder folder;
  folder.Write("secret.txt", "secret of the host");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(SourcePath("tests/models/tiny/hostile"))) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  ASSERT_GE(names.size(), 19u);
  GuestRun run{.guest = "load_files",
               .flags = {"--dir", SourcePath("tests/models/tiny/hostile") + "::/hostile"},
               .folder = folder.path().string()};
  std::vector<Attack> attacks;
  for (const std::string& name : names) {
    run.args.push_back("/hostile/" + name);
    attacks.push_back({name, "unsupported_operation", {"load: security: onnx: ", "external data"}});
  }
  attacks.push_back(Honest());
  const CommandResult result = run.Execute();
  ExpectAttacks(result, attacks);
  for (const char* leak : {"secret of", "root:"}) {
    EXPECT_EQ(result.out.find(leak), result.out.npos);
    EXPECT_EQ(result.err.find(leak), result.err.npos);
  }
}

}  // namespace
}  // namespace wasinn::testing
