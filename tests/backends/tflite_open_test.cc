// Threads and configuration; framework_test.cc has what all backends have.
#include "backends/expect.h"
#include "backends/tflite_options.h"
#include "backends/tflite_writer.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

void ExpectAddWorks(const Host& host, const LoadOptions& options = TfLiteOptions()) {
  const LoadedModel model(host, ModelBytes("add.tflite"), options);
  const Tensor in = Floats({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(Compute(model, {in, in}).As<float>(), ElementsAre(2, 4, 6, 8));
}

LoadedModel Digits(const Host& host) {
  return {host, ReadFile(testing::InSources("models/digits.tflite")), TfLiteOptions()};
}
const std::vector<Tensor> kImage = {Floats({1, 1, 8, 8}, std::vector<float>(64))};

TEST(TfLiteThreads, ComputesOnTheCallersThreadByDefault) {
  const Host host;
  const int before = CountThreads();
  Compute(Digits(host), kImage);
  EXPECT_EQ(CountThreads(), before);
}

// Each context keeps the threads of its interpreter, asleep; tflite_threads_test.cc has how many compute.
TEST(TfLiteThreads, KeepsToTheBudget) {
  const Host host("{}", 3);
  const int before = CountThreads();
  const LoadedModel model = Digits(host);
  Context first(model), second(model), third(model);
  for (Context* context : {&first, &second, &third}) Compute(context, kImage);
  EXPECT_GT(CountThreads(), before);
  EXPECT_LE(CountThreads(), before + 3 * 2);
}

TEST(TfLiteThreads, AModelOrAGuestCanAskForFewer) {
  const Host host("{}", 4);
  const int before = CountThreads();
  for (const auto& [of_host, of_guest] :
       {std::pair("{}", R"({"threads": 1})"), {R"({"threads": 1})", R"({"threads": 64})"}}) {
    LoadOptions options = TfLiteOptions();
    options.host_config = of_host;
    options.guest_config = of_guest;
    const LoadedModel model(host, ModelBytes("sum.tflite"), options);
    EXPECT_EQ(CountThreads(), before);
  }
}

TEST(TfLiteConfig, ReadsAllKeys) {
  const Host host(R"({"threads": 1, "xnnpack": false, "idle_interpreters": 0,
                      "delegates": [{"name": "npu", "library": "/nonexistent.so", "device": 0}],
                      "gpu_delegate": "npu", "tpu_delegate": "npu"})");
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_STREQ(host.info()->devices, "cpu, gpu (npu), tpu (npu)");
  ExpectAddWorks(host);
  for (const char* config : {R"({"xnnpack": 1})", R"({"delegates": [{"name": "npu"}]})",
                             R"({"delegates": [{"name": "npu", "library": "x.so"}]})", R"({"gpu_delegate": "npu"})",
                             R"({"idle_interpreters": -1})", "nonsense"}) {
    EXPECT_EQ(Host(config).opened().code, WASINN_ERROR_INVALID_ARGUMENT) << config;
  }
}

TEST(TfLiteOpen, LiteRtsOwnLibraryIsNamed) {
  const Host host(R"({"library": ")" + testing::InThisBuild("lib/libtflite_shim_litert.so") + "\"}");
  EXPECT_EQ(host.opened().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(host.opened().message, HasSubstr("LiteRT's own (libLiteRt.so)"));
}

// The core passes on only what a guest may set; the backend does not rely on it.
TEST(TfLiteConfig, ReadsOnlyHarmlessKeysFromAGuest) {
  const Host host;
  LoadOptions options = TfLiteOptions();
  options.guest_config = R"({"xnnpack": 17, "delegates": [{"name": "x", "library": "/nonexistent.so"}]})";
  ExpectAddWorks(host, options);
}

TEST(TfLiteConfig, DescribesTheModel) {
  const Host host;
  LoadOptions options = TfLiteOptions();
  const Model fast(host, ModelBytes("add.tflite"), options);
  EXPECT_STREQ(
      host.table().describe(fast.get()),
      R"({"device": "cpu", "delegates": [], "xnnpack": true, "shared_weights": true, "stateful": false, "threads": 1})");
  options.host_config = R"({"xnnpack": false})";
  const Model plain(host, ModelBytes("add.tflite"), options);
  EXPECT_STREQ(
      host.table().describe(plain.get()),
      R"({"device": "cpu", "delegates": [], "xnnpack": false, "shared_weights": false, "stateful": false, "threads": 1})");
}

}  // namespace
}  // namespace wasinn::test
