// Manifests: those of guests and models, and those of attackers.
#include "artifacts/manifest.h"

#include <nlohmann/json.hpp>

#include "artifacts/digest.h"
#include "support/test.h"

namespace wasinn::artifacts {
namespace {

using nlohmann::json;

json Described(const std::string& content) { return {{"digest", DigestOf(content)}, {"size", content.size()}}; }

json LayerOf(const std::string& type, const std::string& content, const json& annotations = json::object()) {
  json layer = Described(content);
  layer["mediaType"] = type;
  layer["annotations"] = annotations;
  return layer;
}

json TitledLayer(const std::string& name, const std::string& content = "x") {
  return LayerOf("application/octet-stream", content, {{"org.opencontainers.image.title", name}});
}

json ManifestOf(const std::vector<json>& layers) {
  return {{"schemaVersion", 2},
          {"mediaType", "application/vnd.oci.image.manifest.v1+json"},
          {"config", Described("{}")},
          {"layers", layers}};
}

std::string Refused(const json& manifest) {
  const auto parsed = ParseManifest(manifest.dump());
  return parsed ? "it was read" : parsed.error();
}

std::string MainOf(const std::vector<json>& layers) {
  const auto parsed = ParseManifest(ManifestOf(layers).dump());
  return parsed ? parsed->MainPath() : parsed.error();
}

TEST(Digest, IsSha256) {
  EXPECT_EQ(DigestOf("abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(IsDigest(DigestOf("")));
  EXPECT_FALSE(IsDigest("sha256:"));
}

TEST(Manifest, OfAGuest) {
  for (const char* type : {"application/wasm", "application/vnd.wasm.content.layer.v1+wasm"}) {
    const auto manifest = ParseManifest(ManifestOf({LayerOf(type, "code")}).dump());
    ASSERT_TRUE(manifest) << manifest.error();
    ASSERT_EQ(manifest->files.size(), 1u);
    EXPECT_EQ(manifest->files[0].path, "guest.wasm");
    EXPECT_EQ(manifest->files[0].blob.digest, DigestOf("code"));
    EXPECT_EQ(manifest->TotalBytes(), 6u);  // with the config
    EXPECT_EQ(manifest->LargestBytes(), 4u);
  }
}

TEST(Manifest, MainFiles) {
  const std::string weights = "application/vnd.cncf.model.weight.v1.raw";
  const auto weight = [&](const char* path) { return LayerOf(weights, path, {{"org.cncf.model.filepath", path}}); };
  EXPECT_EQ(MainOf({weight("a/m.gguf")}), "a/m.gguf");
  EXPECT_EQ(MainOf({weight("m.gguf"), LayerOf("application/vnd.cncf.model.weight.config.v1.raw", "c",
                                              {{"org.cncf.model.filepath", "config.json"}})}),
            "m.gguf");
  EXPECT_EQ(MainOf({weight("m.gguf"), LayerOf("application/vnd.cncf.model.code.v1.tar", "c")}), "m.gguf");
  EXPECT_EQ(
      MainOf({LayerOf("application/vnd.docker.ai.gguf.v3", "m"), LayerOf("application/vnd.docker.ai.license", "l")}),
      "model.gguf");
  EXPECT_EQ(MainOf({LayerOf("application/vnd.cncf.model.weight.v1.gguf", "m")}), "model.gguf");
  EXPECT_EQ(MainOf({TitledLayer("m.bin"), TitledLayer("m.xml")}), "m.xml");
  EXPECT_EQ(MainOf({TitledLayer("m.xml"), TitledLayer("m.bin")}), "m.xml");
  EXPECT_EQ(MainOf({TitledLayer("m.xml"), TitledLayer("n.bin")}), "");
  EXPECT_EQ(MainOf({TitledLayer("saved_model.pb"), TitledLayer("variables/variables.index"), TitledLayer("x")}), "");
}

TEST(Manifest, AnErrorNamesTheKindOfOtherContent) {
  json index = {{"mediaType", "application/vnd.oci.image.index.v1+json"},
                {"manifests", json::array({Described("one")})}};
  EXPECT_THAT(Refused(index), HasSubstr("name one of them by its digest: " + DigestOf("one")));
  index.erase("mediaType");
  EXPECT_THAT(Refused(index), HasSubstr("index of several manifests"));
  EXPECT_THAT(Refused({{"mediaType", "application/vnd.docker.distribution.manifest.v2+json"}}),
              HasSubstr("its media type is"));
  EXPECT_THAT(Refused(ManifestOf({LayerOf("application/vnd.oci.image.layer.v1.tar+gzip", "x")})),
              HasSubstr("no title"));
  EXPECT_THAT(Refused(ManifestOf({LayerOf("application/vnd.cncf.model.weight.v1.tar+gzip", "x")})),
              HasSubstr("is packed"));
  EXPECT_THAT(Refused(ManifestOf({LayerOf("application/vnd.cncf.model.doc.v1.raw", "x")})), HasSubstr("no weights"));
  EXPECT_THAT(Refused(ManifestOf({LayerOf("application/vnd.cncf.model.weight.v1.raw", "x")})),
              HasSubstr("has no name"));
}

TEST(HostileManifest, IsRefused) {
  EXPECT_THAT(Refused(ManifestOf({})), HasSubstr("no layers"));
  EXPECT_THAT(Refused(json::array()), HasSubstr("not a JSON object"));
  EXPECT_THAT(Refused(ManifestOf({json("layer")})), HasSubstr("its layer 1 is not an object"));
  EXPECT_THAT(Refused(ManifestOf({TitledLayer("m"), TitledLayer("m")})), HasSubstr("two of its files are called 'm'"));
  for (const char* name : {"../m", "/etc/passwd", "a/../../m", "a//m", "m\n"}) {
    EXPECT_THAT(Refused(ManifestOf({TitledLayer(name)})), HasSubstr("no path in a folder of its own")) << name;
  }
  const json no_config = {{"layers", json::array({TitledLayer("m")})}};
  EXPECT_THAT(Refused(no_config), HasSubstr("no config"));
  for (const json& digest : {json("sha256:../../../etc/passwd"), json("sha256:" + std::string(64, 'A')),
                             json("sha512:" + std::string(128, 'a')), json("md5:0"), json(1), json()}) {
    json layer = TitledLayer("m");
    layer["digest"] = digest;
    EXPECT_THAT(Refused(ManifestOf({layer})), HasSubstr("is not a digest of SHA-256")) << digest;
    json config = ManifestOf({TitledLayer("m")});
    config["config"]["digest"] = digest;
    EXPECT_THAT(Refused(config), HasSubstr("is not a digest of SHA-256")) << digest;
  }
  for (const json& size : {json(-1), json(1.5), json("1"), json(UINT64_MAX), json()}) {
    json layer = TitledLayer("m");
    layer["size"] = size;
    EXPECT_THAT(Refused(ManifestOf({layer})), HasSubstr("its size is not a number from 0")) << size;
  }
}

TEST(HostileManifest, MayNotBeLarge) {
  const auto huge = ParseManifest(std::string(Manifest::kMaxBytes + 1, ' '));
  ASSERT_FALSE(huge);
  EXPECT_THAT(huge.error(), HasSubstr("more than 4194304 bytes"));
  std::vector<json> layers;
  for (size_t i = 0; i <= Manifest::kMaxLayers; ++i) layers.push_back(TitledLayer(std::to_string(i)));
  EXPECT_THAT(Refused(ManifestOf(layers)), HasSubstr("it has 1001 layers, and may have 1000"));
  layers.pop_back();
  EXPECT_EQ(Refused(ManifestOf(layers)), "it was read");
  for (const std::string& deep : {std::string(1 << 20, '['), "{\"a\":" + std::string(1 << 20, '{')}) {
    EXPECT_FALSE(ParseManifest(deep));
  }
}

}  // namespace
}  // namespace wasinn::artifacts
