// Opening the PyTorch backend, devices, and models that others made.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "backends/torch_models.h"

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

namespace wasinn::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kDouble[] = "def forward(self, x):\n    return x * 2\n";

TEST(TorchOpen, TellsWhatItRunsOn) {
  const Host host;
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_STREQ(host.info()->framework, "PyTorch");
  EXPECT_THAT(host.info()->version, StartsWith("2."));
  EXPECT_TRUE(fs::exists(host.info()->library)) << host.info()->library;
  EXPECT_THAT(host.info()->devices, StartsWith("cpu"));
  EXPECT_STREQ(host.table().name, "torch");
  for (size_t i = 0; i < host.table().n_keys; ++i) {
    EXPECT_EQ(host.table().keys[i].where & WASINN_KEY_GUEST, 0u) << host.table().keys[i].name;
  }
}

TEST(TorchOpen, SaysWhatIsMissingAndHowToGetIt) {
  const Host missing(R"({"library": "/nonexistent/libtorch.so"})");
  EXPECT_EQ(missing.opened().code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(missing.opened().message,
              AllOf(HasSubstr("/nonexistent/libtorch.so"), HasSubstr("scripts/deps.sh torch")));
  EXPECT_EQ(Host(R"({"library": "libtorch.so"})").opened().code, WASINN_INVALID_ARGUMENT);
  EXPECT_EQ(Host(R"({"threads": 3})", 2).opened().code, WASINN_INVALID_ARGUMENT);
  // A library, but not this one.
  Dl_info info = {};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&std::printf), &info), 0);
  const Host other("{\"library\": \"" + fs::canonical(info.dli_fname).string() + "\"}");
  EXPECT_EQ(other.opened().code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(other.opened().message, HasSubstr("an older version"));
}

// The backend without the library of ours that is linked to libtorch.
TEST(TorchOpen, SaysThatItsRuntimeIsMissing) {
  const fs::path folder = fs::path(::testing::TempDir()) / "TorchWithoutRuntime";
  fs::create_directories(folder);
  const fs::path copy = folder / "libwasinn_backend_torch.so";
  fs::copy_file(testing::BackendFile(kFramework), copy, fs::copy_options::overwrite_existing);
  void* handle = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const auto query =
      reinterpret_cast<const wasinn_backend* (*)(uint16_t, uint16_t)>(dlsym(handle, "wasinn_backend_query"));
  const wasinn_backend* table = query(WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR);
  const wasinn_host_services services = {
      .struct_size = sizeof(services), .host = nullptr, .log = nullptr, .threads = 1};
  wasinn_backend_state* state = nullptr;
  const Result opened = TakeError(table->open(&services, "{}", &state));
  EXPECT_EQ(opened.code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(opened.message, AllOf(HasSubstr("libwasinn_torch_runtime.so"), HasSubstr("scripts/deps.sh torch")));
  fs::remove_all(folder);
}

TEST(TorchOpen, ServesSeveralHosts) {
  for (int i = 0; i < 3; ++i) {
    const Host host, beside;
    const Model model(beside, TorchModel(kDouble), TorchOptions());
    EXPECT_TRUE(model.loaded()) << model.loaded().message;
  }
}

TEST(TorchDevices, RefusesOrFallsBackOnce) {
  const Host host;
  if (std::string(host.info()->devices).find("gpu") != std::string::npos) GTEST_SKIP() << "there is a GPU";
  const std::string bytes = TorchModel(kDouble);
  for (const wasinn_target target : {WASINN_GPU, WASINN_TPU}) {
    LoadOptions options = TorchOptions();
    options.target = target;
    const Model refused(host, bytes, options);
    EXPECT_EQ(refused.loaded().code, WASINN_UNSUPPORTED_OPERATION);
    EXPECT_THAT(refused.loaded().message, HasSubstr("PyTorch"));
    options.cpu_fallback = true;
    for (int i = 0; i < 2; ++i) {
      const Model served(host, bytes, options);
      EXPECT_TRUE(served.loaded());
      EXPECT_THAT(host.table().describe(served.get()), HasSubstr(R"("device": "cpu")"))
          << "not the one that was asked for";
    }
  }
  const std::string log = host.log();
  EXPECT_EQ(log.find("using the CPU instead"), log.rfind("using the CPU instead"));
  EXPECT_THAT(log, HasSubstr("warning: using the CPU instead"));
  LoadOptions options = TorchOptions();
  options.target = WASINN_AUTO;
  const Model automatic(host, bytes, options);
  EXPECT_TRUE(automatic.loaded());
  EXPECT_THAT(host.table().describe(automatic.get()), HasSubstr(R"("device": "cpu")"));
  for (const bool fallback : {false, true}) {  // a device that is named is that one or none
    options.cpu_fallback = fallback;
    options.host_config = R"({"device": "cuda:1"})";
    EXPECT_EQ(Model(host, bytes, options).loaded().code, WASINN_UNSUPPORTED_OPERATION);
  }
  options.host_config = R"({"device": "nonsense"})";
  EXPECT_EQ(Model(host, bytes, options).loaded().code, WASINN_INVALID_ARGUMENT);
}

TEST(TorchModels, ReadsDigits) {
  const Host host;
  const std::string bytes = ReadFile(testing::InSources("models/digits.pt"));
  LoadOptions by_name = TorchOptions();
  by_name.path = testing::InSources("models/digits.pt");
  const Model model(host, bytes, TorchOptions()), named(host, bytes, by_name);
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  ASSERT_TRUE(named.loaded()) << named.loaded().message;
  EXPECT_STREQ(model.input(0).name, "image");
  NativeTorch native(bytes);
  Context context(model), other(named);
  int right = 0, n = 0;
  for (const auto& entry : fs::directory_iterator(testing::InSources("tests/models/digits/heldout"))) {
    const std::string file = ReadFile(entry.path());
    int width = 0, height = 0, channels = 0;
    stbi_uc* pixels = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()),
                                            static_cast<int>(file.size()), &width, &height, &channels, 1);
    ASSERT_NE(pixels, nullptr);
    std::vector<float> values(pixels, pixels + 64);
    stbi_image_free(pixels);
    for (float& value : values) value /= 255.0f;
    const Tensor image = Floats({1, 1, 8, 8}, values);
    const auto expected = native.Run({image});
    for (Context* one : {&context, &other}) {
      ASSERT_TRUE(one->Set(0, image));
      ASSERT_TRUE(one->Compute());
      Tensor scores;
      ASSERT_TRUE(one->Get(0, &scores));
      ASSERT_EQ(scores.bytes, expected[0].bytes) << entry.path();
    }
    const auto scores = expected[0].As<float>();
    const std::string name = entry.path().filename();
    right += std::ranges::max_element(scores) - scores.begin() == name[name.find('-') + 1] - '0';
    ++n;
  }
  EXPECT_EQ(n, 360);
  EXPECT_GE(right, 0.97 * n);
}

