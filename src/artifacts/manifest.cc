#include "artifacts/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "artifacts/artifact_names.h"
#include "artifacts/digest.h"
#include "base/json.h"

namespace wasinn::artifacts {
namespace {

using nlohmann::json;

constexpr std::string_view kManifestType = "application/vnd.oci.image.manifest.v1+json";
constexpr std::string_view kIndexType = "application/vnd.oci.image.index.v1+json";
constexpr std::string_view kModel = "application/vnd.cncf.model.";
constexpr std::string_view kWeights = "application/vnd.cncf.model.weight.v1.";
constexpr std::string_view kWeightsConfig = "application/vnd.cncf.model.weight.config.v1.";
constexpr std::string_view kDockerModel = "application/vnd.docker.ai.";
constexpr std::string_view kDockerWeights = "application/vnd.docker.ai.gguf.";
constexpr std::string_view kGuests[] = {"application/wasm", "application/vnd.wasm.content.layer.v1+wasm"};
constexpr char kTitle[] = "org.opencontainers.image.title", kFilePath[] = "org.cncf.model.filepath";
constexpr char kUnpack[] = "io.deis.oras.content.unpack";
constexpr char kGuestFile[] = "guest.wasm", kOnlyWeights[] = "model.gguf";
constexpr uint64_t kMaxBlob = uint64_t{1} << 40;

std::unexpected<std::string> Refused(const std::string& what) { return std::unexpected(what); }

// A text member of an object; "": there is none.
std::string MemberOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string AnnotationOf(const json& layer, const char* key) {
  const auto annotations = layer.find("annotations");
  return annotations != layer.end() && annotations->is_object() ? MemberOf(*annotations, key) : "";
}

Result<Blob> ReadBlob(const json& descriptor, const std::string& what) {
  if (!descriptor.is_object()) return Refused(what + " is not an object");
  Blob blob{.digest = MemberOf(descriptor, "digest"), .size = 0};
  if (!IsDigest(blob.digest)) return Refused(fmt::format("{}: '{}' is not a digest of SHA-256", what, blob.digest));
  const auto size = descriptor.find("size");
  if (size == descriptor.end() || !size->is_number_unsigned() || size->get<uint64_t>() > kMaxBlob) {
    return Refused(fmt::format("{}: its size is not a number from 0 to {}", what, kMaxBlob));
  }
  blob.size = size->get<uint64_t>();
  return blob;
}

bool IsGuest(const std::string& type) { return std::ranges::find(kGuests, type) != std::end(kGuests); }

// A useful layer, and its name.
struct Named {
  std::string path;
  bool is_main = true;
};

// The file of a model's layer, by ModelPack's or Docker's media types. No value: papers, code, data.
Result<std::optional<Named>> NameOfPart(const json& layer, const std::string& type, const std::string& what) {
  const bool is_main = type.starts_with(kWeights) || type.starts_with(kDockerWeights);
  if (!is_main && !type.starts_with(kWeightsConfig)) return std::nullopt;
  if (type.find(".tar") != type.npos) {
    return Refused(
        fmt::format("{} is packed ({}), and no archive is unpacked here: `modctl build --raw` leaves files as they are",
                    what, type));
  }
  Named named{.path = AnnotationOf(layer, kFilePath), .is_main = is_main};
  if (named.path.empty()) named.path = AnnotationOf(layer, kTitle);
  if (named.path.empty() && type.find(".gguf") != type.npos) named.path = kOnlyWeights;
  if (named.path.empty()) return Refused(fmt::format("{} has no name: the annotation {}", what, kFilePath));
  return named;
}

// No value: the layer is not useful here.
Result<std::optional<Named>> NameOfLayer(const json& layer, const std::string& what) {
  const std::string type = MemberOf(layer, "mediaType"), title = AnnotationOf(layer, kTitle);
  if (IsGuest(type)) return Named{.path = title.empty() ? kGuestFile : title};
  if (type.starts_with(kModel) || type.starts_with(kDockerModel)) return NameOfPart(layer, type, what);
  if (AnnotationOf(layer, kUnpack) == "true") {
    return Refused(
        fmt::format("{} ('{}') is a packed folder, and no archive is unpacked here: push its files", what, title));
  }
  if (!title.empty()) return Named{.path = title};
  return Refused(
      fmt::format("{} has the media type '{}' and no title: it is no guest, no model and no named file", what, type));
}

Result<void> AddLayer(const json& layer, Manifest& manifest, std::set<std::string>& names) {
  const std::string what = fmt::format("its layer {}", manifest.blobs.size());  // after the config
  Result<Blob> blob = ReadBlob(layer, what);
  if (!blob) return Refused(blob.error());
  manifest.blobs.push_back(*blob);
  Result<std::optional<Named>> named = NameOfLayer(layer, what);
  if (!named) return Refused(named.error());
  if (!named->has_value()) return {};
  const std::string& path = (*named)->path;
  if (!IsSafePath(path))
    return Refused(fmt::format("{} is called '{}', which is no path in a folder of its own", what, path));
  if (!names.insert(path).second) return Refused(fmt::format("two of its files are called '{}'", path));
  manifest.files.push_back({path, std::move(*blob), (*named)->is_main});
  return {};
}

// The kind of other content, if it is no artifact of one manifest; "": it may be one.
std::string WhatElse(const json& manifest) {
  const std::string type = MemberOf(manifest, "mediaType");
  const auto manifests = manifest.find("manifests");
  if (type == kIndexType || (manifests != manifest.end() && manifests->is_array())) {
    std::string digests;
    for (const json& one : manifests == manifest.end() ? json::array() : *manifests) {
      const std::string digest = one.is_object() ? MemberOf(one, "digest") : "";
      if (IsDigest(digest) && digests.size() < 500) digests += " " + digest;
    }
    return "it is an index of several manifests; name one of them by its digest:" + digests;
  }
  if (!type.empty() && type != kManifestType)
    return fmt::format("its media type is '{}', not '{}'", type, kManifestType);
  return "";
}

// model.bin next to model.xml is OpenVINO's: model.xml is the model.
bool IsWeightsOf(const std::string& bin, const std::string& xml) {
  return bin.ends_with(".bin") && xml.ends_with(".xml") &&
         bin.substr(0, bin.size() - 4) == xml.substr(0, xml.size() - 4);
}

}  // namespace

uint64_t Manifest::TotalBytes() const {
  uint64_t total = 0;
  for (const Blob& blob : blobs) total += blob.size;
  return total;
}

uint64_t Manifest::LargestBytes() const {
  uint64_t largest = 0;
  for (const Blob& blob : blobs) largest = std::max(largest, blob.size);
  return largest;
}

std::string Manifest::MainPath() const {
  std::vector<std::string> main;
  for (const ArtifactFile& file : files) {
    if (file.is_main) main.push_back(file.path);
  }
  if (main.size() == 1) return main[0];
  if (main.size() != 2) return "";
  if (IsWeightsOf(main[1], main[0])) return main[0];
  return IsWeightsOf(main[0], main[1]) ? main[1] : "";
}

Result<Manifest> ParseManifest(std::string_view bytes) {
  if (bytes.size() > Manifest::kMaxBytes) return Refused(fmt::format("it has more than {} bytes", Manifest::kMaxBytes));
  const json parsed = base::ParseJson(bytes);
  if (!parsed.is_object()) return Refused("it is not a JSON object");
  if (std::string what = WhatElse(parsed); !what.empty()) return Refused(what);
  const auto config = parsed.find("config"), layers = parsed.find("layers");
  if (config == parsed.end()) return Refused("it has no config");
  if (layers == parsed.end() || !layers->is_array() || layers->empty()) return Refused("it has no layers");
  if (layers->size() > Manifest::kMaxLayers) {
    return Refused(fmt::format("it has {} layers, and may have {}", layers->size(), Manifest::kMaxLayers));
  }
  Manifest manifest;
  Result<Blob> blob = ReadBlob(*config, "its config");
  if (!blob) return Refused(blob.error());
  manifest.blobs.push_back(std::move(*blob));
  std::set<std::string> names;
  for (const json& layer : *layers) {
    if (Result<void> added = AddLayer(layer, manifest, names); !added) return Refused(added.error());
  }
  if (manifest.files.empty()) return Refused("it has no guest, no weights of a model and no named file");
  return manifest;
}

}  // namespace wasinn::artifacts
