#include "digits.h"

#include "formats.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
// Warnings about unused parts of stb do not matter.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>

#include "support/this_build.h"
#pragma GCC diagnostic pop

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSide = 8;
const std::string kImages = InSources("tests/models/digits/heldout");

std::vector<std::string> ImageNames() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kImages)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

// "0002_label-2.png"
size_t Label(const std::string& name) { return static_cast<size_t>(name[name.find('-') + 1] - '0'); }

// The gray values of an image.
Bytes Grays(const fs::path& path) {
  const Bytes file = ReadBytes(path);
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> image(
      stbi_load_from_memory(file.data(), static_cast<int>(file.size()), &width, &height, &channels, 1),
      stbi_image_free);
  if (image == nullptr || width != kSide || height != kSide) {
    ADD_FAILURE() << path << " is no image of 8x8";
    return Bytes(kSide * kSide);
  }
  return {image.get(), image.get() + kSide * kSide};
}

}  // namespace

std::vector<float> FromGrays(const Bytes& grays) {
  std::vector<float> pixels(grays.size());
  std::ranges::transform(grays, pixels.begin(), [](uint8_t gray) { return static_cast<float>(gray) / 255.0f; });
  return pixels;
}

HeldOut ReadHeldOut() {
  HeldOut held_out;
  for (const std::string& name : ImageNames()) {
    held_out.images.push_back(Grays(fs::path(kImages) / name));
    held_out.labels.push_back(Label(name));
  }
  EXPECT_EQ(held_out.images.size(), kHeldOut);
  return held_out;
}

void ExpectSameDigits(const std::vector<std::string>& flags, const std::string& guest,
                      const std::vector<std::string>& args) {
  const TestFolder folder;
  const Format onnx = BuiltFormats().front();
  const HeldOut held_out = ReadHeldOut();
  const Bytes native = RunReference(onnx, folder.Write("inputs", InputsOf(onnx, held_out)), folder.path());
  ASSERT_GE(static_cast<double>(CountRight(onnx, native, held_out.labels)), kWantedAccuracy * kHeldOut);

  std::vector<std::string> all = flags, words = args, names = ImageNames();
  all.insert(all.end(), {"--dir", std::string(kImages) + "::/images"});
  words.emplace_back("--raw");
  for (const std::string& name : names) words.push_back("/images/" + name);
  const CommandResult run = RunGuest(all, guest, words);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> lines = Lines(run.out);
  ASSERT_EQ(lines.size(), kHeldOut);
  size_t right = 0;
  for (size_t i = 0; i < kHeldOut; ++i) {
    std::string file, hex;
    size_t digit = 0;
    std::istringstream(lines[i]) >> file >> digit >> hex;
    EXPECT_EQ(fs::path(file).filename(), names[i]);
    const auto begin = native.begin() + static_cast<ptrdiff_t>(i * native.size() / kHeldOut);
    EXPECT_EQ(hex, ToHex({begin, begin + static_cast<ptrdiff_t>(native.size() / kHeldOut)})) << file;
    right += digit == held_out.labels[i];
  }
  EXPECT_EQ(right, CountRight(onnx, native, held_out.labels));
}

}  // namespace wasinn::testing
