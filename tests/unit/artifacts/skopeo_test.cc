// How long a registry may take.
#include "artifacts/skopeo.h"

#include "support/files.h"

namespace wasinn::artifacts {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kTerabyte = uint64_t{1} << 40;

TEST(SkopeoTest, ARegistryBuysNoDaysOfPatience) {
  const wasinn::testing::TestFolder folder;
  fs::permissions(folder.Write("skopeo", "#!/bin/sh\n"), fs::perms::owner_all);
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder.path().c_str(), 1);
  const auto skopeo = Skopeo::Find(std::chrono::minutes(1));
  setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(skopeo) << skopeo.error();

  const auto claimed = [&](uint64_t total) {
    return skopeo->PatienceFor({.total = total, .largest = total, .are_claims = true});
  };
  EXPECT_EQ(claimed(Skopeo::kSlowest * 10), std::chrono::seconds(70));
  EXPECT_EQ(claimed(kTerabyte), std::chrono::minutes(1) + Skopeo::kMaxPatience);
  EXPECT_EQ(claimed(UINT64_MAX), std::chrono::minutes(1) + Skopeo::kMaxPatience);
  EXPECT_GT(skopeo->PatienceFor({.total = kTerabyte, .largest = kTerabyte, .are_claims = false}),
            2 * Skopeo::kMaxPatience)
      << "the digest covers its sizes";
}

}  // namespace
}  // namespace wasinn::artifacts
