// The search for a framework's folder, by a zygote that must not open the framework itself.
#include "worker/framework_folders.h"

#include <sys/wait.h>

#include <cerrno>

#include "support/test.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

class FrameworkFolders : public ::testing::Test {
 protected:
  void SetUp() override {
    isolation::Setting setting;
    setting.backend = "echo";
    setting.library = testing::BackendFile("echo");
    setting.config = "{}";
    ASSERT_TRUE(framework_.Load(setting).ok());
  }
  // This process has no child any more, not even one that has ended.
  static bool IsAlone() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

  worker::FrameworkOf framework_;
};

TEST_F(FrameworkFolders, AreFoundInAnotherProcess) {
  const core::Status found = worker::FindFolders(framework_);
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_FALSE(framework_.opened());
  EXPECT_THAT(framework_.folders(),
              ::testing::Contains(std::filesystem::path(testing::BackendFile("echo")).parent_path().string()));
  EXPECT_TRUE(IsAlone());
}

// A framework that hangs is not waited for, and does not stay.
TEST_F(FrameworkFolders, AreNotWaitedForForever) {
  const core::Status late = worker::FindFolders(framework_, std::chrono::milliseconds(0));
  EXPECT_EQ(late.code(), WASINN_ERROR_UNAVAILABLE);
  EXPECT_EQ(late.message(), "the framework did not open within 0 ms");
  EXPECT_THAT(framework_.folders(), ::testing::IsEmpty());
  EXPECT_TRUE(IsAlone());
}

}  // namespace
}  // namespace wasinn::test
