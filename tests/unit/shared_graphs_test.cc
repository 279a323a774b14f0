// Guests that bring the same model share one graph: what makes it the same, the account that it is charged to, and what they do to
// each other.
#include "support/gate.h"
#include "support/this_build.h"
#include "unit/isolated_program.h"

namespace wasinn::testing {
namespace {

constexpr char kKeepingModel[] = "in x f32 1\nload_keeps 5000\nsays loaded\n";

class SharedGraphs : public ::testing::Test {
 protected:
  SharedGraphs() { host = EchoHost(log, "[policy]\nload = 'in-process'\n"); }
  // How often a model that says so was loaded.
  size_t Loads() const {
    size_t loads = 0;
    for (const std::string& line : log.lines()) loads += line.find("loaded") != line.npos ? 1 : 0;
    return loads;
  }
  uint32_t Load(Program& program, std::string_view directives = kKeepingModel) {
    uint32_t graph = 0;
    return program.LoadBytes(EchoModel(directives), kGgmlEncoding, graph) == kSuccess ? graph : 0;
  }

  Log log;
  HostPtr host;
};

TEST_F(SharedGraphs, ThereIsOneOfTheSameBytes) {
  Program one(host.get()), two(host.get());
  const uint32_t first = one.Open(kKeepingModel), second = two.Open(kKeepingModel);
  EXPECT_EQ(Loads(), 1u);
  EXPECT_NE(one.Open(std::string(kKeepingModel) + " "), 0u) << "of others another";
  EXPECT_EQ(Loads(), 2u);
  EXPECT_EQ(one.Infer(first, {1}), std::vector<float>({1}));
  EXPECT_EQ(two.Infer(second, {2}), std::vector<float>({2}));
  one.guest.reset();
  EXPECT_EQ(two.Infer(second, {3}), std::vector<float>({3})) << "the guest that loaded it is gone";
  EXPECT_NE(Load(two), 0u);
  EXPECT_EQ(Loads(), 2u);
  two.guest.reset();
  Program three(host.get());
  EXPECT_NE(Load(three), 0u);
  EXPECT_EQ(Loads(), 3u) << "it had no user any more";
}

TEST_F(SharedGraphs, EachPaysAsMuchAsAnOnlyUser) {
  Program one(host.get()), two(host.get());
  const uint32_t graph = Load(one);
  const uint64_t alone = one.Stats().model_bytes;
  EXPECT_GE(alone, 5000u + sizeof(kKeepingModel));
  const uint32_t same = Load(two);
  EXPECT_EQ(two.Stats().model_bytes, alone);
  const uint32_t again = Load(two);
  EXPECT_EQ(two.Stats().model_bytes, 2 * alone);
  for (const uint32_t one_of : {same, again}) EXPECT_EQ(two.Call("unload", {one_of}), kSuccess);
  EXPECT_EQ(two.Stats().model_bytes, 0u);
  EXPECT_EQ(one.Call("unload", {graph}), kSuccess);
  EXPECT_EQ(one.Stats().model_bytes, 0u);
}

TEST_F(SharedGraphs, ANewcomerDoesNotPayForWhatOthersDoWithIt) {
  host = EchoHost(log, "max_computes = 1\n[policy]\nload = 'in-process'\n");
  const std::string model = std::string(kKeepingModel) + "shares\nturns 0\nkeeps 100000\n";
  Program one(host.get()), two(host.get());
  const uint32_t graph = Load(one, model);
  const uint64_t alone = one.Stats().model_bytes;
  for (int i = 0; i < 2; ++i) {
    uint32_t context = 0;
    ASSERT_EQ(one.InitContext(graph, context), kSuccess);
  }
  ASSERT_GE(one.Stats().model_bytes, alone + 100000) << "of a slot that contexts share";
  EXPECT_NE(Load(two, model), 0u);
  EXPECT_EQ(two.Stats().model_bytes, alone);
}

TEST_F(SharedGraphs, AGuestThatCannotPayHasNone) {
  Program rich(host.get());
  EXPECT_NE(Load(rich), 0u);
  Program poor(NewGuest(host.get(), &wasinn_limits::max_model_bytes, uint64_t{5000}));
  uint32_t graph = 0;
  EXPECT_EQ(poor.LoadBytes(EchoModel(kKeepingModel), kGgmlEncoding, graph), kTooLarge);
  EXPECT_EQ(poor.Stats().model_bytes, 0u);
}

// Each caller that waits for a failed load tries itself: perhaps only the first one's limits failed.
TEST_F(SharedGraphs, AGuestThatWaitsForALoadThatFailsLoadsItself) {
  const Gate gate;
  const std::string model = "in x f32 1\nload_keeps 5000\nsays loaded\n" + gate.Load();
  Program one(NewGuest(host.get(), &wasinn_limits::max_model_bytes, uint64_t{1} << 30)), two(host.get());
  uint32_t first = 0, second = 0;
  std::thread loads([&] { first = Load(one, model); });
  gate.Await();
  std::thread waits([&] { second = Load(two, model); });
  wasinn_guest_stop(one.guest.get());  // which ends the load
  loads.join();
  gate.Open();
  waits.join();
  EXPECT_EQ(first, 0u);
  EXPECT_NE(second, 0u);
}

TEST_F(SharedGraphs, LoadsAtTheSameTimeAreOne) {
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 8; ++i) programs.push_back(std::make_unique<Program>(host.get()));
  std::vector<uint32_t> graphs(programs.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < programs.size(); ++i) {
    threads.emplace_back([&, i] { graphs[i] = Load(*programs[i], std::string(kKeepingModel) + "load_delay 50\n"); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(graphs, ::testing::Each(::testing::Ne(0u)));
  EXPECT_EQ(Loads(), 1u);
}

class SharedInWorkers : public SharedGraphs {
 protected:
  SharedInWorkers() {
    host = EchoHost(log, "spare_workers = false\nworker = \"" + WorkerFile() + "\"\n[policy]\nload = \"isolated\"\n");
  }
};

TEST_F(SharedInWorkers, GuestsWithoutATenantShareNothing) {
  Program one(host.get()), two(host.get());
  EXPECT_NE(Load(one), 0u);
  EXPECT_NE(Load(two), 0u);
  EXPECT_EQ(Loads(), 2u);
  EXPECT_NE(Load(one), 0u);
  EXPECT_EQ(Loads(), 2u) << "but a guest with itself";
}

TEST_F(SharedInWorkers, GuestsOfATenantShare) {
  Program one(GuestOf(host.get(), "blue")), two(GuestOf(host.get(), "blue")), other(GuestOf(host.get(), "green"));
  for (Program* program : {&one, &two, &other}) EXPECT_NE(Load(*program), 0u);
  EXPECT_EQ(Loads(), 2u);
}

TEST_F(SharedInWorkers, AreLoadedAgainWhenTheirWorkerIsLost) {
  Program program(host.get());
  const uint32_t dies = program.Open("in x f32 1\ndies compute\n");
  EXPECT_NE(Load(program), 0u);
  EXPECT_TRUE(program.Infer(dies, {1}).empty());
  const uint32_t context = program.Open(kKeepingModel);
  ASSERT_NE(context, 0u);
  EXPECT_EQ(program.Infer(context, {1}), std::vector<float>({1}));
}

}  // namespace
}  // namespace wasinn::testing
