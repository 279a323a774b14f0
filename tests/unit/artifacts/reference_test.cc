// References to registries: what is one, and what is said of what is none.
#include "artifacts/reference.h"

#include "artifacts/artifact_names.h"
#include "support/test.h"

namespace wasinn::artifacts {
namespace {

const std::string kSomeDigest = "sha256:" + std::string(64, 'a');

TEST(Reference, HasItsParts) {
  const auto full =
      ParseReference("oci://ghcr.io:443/team/models/digits-v1.5__x:1.0_A@" + kSomeDigest + "#1/model.onnx");
  ASSERT_TRUE(full) << full.error();
  EXPECT_EQ(full->registry, "ghcr.io:443");
  EXPECT_EQ(full->repository, "team/models/digits-v1.5__x");
  EXPECT_EQ(full->tag, "1.0_A");
  EXPECT_EQ(full->digest, kSomeDigest);
  EXPECT_EQ(full->file, "1/model.onnx");
  EXPECT_EQ(full->Name(), "digits-v1.5__x");
  EXPECT_EQ(ToString(full->At(kSomeDigest)),
            "oci://ghcr.io:443/team/models/digits-v1.5__x@" + kSomeDigest + "#1/model.onnx");
}

TEST(Reference, IsWrittenAsItIsRead) {
  for (const std::string& text : {std::string("oci://localhost/m:1"), std::string("oci://127.0.0.1:5000/a/b--c:_x"),
                                  "oci://docker.io/library/m@" + kSomeDigest, "oci://a.b/m:1@" + kSomeDigest}) {
    const auto reference = ParseReference(text);
    ASSERT_TRUE(reference) << reference.error();
    EXPECT_EQ(ToString(*reference), text);
  }
}

TEST(Reference, IsRefusedWithTheReason) {
  const std::pair<std::string, std::string> wrong[] = {
      {"docker://localhost/m:1", "does not begin with oci://"},
      {"oci://", "it names no registry"},
      {"oci:///m:1", "it names no registry"},
      {"oci://localhost", "it names no repository"},
      {"oci://localhost/", "'' is not the name of a repository"},
      {"oci://localhost/m", "neither a tag nor a digest"},
      {"oci://localhost/:1", "'' is not the name of a repository"},
      {"oci://ghcr/m:1", "has neither a dot nor a port"},
      {"oci://-a.b/m:1", "'-a.b' is not the name of a registry"},
      {"oci://user@a.b/m:1", "is not a digest"},
      {"oci://a.b:0/m:1", "'0' is not a port"},
      {"oci://a.b:65536/m:1", "is not a port"},
      {"oci://a.b:8x/m:1", "is not a port"},
      {"oci://a.b:/m:1", "'' is not a port"},
      {"oci://localhost/M:1", "lower case"},
      {"oci://localhost/a//m:1", "is not the name of a repository"},
      {"oci://localhost/../m:1", "is not the name of a repository"},
      {"oci://localhost/a..b:1", "is not the name of a repository"},
      {"oci://localhost/a___b:1", "is not the name of a repository"},
      {"oci://localhost/-m:1", "is not the name of a repository"},
      {"oci://localhost/m :1", "is not the name of a repository"},
      {"oci://localhost/" + std::string(256, 'm') + ":1", "is not the name of a repository"},
      {"oci://localhost/m:", "'' is not a tag"},
      {"oci://localhost/m:-x", "'-x' is not a tag"},
      {"oci://localhost/m:a b", "is not a tag"},
      {"oci://localhost/m:" + std::string(129, '1'), "is not a tag"},
      {"oci://localhost/m@sha256:" + std::string(63, 'a'), "is not a digest"},
      {"oci://localhost/m@sha256:" + std::string(64, 'A'), "is not a digest"},
      {"oci://localhost/m@sha256:" + std::string(60, 'a') + "/../", "is not a digest"},
      {"oci://localhost/m@sha512:" + std::string(128, 'a'), "is not a digest"},
      {"oci://localhost/m:1#../x", "'../x' is not a path in it"},
      {"oci://localhost/m:1#", "'' is not a path in it"},
      {"oci://localhost/m:1" + std::string(5000, '1'), "more than 4096 bytes"},
  };
  for (const auto& [text, reason] : wrong) {
    const auto reference = ParseReference(text);
    ASSERT_FALSE(reference) << text;
    EXPECT_THAT(reference.error(), HasSubstr(reason)) << text;
  }
}

TEST(ArtifactNames, LeadIntoTheirFolder) {
  for (const char* path : {"m", "a/b/m.onnx", "...", ".m", "a b", "ä.onnx"}) EXPECT_TRUE(IsSafePath(path)) << path;
  for (const char* path : {"", "/m", "a/", "a//b", ".", "..", "./m", "a/./b", "a/../b", "a\\b", "a\nb", "a\x1b[2J"}) {
    EXPECT_FALSE(IsSafePath(path)) << path;
  }
  EXPECT_FALSE(IsSafePath(std::string("a\0b", 3)));
  EXPECT_FALSE(IsSafePath(std::string(256, 'm')));
  std::string deep = "m";
  for (int i = 0; i < 15; ++i) deep += "/m";
  EXPECT_TRUE(IsSafePath(deep));
  EXPECT_FALSE(IsSafePath(deep + "/m"));
}

}  // namespace
}  // namespace wasinn::artifacts
