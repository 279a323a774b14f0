// The store of artifacts, with layouts of attackers.
#include "artifacts/store.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "artifacts/digest.h"
#include "support/files.h"

namespace wasinn::artifacts {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    auto store = Store::Open();
    ASSERT_TRUE(store) << store.error();
    store_.emplace(std::move(*store));
    auto arrival = store_->MakeArrival();
    ASSERT_TRUE(arrival) << arrival.error();
    arrival_.emplace(std::move(*arrival));
    layout_ = arrival_->path() / "layout";
    fs::create_directories(layout_ / "blobs/sha256");
  }

  fs::path BlobPath(const std::string& content) const { return layout_ / "blobs/sha256" / HexOf(DigestOf(content)); }
  void Put(const fs::path& path, const std::string& content) { std::ofstream(path) << content; }
  json Add(const std::string& content) {
    Put(BlobPath(content), content);
    return {{"digest", DigestOf(content)}, {"size", content.size()}};
  }
  // A manifest of files, by name and content.
  std::string ManifestOf(const std::vector<std::pair<std::string, std::string>>& files) {
    json layers = json::array();
    for (const auto& [name, content] : files) {
      json layer = Add(content);
      layer["annotations"] = {{"org.opencontainers.image.title", name}};
      layers.push_back(std::move(layer));
    }
    return json{{"config", Add("{}")}, {"layers", std::move(layers)}}.dump();
  }
  Result<Kept> Keep(const std::string& manifest) {
    return store_->Keep(*arrival_, layout_, DigestOf(manifest), manifest);
  }
  std::string Refused(const std::string& manifest) {
    const auto kept = Keep(manifest);
    EXPECT_FALSE(fs::exists(store_->path() / ("sha256-" + std::string(HexOf(DigestOf(manifest))))));
    return kept ? "it was kept" : kept.error();
  }

  const testing::TestFolder folder_;
  fs::path layout_;
  std::optional<Store> store_;
  std::optional<Store::Arrival> arrival_;
};

TEST_F(StoreTest, KeepsFiles) {
  const std::string manifest = ManifestOf({{"a/m.onnx", "model"}, {"weights", "w"}, {"the same", "w"}});
  const auto kept = Keep(manifest);
  ASSERT_TRUE(kept) << kept.error();
  const auto found = store_->Find(DigestOf(manifest));
  ASSERT_TRUE(found) << found.error();
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->folder, kept->folder);
  EXPECT_EQ(testing::ReadFile(kept->folder / "a/m.onnx"), "model");
  EXPECT_EQ(testing::ReadFile(kept->folder / "the same"), "w");
  EXPECT_FALSE(fs::exists(layout_));
  arrival_.reset();
  EXPECT_EQ(std::distance(fs::directory_iterator(store_->path()), {}), 1);
}

TEST_F(StoreTest, HasNothingOfAnotherDigest) {
  const auto found = store_->Find(DigestOf("nothing"));
  ASSERT_TRUE(found) << found.error();
  EXPECT_FALSE(found->has_value());
  const std::string manifest = ManifestOf({{"m", "model"}});
  const auto kept = store_->Keep(*arrival_, layout_, DigestOf("another"), manifest);
  ASSERT_FALSE(kept);
  EXPECT_THAT(kept.error(), HasSubstr("not what its digest says"));
}

TEST_F(StoreTest, RefusesBlobsThatAreNotWhatTheManifestSays) {
  const std::string manifest = ManifestOf({{"m", "model"}});
  Put(BlobPath("model"), "MODEL");
  EXPECT_THAT(Refused(manifest), HasSubstr("the digest of " + DigestOf("model") + " is " + DigestOf("MODEL")));
  Put(BlobPath("model"), "model and more");
  EXPECT_THAT(Refused(manifest), HasSubstr("has 14 bytes, and should have 5"));
  fs::remove(BlobPath("model"));
  EXPECT_THAT(Refused(manifest), HasSubstr("is not there, or is no file"));
  Put(BlobPath("model"), "model");
  Put(BlobPath("{}"), "{ ");
  EXPECT_THAT(Refused(manifest), HasSubstr("the digest of " + DigestOf("{}")));
}

TEST_F(StoreTest, FollowsNoLinkAndOpensNoPipe) {
  const std::string manifest = ManifestOf({{"m", "model"}});
  fs::rename(BlobPath("model"), folder_.path() / "model");
  fs::create_symlink(folder_.path() / "model", BlobPath("model"));
  EXPECT_THAT(Refused(manifest), HasSubstr("is no file"));
  fs::remove(BlobPath("model"));
  ASSERT_EQ(mkfifo(BlobPath("model").c_str(), 0600), 0);
  EXPECT_THAT(Refused(manifest), HasSubstr("is no file"));
}

TEST_F(StoreTest, RefusesAFileInAFile) {
  EXPECT_THAT(Refused(ManifestOf({{"m", "model"}, {"m/n", "other"}})), HasSubstr("cannot keep 'm/n'"));
}

TEST_F(StoreTest, ArrivalsOfRunningProcessesAreNotRemoved) {
  const auto other = store_->MakeArrival();
  ASSERT_TRUE(other) << other.error();
  EXPECT_TRUE(fs::exists(arrival_->path()));
  const fs::path dead = store_->path() / ".arrival-dead";
  fs::create_directory(dead);
  ASSERT_TRUE(store_->MakeArrival());
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(other->path()));
}

// As many descriptors as there are, and `more`.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = dup(STDERR_FILENO);
    close(next);
    const rlimit few = {.rlim_cur = static_cast<rlim_t>(next) + more, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_ = {};
};

// As if `models prune` removed it in the meantime.
TEST_F(StoreTest, AFolderThatCannotBeOpenedThrowsNothing) {
  const std::string manifest = ManifestOf({{"folder/m.onnx", "model"}});
  ASSERT_TRUE(Keep(manifest));
  for (rlim_t more = 0; more < 5; ++more) {
    const FewDescriptors few(more);
    EXPECT_NO_THROW((void)store_->Find(DigestOf(manifest))) << more;
  }
  const auto found = store_->Find(DigestOf(manifest));
  ASSERT_TRUE(found) << found.error();
  EXPECT_TRUE(found->has_value());
}

TEST_F(StoreTest, TakesThePlaceOfWhatIsBroken) {
  const std::string manifest = ManifestOf({{"m", "model"}});
  const auto kept = Keep(manifest);
  ASSERT_TRUE(kept) << kept.error();
  Put(kept->folder / "m", "MODEL");
  EXPECT_FALSE(store_->Find(DigestOf(manifest)));
  auto arrival = store_->MakeArrival();
  ASSERT_TRUE(arrival) << arrival.error();
  layout_ = arrival->path() / "layout";
  fs::create_directories(layout_ / "blobs/sha256");
  ManifestOf({{"m", "model"}});
  ASSERT_TRUE(store_->Keep(*arrival, layout_, DigestOf(manifest), manifest));
  const auto found = store_->Find(DigestOf(manifest));
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(testing::ReadFile((*found)->folder / "m"), "model");
}

}  // namespace
}  // namespace wasinn::artifacts