// A model with state that others made and use, from a guest and as the operator's file.
TEST(TorchModels, HearsVoicesChunkByChunk) {
  const std::string path = testing::InSources(".deps/share/silero-vad/silero_vad.jit");
  if (!fs::exists(path)) GTEST_SKIP() << "scripts/deps.sh tests fetches " << path;
  const std::string bytes = ReadFile(path);
  const Host host;
  LoadOptions by_name = TorchOptions();
  by_name.path = path;
  const Model guest(host, bytes, TorchOptions()), named(host, bytes, by_name);
  ASSERT_TRUE(guest.loaded()) << guest.loaded().message;
  ASSERT_TRUE(named.loaded()) << named.loaded().message;
  EXPECT_THAT(host.table().describe(guest.get()), HasSubstr("\"stateful\": true"));
  NativeTorch native(bytes);
  Context one(guest), other(named);
  const Tensor rate = MakeTensor<int64_t>(WASINN_I64, {}, {16000});
  ASSERT_TRUE(one.Set(1, rate));
  ASSERT_TRUE(other.Set(1, rate));
  std::vector<std::string> seen;
  for (int chunk = 0; chunk < 40; ++chunk) {
    std::vector<float> samples(512);
    for (int i = 0; i < 512; ++i) {
      const auto t = static_cast<float>(chunk * 512 + i) / 16000;
      samples[static_cast<size_t>(i)] =
          0.3f * std::sin(6.2832f * 140 * t) * (1 + std::sin(6.2832f * 4 * t)) + 0.1f * std::sin(6.2832f * 700 * t);
    }
    const auto expected = native.Run({Floats({1, 512}, samples), rate});
    for (Context* context : {&one, &other}) {
      ASSERT_TRUE(context->Set(0, Floats({1, 512}, samples)));
      const Result computed = context->Compute();
      ASSERT_TRUE(computed) << computed.message;
      Tensor probability;
      ASSERT_TRUE(context->Get(0, &probability));
      ASSERT_EQ(probability.bytes, expected[0].bytes) << "chunk " << chunk;
    }
    seen.push_back(expected[0].bytes);
  }
  EXPECT_NE(seen.front(), seen.back());
}

}  // namespace
}  // namespace wasinn::test
