// The host's thread budget: with how many threads TensorFlow Lite computes.
#include "backends/expect.h"
#include "backends/tflite_options.h"
#include "backends/tflite_writer.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

// y = a + b, of any length.
std::string Add() {
  return WriteTfLite(
      {{.tensors = {{.name = "a", .shape = {1}, .signature = {-1}},
                    {.name = "b", .shape = {1}, .signature = {-1}},
                    {.name = "y", .shape = {1}, .signature = {-1}}},
        .inputs = {0, 1},
        .outputs = {2},
        .operators = {{.code = kOpAdd, .inputs = {0, 1}, .outputs = {2}, .options_type = kAddOptions}}}});
}

// The test's delegate reports the number of threads of an interpreter, and holds one that shall wait.
class TfLiteBudget : public ::testing::Test {
 protected:
  LoadOptions Options() const {
    LoadOptions options = TfLiteOptions();
    options.host_config = WithDelegate(R"("log": ")" + log_ + R"(", "hold": ")" + hold_ + "\"");
    return options;
  }

  // The threads of each compute since the last call.
  std::vector<int> TakeThreads() const {
    std::vector<int> threads;
    std::ifstream file(log_);
    for (std::string word; file >> word;) {
      if (word == "threads") file >> threads.emplace_back();
    }
    std::filesystem::remove(log_);
    return threads;
  }

  // That were made since the last time.
  int TakeInterpreters() const {
    int made = 0;
    std::ifstream file(log_);
    for (std::string word; file >> word;) made += word == "nodes" ? 1 : 0;
    std::filesystem::remove(log_);
    return made;
  }

  // A compute of `context`, which lasts until the function that this returns is called.
  std::function<void()> Hold(Context* context) const {
    std::ofstream(hold_) << '\n';
    auto thread = std::make_shared<std::thread>([context] { MustCompute(context); });
    while (!std::filesystem::exists(hold_ + ".held")) std::this_thread::yield();
    return [this, thread] {
      std::filesystem::remove(hold_ + ".held");
      thread->join();
    };
  }

  const testing::TestFolder folder_;
  const std::string log_ = folder_ / "log", hold_ = folder_ / "hold";
};

void SetBoth(Context* context, const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_TRUE(context->Set(0, Floats({static_cast<int64_t>(a.size())}, a)));
  ASSERT_TRUE(context->Set(1, Floats({static_cast<int64_t>(b.size())}, b)));
}

std::vector<float> SumOf(Context* context) { return Compute(context, {}).As<float>(); }

// Adds in the shape that the model itself has.
void AddSquares(Context* context) {
  const Tensor a = Floats({2, 2}, {1, 2, 3, 4}), b = Floats({2, 2}, {1, 1, 1, 1});
  EXPECT_THAT(Compute(context, {a, b}).As<float>(), ElementsAre(2, 3, 4, 5));
}

TEST_F(TfLiteBudget, AreAllThereForOneThatComputes) {
  const Host host("{}", 3);
  const LoadedModel model(host, Add(), Options());
  std::vector<std::unique_ptr<Context>> idle;
  for (int i = 0; i < 3; ++i) {
    idle.push_back(std::make_unique<Context>(model));
    SetBoth(idle.back().get(), {1, 2}, {3, 4});
    EXPECT_THAT(SumOf(idle.back().get()), ElementsAre(4, 6));
  }
  EXPECT_THAT(TakeThreads(), ElementsAre(3, 3, 3));
}

TEST_F(TfLiteBudget, AreSharedByThoseThatComputeAtOnce) {
  const Host host("{}", 3);
  const LoadedModel model(host, Add(), Options());
  Context first(model), second(model), third(model);
  SetBoth(&first, {1, 2}, {3, 4});
  SetBoth(&second, {1, 2}, {5, 6});
  SetBoth(&third, {1}, {7});
  auto release = Hold(&first);
  EXPECT_THAT(TakeThreads(), ElementsAre(3));
  EXPECT_THAT(SumOf(&second), ElementsAre(6, 8));
  EXPECT_THAT(SumOf(&third), ElementsAre(8));
  EXPECT_THAT(SumOf(&third), ElementsAre(8));
  EXPECT_THAT(TakeThreads(), ElementsAre(1, 1, 1));
  release();
  EXPECT_THAT(MustGet(&first, 0).As<float>(), ElementsAre(4, 6));
  EXPECT_THAT(MustGet(&second, 0).As<float>(), ElementsAre(6, 8)) << "after the others";
  // Inputs stay set, whichever interpreter computes on them; a new value reaches both.
  EXPECT_THAT(SumOf(&second), ElementsAre(6, 8));
  SetBoth(&third, {1, 2, 3}, {1, 1, 1});
  EXPECT_THAT(SumOf(&third), ElementsAre(2, 3, 4));
  EXPECT_THAT(TakeThreads(), ElementsAre(3, 3));
  release = Hold(&first);
  ASSERT_TRUE(second.Set(0, Floats({2}, {10, 20})));
  EXPECT_THAT(SumOf(&second), ElementsAre(15, 26));
  EXPECT_THAT(SumOf(&third), ElementsAre(2, 3, 4));
  release();
  EXPECT_THAT(TakeThreads(), ElementsAre(3, 1, 1));
  EXPECT_THAT(SumOf(&second), ElementsAre(15, 26));
}

