// Guests whose inferences are computed together by ONNX Runtime: what one does costs the others nothing, and leaves nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/onnx_writer.h"
#include "hostile/embedder.h"
#include "hostile/run.h"

namespace wasinn::testing {
namespace {

using ::testing::HasSubstr;

enum : uint32_t { kSuccess = 0, kInvalidArgument = 1, kRuntimeError = 5 };
constexpr uint32_t kF32 = 1, kPixels = 64, kClasses = 10;
constexpr int kSines = 300;

// y = sin(sin(… x)) of each row, in some tenths of a second for each row: a million times the same.
std::string SlowRows() {
  using namespace test;  // NOLINT(google-build-using-namespace): a writer's words
  Graph graph{.nodes = {Node("ConstantOfShape", {"shape"}, {"zeros"}), Node("Add", {"x", "zeros"}, {"v0"})},
              .constants = {Constant<int64_t>("shape", kInt64, {2}, {1, 1000000})},
              .inputs = {Value("x", kFloat, {kUnknown, 1})},
              .outputs = {Value("y", kFloat, {kUnknown, 1})}};
  for (int i = 0; i < kSines; ++i) {
    graph.nodes.push_back(Node("Sin", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)}));
  }
  graph.nodes.push_back(
      Node("ReduceMax", {"v" + std::to_string(kSines)}, {"y"}).Add(5, Proto().Text(1, "axes").Int(8, 1).Int(20, 7)));
  return ModelOf(graph);
}

float SlowRow(float x) {
  for (int i = 0; i < kSines; ++i) x = std::sin(x);
  return x;
}

class HostileBatches : public ::testing::Test {
 protected:
  // A guest with a context of a model, one row of which is its own by `seed`.
  struct Program {
    Program(HostileBatches& test, const std::string& model, int seed, uint32_t timeout_ms = 60000)
        : own_seed(seed), own_guest(test.NewGuest(timeout_ms)), puppet(new Puppet(*test.embedder_, own_guest.get())) {
      context = puppet->NewContext(puppet->LoadByName(model));
      is_slow = model == "slow";
      puppet->Put<float>(1024, Row());
      EXPECT_EQ(Set(is_slow ? std::vector<uint32_t>{1, 1} : std::vector<uint32_t>{1, 1, 8, 8}, is_slow ? 4 : 256),
                kSuccess);
    }
    std::vector<float> Row() const {
      if (is_slow) return {0.1F * static_cast<float>(own_seed)};
      std::vector<float> pixels;
      for (uint32_t i = 0; i < kPixels; ++i) {
        pixels.push_back(static_cast<float>((i * 37 + static_cast<uint32_t>(own_seed) * 101) % 97) / 97);
      }
      return pixels;
    }
    uint32_t Set(const std::vector<uint32_t>& dims, uint32_t size) {
      puppet->PutTensor(128, dims, kF32, 1024, size);
      return puppet->Call("set_input", {context, 0, 128});
    }
    uint32_t Compute() { return puppet->Call("compute", {context}); }
    std::future<uint32_t> Begin() {
      return std::async(std::launch::async, [this] { return Compute(); });
    }
    std::vector<float> Output() {
      EXPECT_EQ(puppet->Call("get_output", {context, 0, 8192, kClasses * 4, 64}), kSuccess);
      std::vector<float> values(puppet->Read(64) / 4);
      if (!values.empty()) std::memcpy(values.data(), puppet->memory() + 8192, values.size() * 4);
      return values;
    }

    const int own_seed;
    Guest own_guest;
    std::unique_ptr<Puppet> puppet;
    uint32_t context = 0;
    bool is_slow = false;
  };
  using Programs = std::vector<std::unique_ptr<Program>>;

  void SetUp() override { Open(3); }
  // All that guests had is gone when the last of them has.
  void TearDown() override {
    while (Metric("wasinn_inferences_running") != 0) std::this_thread::yield();  // of a batch that ends for nobody
    for (const char* name : {"wasinn_guests", "wasinn_graphs", "wasinn_contexts", "wasinn_held_bytes{of=\"tensors\"}",
                             "wasinn_inferences_waiting"}) {
      EXPECT_EQ(Metric(name), 0) << name;
    }
  }

