// External delegates, targets, and what the interpreters of one model share.
#include "backends/expect.h"
#include "backends/tflite_options.h"
#include "backends/tflite_writer.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

class TfLiteDelegates : public ::testing::Test {
 protected:
  std::string log_option() const { return R"("log": ")" + log_ + "\""; }
  std::string log() const { return std::filesystem::exists(log_) ? ReadFile(log_) : ""; }

  const testing::TestFolder folder_;
  const std::string log_ = folder_ / "log";
};

std::vector<float> AddOnce(const LoadedModel& model) {
  return Compute(model, {Floats({2, 2}, {1, 2, 3, 4}), Floats({2, 2}, {0.5, 0.5, 0.5, 0.5})}).As<float>();
}

TEST_F(TfLiteDelegates, ComputesSeesItsOptionsAndGivesTheCpusResults) {
  {
    const Host host;
    LoadOptions options = TfLiteOptions();
    const std::vector<float> cpu = AddOnce({host, ModelBytes("add.tflite"), options});
    options.host_config = WithDelegate(log_option() + R"(, "device": 3)");
    const LoadedModel model(host, ModelBytes("add.tflite"), options);
    EXPECT_EQ(AddOnce(model), cpu);
    EXPECT_STREQ(
        host.table().describe(model.get()),
        R"({"device": "adder", "delegates": ["adder"], "xnnpack": true, "shared_weights": false, "stateful": false, "threads": 1})");
    EXPECT_THAT(log(), AllOf(HasSubstr("option device=3\n"), HasSubstr("nodes 1\n"), HasSubstr("add\n"),
                             Not(HasSubstr("destroyed")), Not(HasSubstr("option library"))));
  }
  EXPECT_THAT(log(), HasSubstr("destroyed\n"));
}

