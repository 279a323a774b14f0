// Batches on each framework: inferences of separate guests that were computed together give what each gives by itself.
#include <wasinn/wasinn.h>

#include "support/echo.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

struct Framework {
  const char* name;
  const char* model;
  float rounding;  // that a batch may differ by: other kernels add in another order
};
void PrintTo(const Framework& framework, std::ostream* out) { *out << framework.model; }

constexpr Framework kAll[] = {
    {"onnx", "digits.onnx", 1e-6f},     {"openvino", "digits.xml", 0.01f},  // in bf16 where the CPU can
    {"tflite", "digits.tflite", 1e-6f}, {"torch", "digits.pt", 1e-6f},
    {"tensorflow", "digits.pb", 1e-6f}, {"tensorflow", "digits_saved_model", 1e-6f}};

// A guest that brings `rows` images of its own.
class Program {
 public:
  Program(wasinn_host* host, int seed, uint32_t rows) : guest_(NewGuest(host)), calls_(guest_.get()) {
    uint32_t graph = 0;
    EXPECT_EQ(calls_.LoadByName("m", graph), kSuccess);
    EXPECT_EQ(calls_.InitContext(graph, context_), kSuccess);
    std::vector<float> pixels(size_t{64} * rows);
    for (size_t i = 0; i < pixels.size(); ++i) {
      pixels[i] = static_cast<float>((i * 37 + static_cast<size_t>(seed) * 101) % 97) / 97;
    }
    EXPECT_EQ(calls_.SetInput(context_, 0, {rows, 1, 8, 8}, kF32, pixels), kSuccess);
    size_ = rows * 10 * sizeof(float);
  }
  std::vector<float> Compute() {
    EXPECT_EQ(calls_.Call("compute", {context_}), kSuccess);
    const uint32_t buffer = calls_.Reserve(size_), written = calls_.Reserve(4);
    EXPECT_EQ(calls_.Call("get_output", {context_, 0, buffer, size_, written}), kSuccess);
    std::vector<float> values(calls_.Read<uint32_t>(written) / sizeof(float));
    std::memcpy(values.data(), &calls_.memory()[buffer], values.size() * sizeof(float));
    calls_.Rewind();
    return values;
  }

 private:
  GuestPtr guest_;
  FakeGuest calls_;
  uint32_t context_ = 0, size_ = 0;
};

class Batches : public ::testing::TestWithParam<Framework> {
 protected:
  HostPtr Host(const std::string& batching) {
    return EchoHost(log_,
                    "limits.compute_timeout_ms = 0\n[models.m]\npath = '" + InSources("models/") +
                        std::string(GetParam().model) + "'\n" + batching,
                    InThisBuild("lib/wasinn"));
  }
  Log log_;
};

// Without a deadline, a batch that is not full never begins: that all of them end says that they were computed together.
TEST_P(Batches, GiveWhatEachGivesByItself) {
  const HostPtr alone = Host("");
  const HostPtr together =
      Host("[models.m.batching]\nmax_batch_size = 6\nmax_queue_delay_microseconds = 4000000000\ninstance_count = 1\n");
  constexpr uint32_t kRows[] = {1, 3, 1, 1};
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 4; ++i) programs.push_back(std::make_unique<Program>(together.get(), i, kRows[i]));
  float most = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::future<std::vector<float>>> computes;
    for (const auto& program : programs) {
      computes.push_back(std::async(std::launch::async, [&program] { return program->Compute(); }));
    }
    for (int i = 0; i < 4; ++i) {
      const std::vector<float> batched = computes[static_cast<size_t>(i)].get();
      const std::vector<float> expected = Program(alone.get(), i, kRows[i]).Compute();
      ASSERT_EQ(batched.size(), expected.size());
      for (size_t k = 0; k < expected.size(); ++k) most = std::max(most, std::fabs(batched[k] - expected[k]));
    }
  }
  EXPECT_LE(most, GetParam().rounding);
  RecordProperty("most", std::to_string(most));
  EXPECT_FALSE(log_.Contains("do not have its rows")) << ::testing::PrintToString(log_.lines());
}

INSTANTIATE_TEST_SUITE_P(Frameworks, Batches, ::testing::ValuesIn(Built(kAll, &Framework::name)),
                         [](const auto& framework) {
                           std::string name = framework.param.model;
                           std::ranges::replace_if(name, [](char c) { return c == '.' || c == '_'; }, 'X');
                           return name;
                         });

}  // namespace
}  // namespace wasinn::testing
