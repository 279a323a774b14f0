#include "common/stderr_capture.h"
#include "support/test.h"

#include <fcntl.h>
#include <unistd.h>

namespace wasinn::backend {
namespace {

bool IsOwn(std::string_view line) { return line.starts_with("own"); }

void Write(const char* line) { std::fputs(line, stderr); }

// A thread of this OS process.
bool IsAsleep(pid_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string fields{std::istreambuf_iterator<char>(stat), {}};
  return fields.find(") S ") != std::string::npos;
}

// Descriptor 2 is a file in the meantime.
class StderrCaptureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::fflush(stderr);
    before_.Open(dup(STDERR_FILENO));
    ASSERT_GE(dup2(file_.number(), STDERR_FILENO), 0);
  }
  void TearDown() override {
    std::fflush(stderr);
    dup2(before_.number(), STDERR_FILENO);
    std::filesystem::remove(path_);
  }

  std::string Written() const {
    std::fflush(stderr);
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string path_ = ::testing::TempDir() + "stderr_" + std::to_string(getpid());
  base::Descriptor before_, file_;

  StderrCaptureTest() {
    EXPECT_TRUE(file_.Open(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600)));
  }
};

TEST_F(StderrCaptureTest, KeepsOwnLinesAndWritesTheOthersInTheEnd) {
  Write("before\n");
  StderrCapture capture(IsOwn);
  Write("own 1\nanother's\nown 2\nwithout an end");
  EXPECT_EQ(Written(), "before\n");
  EXPECT_EQ(capture.Finish(), "own 1\nown 2\n");
  EXPECT_EQ(capture.Finish(), "") << "once";
  Write("\nafter\n");
  EXPECT_EQ(Written(), "before\nanother's\nwithout an end\nafter\n");
}

TEST_F(StderrCaptureTest, AnExceptionEndsIt) {
  try {
    const StderrCapture capture(IsOwn);
    Write("own\nanother's\n");
    throw 1;
  } catch (int) {
    Write("after\n");
  }
  EXPECT_EQ(Written(), "another's\nafter\n");
}

// Whichever ends first, what the first one found is what the last one leaves.
TEST_F(StderrCaptureTest, TwoTakeTurns) {
  std::optional<StderrCapture> first(std::in_place, IsOwn);
  std::atomic<bool> began = false;
  std::atomic<pid_t> id = 0;
  std::thread other([&] {
    id = gettid();
    const StderrCapture second(IsOwn);
    began = true;
    Write("own\nduring the second\n");
  });
  while (id == 0 || !IsAsleep(id)) std::this_thread::yield();
  EXPECT_FALSE(began);
  Write("during the first\n");
  first.reset();
  other.join();
  Write("after\n");
  EXPECT_EQ(Written(), "during the first\nduring the second\nafter\n");
}

TEST_F(StderrCaptureTest, AProgramThatChangesItsStderrKeepsTheNewOne) {
  const std::string path = path_ + "_new";
  base::Descriptor file;
  ASSERT_TRUE(file.Open(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)));
  StderrCapture capture(IsOwn);
  Write("own\nanother's\n");
  std::fflush(stderr);
  ASSERT_GE(dup2(file.number(), STDERR_FILENO), 0);
  EXPECT_EQ(capture.Finish(), "own\n");
  Write("after\n");
  EXPECT_EQ(Written(), "");
  std::ifstream written(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(written), {}), "another's\nafter\n");
  std::filesystem::remove(path);
}

TEST_F(StderrCaptureTest, WithoutStderrItDoesNothing) {
  close(STDERR_FILENO);
  StderrCapture capture(IsOwn);
  EXPECT_EQ(fcntl(STDERR_FILENO, F_GETFD), -1);
  EXPECT_EQ(capture.Finish(), "");
  EXPECT_EQ(fcntl(STDERR_FILENO, F_GETFD), -1);
}

TEST_F(StderrCaptureTest, LeavesNoDescriptorOpen) {
  const auto count = [] {
    const std::filesystem::directory_iterator open("/proc/self/fd");
    return std::distance(begin(open), end(open));
  };
  const auto before = count();
  for (int i = 0; i < 3; ++i) {
    const StderrCapture capture(IsOwn);
    Write("own\n");
  }
  EXPECT_EQ(count(), before);
}

}  // namespace
}  // namespace wasinn::backend