// Without another interpreter's memory, which a guest would have to have when others compute.
TEST_F(TfLiteBudget, OfAContextAreChargedAtItsMaking) {
  const Host one("{}", 1), three("{}", 3);
  const Model alone(one, Add(), Options()), model(three, Add(), Options());
  Account small, account;
  const Context least(alone, 0, "{}", &small);
  EXPECT_GT(small.used, 0u);
  {
    Context held(model), context(model, 0, "{}", &account);
    const uint64_t used = account.used;
    EXPECT_EQ(used, 2 * small.used);
    SetBoth(&held, {1}, {2});
    SetBoth(&context, {1}, {2});
    account.limit = used;
    EXPECT_THAT(SumOf(&context), ElementsAre(3));
    const auto release = Hold(&held);
    EXPECT_THAT(SumOf(&context), ElementsAre(3));
    release();
    EXPECT_EQ(account.used, used);
  }
  EXPECT_EQ(account.used, 0u);
}

// Both interpreters write to the memory that the host has for an output.
TEST_F(TfLiteBudget, OfAContextShareItsOutputs) {
  constexpr int32_t kLength = 1 << 18;
  constexpr uint64_t kBytes = kLength * sizeof(float);
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "a", .shape = {kLength}},
                                {.name = "b", .shape = {kLength}},
                                {.name = "y", .shape = {kLength}}},
                    .inputs = {0, 1},
                    .outputs = {2},
                    .operators = {{.code = kOpAdd, .inputs = {0, 1}, .outputs = {2}, .options_type = kAddOptions}}}});
  const Host host(R"({"idle_interpreters": 0})", 3);
  const LoadedModel model(host, bytes, Options());
  const std::vector<float> ones(kLength, 1);
  Context held(model);
  SetBoth(&held, ones, ones);
  Account account;
  Context context(model, 0, "{}", &account);
  SetBoth(&context, ones, ones);
  const uint64_t used = account.used;
  uint64_t before = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(SumOf(&context), Each(2));
    if (i == 1) before = AllocatedBytes();
    const auto release = Hold(&held);
    EXPECT_THAT(SumOf(&context), Each(2));
    EXPECT_EQ(account.used, used);
    release();
  }
  EXPECT_LT(AllocatedBytes(), before + kBytes / 2);
}

TEST_F(TfLiteBudget, InterpretersOfFreedContextsAreUsedAgain) {
  for (const uint32_t threads : {1, 3}) {
    const Host host("{}", threads);
    const LoadedModel model(host, ModelBytes("add.tflite"), Options());
    const auto compute = [&model] {
      Context context(model);
      AddSquares(&context);
    };
    compute();
    EXPECT_GT(TakeInterpreters(), 0);
    for (int i = 0; i < 3; ++i) compute();
    EXPECT_EQ(TakeInterpreters(), 0) << threads;
  }
}

// Models that are loaded start none, and those that wait for the next context have few.
TEST_F(TfLiteBudget, OfModelsAreBounded) {
  constexpr int kIdlePools = 4;
  const Host host("{}", 3);
  std::vector<std::unique_ptr<Model>> models;
  const int before = CountThreads();
  for (int i = 0; i < kIdlePools + 4; ++i) {
    models.push_back(std::make_unique<Model>(host, ModelBytes("add.tflite"), TfLiteOptions()));
    ASSERT_TRUE(models.back()->loaded()) << models.back()->loaded().message;
  }
  EXPECT_LE(CountThreads(), before);
  for (const auto& model : models) {
    Context context(*model);
    AddSquares(&context);
  }
  EXPECT_GT(CountThreads(), before) << "they are worth keeping";
  EXPECT_LE(CountThreads(), before + kIdlePools * 2);
  models.clear();
  EXPECT_LE(CountThreads(), before);
}

// However many contexts there are, few OS threads sleep for them; the others compute with one.
TEST_F(TfLiteBudget, OfIdleContextsAreBounded) {
  constexpr int kPools = 16;
  const Host host(R"({"idle_interpreters": 0})", 3);
  const LoadedModel model(host, ModelBytes("add.tflite"), Options());
  const int before = CountThreads();
  std::vector<std::unique_ptr<Context>> idle;
  for (int i = 0; i < kPools + 4; ++i) {
    idle.push_back(std::make_unique<Context>(model));
    ASSERT_TRUE(idle.back()->Set(0, Floats({2, 2}, {1, 2, 3, 4})));
    ASSERT_TRUE(idle.back()->Set(1, Floats({2, 2}, {1, 1, 1, 1})));
    EXPECT_THAT(SumOf(idle.back().get()), ElementsAre(2, 3, 4, 5));
    EXPECT_THAT(TakeThreads(), ElementsAre(i < kPools ? 3 : 1));
  }
  EXPECT_LE(CountThreads(), before + kPools * 2);
  idle.clear();
  EXPECT_LE(CountThreads(), before);
}

// No other interpreter could go on with the numbers.
TEST_F(TfLiteBudget, AreNotForModelsWithState) {
  const Host host("{}", 3);
  const Model plain(host, Add(), TfLiteOptions());
  EXPECT_THAT(host.table().describe(plain.get()), HasSubstr(R"("threads": 3)"));
  const TfOperator random = {
      .code = 148 /* RANDOM_UNIFORM */, .inputs = {0}, .outputs = {1}, .options_type = 113 /* RandomOptions */};
  const LoadedModel model(
      host,
      WriteTfLite({{.tensors = {{.name = "shape", .type = kTfInt32, .shape = {1}}, {.name = "y", .shape = {4}}},
                    .inputs = {0},
                    .outputs = {1},
                    .operators = {random}}}),
      TfLiteOptions());
  EXPECT_THAT(host.table().describe(model.get()), HasSubstr(R"("threads": 1)"));
}

}  // namespace
}  // namespace wasinn::test
