#include "digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>

#include "native_ort.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
// What is not used of stb is not our concern.
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

struct Result {
  size_t digit = 0;
  Bytes bytes;  // ten probabilities
};
using Results = std::map<std::string, Result>;  // by file name

std::vector<std::string> ImageNames() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kImages)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

// "0002_label-2.png"
size_t Label(const std::string& name) { return static_cast<size_t>(name[name.find('-') + 1] - '0'); }

double Accuracy(const Results& results) {
  size_t right = 0;
  for (const auto& [name, result] : results) right += result.digit == Label(name);
  return static_cast<double>(right) / static_cast<double>(results.size());
}

std::vector<float> FloatsOf(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

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

// An image as the model takes it: each gray value from 0 to 1.
OnnxTensor Pixels(const fs::path& path) { return {kOnnxFloat, {1, 1, kSide, kSide}, Floats(FromGrays(Grays(path)))}; }

void RunNatively(Results* results) {
  const auto model = NativeModel::Load(kDigitsModel);
  ASSERT_TRUE(model) << model.error();
  for (const std::string& name : ImageNames()) {
    const OnnxTensor pixels = Pixels(fs::path(kImages) / name);
    const auto outputs = model->Run({&pixels, 1});
    ASSERT_TRUE(outputs) << outputs.error();
    Result& result = (*results)[name];
    result.bytes = (*outputs)[0].bytes;
    const std::vector<float> scores = FloatsOf(result.bytes);
    result.digit = static_cast<size_t>(std::ranges::max_element(scores) - scores.begin());
  }
}

// All images in one guest, whose lines are "FILE CLASS HEX".
void RunInGuest(const std::vector<std::string>& flags, const std::string& guest, std::vector<std::string> args,
                Results* results) {
  std::vector<std::string> all = flags;
  all.insert(all.end(), {"--dir", std::string(kImages) + "::/images"});
  args.emplace_back("--raw");
  for (const std::string& name : ImageNames()) args.push_back("/images/" + name);
  const CommandResult run = RunGuest(all, guest, args);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const std::string& line : Lines(run.out)) {
    std::string file, hex;
    Result result;
    std::istringstream(line) >> file >> result.digit >> hex;
    result.bytes = FromHex(hex);
    (*results)[fs::path(file).filename()] = result;
  }
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

void ExpectSameDigits(const std::vector<std::string>& flags, const std::string& guest_name,
                      const std::vector<std::string>& args) {
  Results native, guest;
  ASSERT_NO_FATAL_FAILURE(RunNatively(&native));
  ASSERT_NO_FATAL_FAILURE(RunInGuest(flags, guest_name, args, &guest));
  ASSERT_EQ(native.size(), kHeldOut);
  ASSERT_EQ(guest.size(), kHeldOut);
  size_t identical = 0;
  for (const auto& [name, result] : native) {
    EXPECT_EQ(guest[name].digit, result.digit) << name;
    EXPECT_EQ(ToHex(guest[name].bytes), ToHex(result.bytes)) << name;
    identical += guest[name].bytes == result.bytes;
  }
  std::printf("%zu images: the guest is right in %.2f %%, native in %.2f %%; %zu outputs identical\n", guest.size(),
              100 * Accuracy(guest), 100 * Accuracy(native), identical);
  EXPECT_GE(Accuracy(guest), kWantedAccuracy);
  EXPECT_EQ(Accuracy(guest), Accuracy(native));
}

void ExpectCloseDigits(const std::string& model, const std::string& guest_name, float rounding) {
  Results native, guest;
  ASSERT_NO_FATAL_FAILURE(RunNatively(&native));
  ASSERT_NO_FATAL_FAILURE(RunInGuest({"--model", "digits=" + model}, guest_name, {}, &guest));
  ASSERT_EQ(guest.size(), kHeldOut);
  float largest = 0;
  for (const auto& [name, result] : native) {
    EXPECT_EQ(guest[name].digit, result.digit) << name;
    const std::vector<float> expected = FloatsOf(result.bytes), found = FloatsOf(guest[name].bytes);
    ASSERT_EQ(found.size(), expected.size()) << name;
    for (size_t i = 0; i < found.size(); ++i) largest = std::max(largest, std::abs(found[i] - expected[i]));
  }
  EXPECT_LE(largest, rounding);
  EXPECT_GE(Accuracy(guest), kWantedAccuracy);
  std::printf("%zu images, right in %.2f %%; largest difference from ONNX Runtime %g\n", guest.size(),
              100 * Accuracy(guest), static_cast<double>(largest));
}

}  // namespace wasinn::testing
