// Runs the tests of a program. Each pattern of --gtest_filter must fit a test: GoogleTest itself passes if it runs
// none.
#include <fnmatch.h>

#include "support/test.h"

namespace {

bool FitsATest(const std::string& pattern) {
  const auto& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const std::string name = std::string(suite.name()) + "." + suite.GetTestInfo(j)->name();
      if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
    }
  }
  return false;
}

// Whether this process or another shard of it has a test to run.
bool HasTests() {
  const auto& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (test.should_run() || test.is_in_another_shard()) return true;
    }
  }
  return false;
}

// Patterns after the '-' leave tests out, and may fit none in this build.
bool FilterIsGood() {
  bool good = true;
  std::string filter = testing::GTEST_FLAG(filter);
  filter.resize(std::min(filter.find('-'), filter.size()));
  std::istringstream patterns(filter);
  for (std::string pattern; std::getline(patterns, pattern, ':');) {
    if (pattern.empty() || FitsATest(pattern)) continue;
    std::fprintf(stderr, "--gtest_filter: no test is called '%s'\n", pattern.c_str());
    good = false;
  }
  if (!HasTests()) std::fprintf(stderr, "--gtest_filter: it leaves out every test\n");
  return good && HasTests();
}

// More patterns of tests that do not run: of tests/arm64.txt.
void LeaveOut() {
  const char* const patterns = std::getenv("TESTS_LEFT_OUT");
  if (patterns == nullptr || *patterns == '\0') return;
  std::string& filter = testing::GTEST_FLAG(filter);
  filter += (filter.find('-') == filter.npos ? "-" : ":") + std::string(patterns);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  LeaveOut();
  const int result = RUN_ALL_TESTS();
  return result == 0 && !testing::GTEST_FLAG(list_tests) && !FilterIsGood() ? 1 : result;
}
