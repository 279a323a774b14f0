// The backend's library twice in one OS process, as two embedders bring it that know nothing of each other: ONNX
// Runtime, its environment and its table of imports are there once.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "backends/expect.h"

namespace wasinn::test {
namespace {

std::string BackendFile() { return testing::BackendFile(kFramework); }

// A copy of the backend's file; it goes when the test ends, as far as the file system is concerned.
class CopyOfBackend {
 public:
  explicit CopyOfBackend(const std::string& bytes) {
    std::string folder = (std::filesystem::temp_directory_path() / "onnx_copies.XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder");
    path_ = std::filesystem::path(folder) / std::filesystem::path(BackendFile()).filename();
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~CopyOfBackend() { std::filesystem::remove_all(path_.parent_path()); }
  CopyOfBackend(const CopyOfBackend&) = delete;
  CopyOfBackend& operator=(const CopyOfBackend&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

void ExpectComputesAreBounded(const Host& host) {
  const Model model(host, ModelBytes("huge_intermediate.onnx"));
  Context context(model, 1 << 20);
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
}

TEST(OnnxOpenCopies, TheSecondIsRefusedAndTheFirstKeepsItsLimits) {
  const CopyOfBackend copy(ReadFile(BackendFile()));
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
  const CopyOfBackend copy(ReadFile(BackendFile())), another(ReadFile(BackendFile()));
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
