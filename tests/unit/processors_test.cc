#include "core/runtime/processors.h"

#include <sched.h>

#include "support/files.h"

namespace wasinn::test {
namespace {

class ProcessorsOfQuotaTest : public ::testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) const { mount_.Write(file, text); }
  std::optional<uint32_t> Of(std::string_view of_process) const {
    return ProcessorsOfQuota(of_process, mount_.path().string());
  }

  const testing::TestFolder mount_;
};

TEST_F(ProcessorsOfQuotaTest, AreRoundedUp) {
  Write("cpu.max", "200000 100000\n");
  EXPECT_EQ(Of("0::/\n"), 2U);
  Write("cpu.max", "150000 100000\n");
  EXPECT_EQ(Of("0::/\n"), 2U);
  Write("cpu.max", "10000 100000\n");
  EXPECT_EQ(Of("0::/\n"), 1U);
}

TEST_F(ProcessorsOfQuotaTest, AreTheFewestOfAllAbove) {
  Write("pods/one/cpu.max", "max 100000\n");
  EXPECT_EQ(Of("0::/pods/one\n"), std::nullopt);
  Write("pods/cpu.max", "400000 100000\n");
  EXPECT_EQ(Of("0::/pods/one\n"), 4U);
  Write("pods/one/cpu.max", "800000 100000\n");
  EXPECT_EQ(Of("0::/pods/one\n"), 4U);
  Write("pods/one/cpu.max", "300000 100000\n");
  EXPECT_EQ(Of("0::/pods/one\n"), 3U);
}

// In a container the path may be the host's, and only the container's own folder is there.
TEST_F(ProcessorsOfQuotaTest, AreTheContainersWhereThePathIsNotThere) {
  Write("cpu.max", "300000 100000\n");
  EXPECT_EQ(Of("0::/kubepods/pod1/container2\n"), 3U);
}

TEST_F(ProcessorsOfQuotaTest, OfVersion1) {
  Write("cpu,cpuacct/pods/cpu.cfs_quota_us", "-1\n");
  Write("cpu,cpuacct/pods/cpu.cfs_period_us", "100000\n");
  const std::string of_process = "5:cpuset:/pods\n4:cpu,cpuacct:/pods\n1:name=systemd:/\n0::/\n";
  EXPECT_EQ(Of(of_process), std::nullopt);
  Write("cpu,cpuacct/pods/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(Of(of_process), 3U);
}

TEST_F(ProcessorsOfQuotaTest, AreNoneWhereNothingSaysSo) {
  EXPECT_EQ(Of(""), std::nullopt);
  EXPECT_EQ(Of("0::/\n"), std::nullopt);
  for (const char* text : {"", "max", "200000", "200000 0", "0 100000", "-1 100000", "many 100000"}) {
    Write("cpu.max", text);
    EXPECT_EQ(Of("0::/\n"), std::nullopt) << text;
    EXPECT_EQ(Of("no lines\n:\n::::\n0::/"), std::nullopt) << text;
  }
}

TEST(ProcessorsTest, AreNoMoreThanThisThreadMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_LE(Processors(), static_cast<uint32_t>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(Processors(), 1U);
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace wasinn::test