TEST_F(TfLiteDelegates, ServesTheTargetThatNamesIt) {
  const Host host(WithDelegate(R"("wrong": 100)", R"("gpu_delegate": "adder")"));
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_STREQ(host.info()->devices, "cpu, gpu (adder)");
  LoadOptions options = TfLiteOptions();
  EXPECT_THAT(AddOnce({host, ModelBytes("add.tflite"), options}), ElementsAre(1.5, 2.5, 3.5, 4.5));
  for (const wasinn_target target : {WASINN_TARGET_GPU, WASINN_TARGET_AUTO}) {
    options.target = target;
    EXPECT_THAT(AddOnce({host, ModelBytes("add.tflite"), options}), ElementsAre(101.5, 102.5, 103.5, 104.5));
  }
  options.target = WASINN_TARGET_TPU;
  EXPECT_EQ(Model(host, ModelBytes("add.tflite"), options).loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  // A model's own list beats the target, by name or none at all.
  options.host_config = R"({"delegates": ["adder"]})";
  EXPECT_THAT(AddOnce({host, ModelBytes("add.tflite"), options}), ElementsAre(101.5, 102.5, 103.5, 104.5));
  options.host_config = R"({"delegates": []})";
  EXPECT_THAT(AddOnce({host, ModelBytes("add.tflite"), options}), ElementsAre(1.5, 2.5, 3.5, 4.5));
}

TEST_F(TfLiteDelegates, LeavesTheRestToTheCpu) {
  const Host host(WithDelegate(R"("wrong": 100)", R"("tpu_delegate": "adder")"));
  LoadOptions options = TfLiteOptions();
  options.target = WASINN_TARGET_TPU;
  const LoadedModel model(host, ModelBytes("sum.tflite"), options);
  EXPECT_THAT(host.table().describe(model.get()), HasSubstr(R"("device": "cpu", "delegates": ["adder"])"))
      << "it took nothing of this one";
  EXPECT_THAT(Compute(model, {Floats({1, 5, 5, 1}, std::vector<float>(25, 2))}).As<float>(), ElementsAre(50));
}

TEST_F(TfLiteDelegates, ARefusalIsANamedErrorOrFallsBack) {
  const Host host(WithDelegate(R"("fail": "no such device: /dev/adder0")", R"("gpu_delegate": "adder")"));
  LoadOptions options = TfLiteOptions();
  options.target = WASINN_TARGET_GPU;
  const Model refused(host, ModelBytes("add.tflite"), options);
  EXPECT_EQ(refused.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(refused.loaded().message,
              AllOf(HasSubstr("'adder'"), HasSubstr(testing::InThisBuild("lib/libtflite_test_delegate.so")),
                    HasSubstr("no such device: /dev/adder0")));
  EXPECT_THAT(host.log(), IsEmpty());
  options.cpu_fallback = true;
  EXPECT_THAT(AddOnce({host, ModelBytes("add.tflite"), options}), ElementsAre(1.5, 2.5, 3.5, 4.5));
  EXPECT_THAT(host.log(), StartsWith("warning: using the CPU instead: delegate 'adder'"));
}

TEST_F(TfLiteDelegates, NamesALibraryThatIsNone) {
  const Host host;
  LoadOptions options = TfLiteOptions();
  for (const std::string& library : {std::string("/nonexistent/libvx_delegate.so"), testing::BackendFile(kFramework)}) {
    options.host_config = R"({"delegates": [{"name": "vx", "library": ")" + library + "\"}]}";
    const Model model(host, ModelBytes("add.tflite"), options);
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
    EXPECT_THAT(model.loaded().message, AllOf(HasSubstr("'vx'"), HasSubstr(library)));
  }
  options.host_config = R"({"delegates": ["unknown"]})";
  EXPECT_EQ(Model(host, ModelBytes("add.tflite"), options).loaded().code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST_F(TfLiteDelegates, InterpretersAreReusedByTheNextContext) {
  for (const int kept : {4, 0}) {
    std::filesystem::remove(log_);
    const Host host(R"({"idle_interpreters": )" + std::to_string(kept) + "}");
    LoadOptions options = TfLiteOptions();
    options.host_config = WithDelegate(log_option());
    const LoadedModel model(host, ModelBytes("add.tflite"), options);
    for (int i = 0; i < 5; ++i) EXPECT_THAT(AddOnce(model), ElementsAre(1.5, 2.5, 3.5, 4.5));
    const std::string text = log();
    int made = 0;
    for (size_t at = text.find("nodes 1"); at != std::string::npos; at = text.find("nodes 1", at + 1)) ++made;
    EXPECT_EQ(made, kept == 0 ? 6 : 1);
  }
}

// One layer of 16 MiB of weights, which XNNPACK packs.
std::string LargeLayer() {
  constexpr int32_t kIn = 2048, kOut = 2048;
  std::vector<float> weights(static_cast<size_t>(kIn) * kOut);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 13) / 64;
  return WriteTfLite({{.tensors = {{.name = "x", .shape = {1, kIn}},
                                   {.name = "weights", .shape = {kOut, kIn}, .data = DataOf(weights)},
                                   {.name = "bias", .shape = {kOut}, .data = DataOf(std::vector<float>(kOut, 1))},
                                   {.name = "y", .shape = {1, kOut}}},
                       .inputs = {0},
                       .outputs = {3},
                       .operators = {{.code = kOpFullyConnected,
                                      .inputs = {0, 1, 2},
                                      .outputs = {3},
                                      .options_type = kFullyConnectedOptions}}}});
}

TEST(TfLiteWeights, ArePackedOnceForAllInterpreters) {
  const Host host;
  const LoadedModel model(host, LargeLayer(), TfLiteOptions());
  const std::vector<Tensor> in = {Floats({1, 2048}, std::vector<float>(2048, 0.5f))};
  const std::string expected = Compute(model, in).bytes;
  std::deque<Context> contexts;
  const auto add = [&] { EXPECT_EQ(Compute(&contexts.emplace_back(model), in).bytes, expected); };
  for (int i = 0; i < 2; ++i) add();
  const uint64_t before = testing::ResidentBytes();
  for (int i = 0; i < 6; ++i) add();
  EXPECT_LT(testing::ResidentBytes(), before + (size_t{16} << 20)) << "six copies would be 96 MiB";
}

}  // namespace
}  // namespace wasinn::test