  // A batch begins when it is full, and at no other time.
  void Open(int rows) {
    const std::string batching = "batching]\nmax_batch_size = " + std::to_string(rows) +
                                 "\nmax_queue_delay_microseconds = 4000000000\ninstance_count = 1\n";
    embedder_ = std::make_unique<Embedder>("[models.batched]\npath = '" + DigitsPath() + "'\n[models.batched." +
                                           batching + "[models.slow]\npath = '" +
                                           folder_.Write("slow.onnx", SlowRows()) + "'\n[models.slow." + batching);
  }
  Guest NewGuest(uint32_t timeout_ms) {
    GuestOptions options;
    Limits limits = embedder_->host().limits();
    limits.compute_timeout_ms = timeout_ms;
    options.limits = &limits;
    Result<Guest> guest = Guest::Create(embedder_->host(), options);
    EXPECT_TRUE(guest) << guest.status().message();
    return std::move(*guest);
  }
  double Metric(const std::string& name) {
    const Result<std::string> text = embedder_->host().Metrics();
    EXPECT_TRUE(text);
    const size_t at = text->find("\n" + name + " ");
    EXPECT_NE(at, std::string::npos) << name;
    return std::stod(text->substr(at + name.size() + 2));
  }
  void AwaitMetric(const std::string& name) {
    while (Metric(name) == 0) std::this_thread::yield();
  }
  static uint64_t Computes(const Program& program) {
    wasinn_guest_stats stats{.struct_size = sizeof(stats)};
    wasinn_guest_statistics(program.own_guest.get(), &stats);
    return stats.computes;
  }

  Programs New(const std::string& model, int count) {
    Programs programs;
    for (int i = 1; i <= count; ++i) programs.push_back(std::make_unique<Program>(*this, model, i));
    return programs;
  }
  // Computed by all at once, each has its own.
  void ExpectRight(Programs& programs) {
    std::vector<std::future<uint32_t>> computes;
    for (const auto& program : programs) computes.push_back(program->Begin());
    for (auto& compute : computes) EXPECT_EQ(compute.get(), kSuccess);
    for (const auto& program : programs) ExpectRight(*program);
  }
  void ExpectRight(Program& program) {
    const std::vector<float> output = program.Output();
    std::vector<float> expected = {SlowRow(0.1F * static_cast<float>(program.own_seed))};
    if (!program.is_slow) {
      Program alone(*this, "digits", program.own_seed);
      EXPECT_EQ(alone.Compute(), kSuccess);
      expected = alone.Output();
    }
    ASSERT_EQ(output.size(), expected.size());
    for (size_t i = 0; i < output.size(); ++i) EXPECT_NEAR(output[i], expected[i], 1e-5);
  }

  const TempFolder folder_;
  std::unique_ptr<Embedder> embedder_;
};

TEST_F(HostileBatches, AGuestThatIsClosedWhileItWaits) {
  Programs programs = New("batched", 4);
  auto waiting = programs[0]->Begin();
  while (Computes(*programs[0]) == 0) std::this_thread::yield();
  programs[0]->own_guest.Close();
  EXPECT_EQ(waiting.get(), kRuntimeError);
  programs.erase(programs.begin());  // with its memory
  for (int round = 0; round < 3; ++round) ExpectRight(programs);
}

// It waits for half of its time, and computes by itself for the other half: so it is told in time, and nobody else waits
// for it.
TEST_F(HostileBatches, ADeadlineThatPassesInTheQueue) {
  Programs programs = New("batched", 3);
  for (const uint32_t timeout_ms : {1u, 2u, 20u, 3000u}) {
    Program hasty(*this, "batched", 9, timeout_ms);
    const uint32_t error = hasty.Compute();
    EXPECT_TRUE(error == kSuccess || error == kRuntimeError) << error;
    if (timeout_ms == 3000) {
      EXPECT_EQ(error, kSuccess);
    }
    if (error == kSuccess) ExpectRight(hasty);
    ExpectRight(programs);
  }
}

