// The backend's library twice in one OS process, as two embedders bring it that know nothing of each other: ONNX
// Runtime, its environment and its table of imports are there once.
#include "backends/expect.h"
#include "support/files.h"

namespace wasinn::test {
namespace {

std::string BackendFile() { return testing::BackendFile(kFramework); }

// A copy of the backend's file; it goes when the test ends, as far as the file system is concerned.
class CopyOfBackend {
 public:
  const std::string& path() const { return path_; }

 private:
  const testing::TestFolder folder_;
  const std::string path_ =
      folder_.Write(std::filesystem::path(BackendFile()).filename().string(), ReadFile(BackendFile()));
};

void ExpectComputesAreBounded(const Host& host) {
  const Model model(host, ModelBytes("huge_intermediate.onnx"));
  Context context(model, 1 << 20);
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
}

TEST(OnnxOpenCopies, TheSecondIsRefusedAndTheFirstKeepsItsLimits) {
  const CopyOfBackend copy;
  auto first = std::make_unique<Host>();
  ASSERT_TRUE(first->opened()) << first->opened().message;
  const auto expect_refused = [&] {
    const Host second("{}", 1, copy.path());
    EXPECT_EQ(second.opened().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
    EXPECT_THAT(second.opened().message, HasSubstr("another copy of wasinn's backend is open"));
  };
  expect_refused();
  ExpectComputesAreBounded(*first);
  first.reset();
  expect_refused();
  const Host again;
  ASSERT_TRUE(again.opened()) << again.opened().message;
  ExpectComputesAreBounded(again);
  EXPECT_THAT(again.log(), Not(HasSubstr("warning")));
}

TEST(OnnxOpenCopies, OneIsOpenedIfManyThreadsTry) {
  const CopyOfBackend copy, another;
  const std::vector<std::string> paths{BackendFile(), copy.path(), another.path()};
  std::vector<std::atomic<int>> opened(paths.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2 * paths.size(); ++i) {
    threads.emplace_back([&, at = i % paths.size()] {
      for (int round = 0; round < 3; ++round) opened[at] += Host("{}", 1, paths[at]).opened() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<int> times(opened.begin(), opened.end());
  EXPECT_THAT(times, ::testing::UnorderedElementsAre(6, 0, 0));
}

}  // namespace
}  // namespace wasinn::test