// In a batch that takes longer than it has: it is told at its deadline, and the batch goes on for the others.
TEST_F(HostileBatches, ADeadlineThatPassesInTheBatch) {
  Programs programs = New("slow", 2);
  Program hasty(*this, "slow", 3, 50);
  std::vector<std::future<uint32_t>> computes;
  for (const auto& program : programs) computes.push_back(program->Begin());
  for (const auto& program : programs) {
    while (Computes(*program) == 0) std::this_thread::yield();
  }
  EXPECT_EQ(hasty.Compute(), kRuntimeError);
  for (auto& compute : computes) EXPECT_EQ(compute.get(), kSuccess);
  for (const auto& program : programs) ExpectRight(*program);
}

TEST_F(HostileBatches, WrongShapesBesideGoodOnes) {
  Programs programs = New("batched", 3);
  Program wrong(*this, "batched", 9);
  const std::pair<std::vector<uint32_t>, uint32_t> kShapes[] = {
      {{1, 1, 8, 7}, 224}, {{1, 2, 8, 8}, 512},        {{1, 64}, 256}, {{64}, 256}, {{2, 1, 8, 8}, 256},
      {{1, 1, 8, 8}, 260}, {{0x80000000, 1, 8, 8}, 0}, {{}, 4}};
  for (const auto& [dims, size] : kShapes) {
    EXPECT_EQ(wrong.Set(dims, size), kInvalidArgument);
    ExpectRight(programs);
  }
  // Rows that are none, and more than a batch has, are computed by themselves.
  EXPECT_EQ(wrong.Set({0, 1, 8, 8}, 0), kSuccess);
  EXPECT_EQ(wrong.Compute(), kSuccess);
  EXPECT_TRUE(wrong.Output().empty());
  EXPECT_EQ(wrong.Set({3, 1, 8, 8}, 768), kSuccess);
  EXPECT_EQ(wrong.Compute(), kSuccess);
  ExpectRight(programs);
}

// One thread of a guest waits for its batch, another one traps: its embedder closes the guest, and frees its memory
// while the batch is computed.
TEST_F(HostileBatches, AGuestThatTrapsWhileItsRowIsComputed) {
  Programs programs = New("slow", 2);
  Guest guest = NewGuest(60000);
  SharedMemoryPtr memory = NewSharedMemory(*embedder_, 1);
  auto first = std::make_unique<Puppet>(*embedder_, guest.get(), memory.get());
  auto second = std::make_unique<Puppet>(*embedder_, guest.get(), memory.get());
  const uint32_t context = first->NewContext(first->LoadByName("slow"));
  first->Put<float>(1024, {0.9F});
  first->PutTensor(128, {1, 1}, kF32, 1024, 4);
  ASSERT_EQ(first->Call("set_input", {context, 0, 128}), kSuccess);
  std::vector<std::future<uint32_t>> computes;
  for (const auto& program : programs) computes.push_back(program->Begin());
  auto trapping = std::async(std::launch::async, [&] { return first->Call("compute", {context}); });
  AwaitMetric("wasinn_inferences_running");
  EXPECT_THAT(second->Trap(), HasSubstr("unreachable"));
  guest.Close();
  EXPECT_EQ(trapping.get(), kRuntimeError);
  first.reset();
  second.reset();
  memory.reset();
  for (auto& compute : computes) EXPECT_EQ(compute.get(), kSuccess);
  for (const auto& program : programs) ExpectRight(*program);
}

// All of them: the batch ends with them.
TEST_F(HostileBatches, ABatchThatEverybodyLeaves) {
  Programs programs = New("slow", 3);
  std::vector<std::future<uint32_t>> computes;
  for (const auto& program : programs) computes.push_back(program->Begin());
  AwaitMetric("wasinn_inferences_running");
  for (const auto& program : programs) program->own_guest.Close();
  for (auto& compute : computes) EXPECT_EQ(compute.get(), kRuntimeError);
  programs.clear();
  Programs next = New("slow", 3);
  ExpectRight(next);
}

}  // namespace
}  // namespace wasinn::testing
