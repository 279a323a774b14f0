// Several guests in one host process: the hostile ones do not touch the honest ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "hostile/embedder.h"
#include "hostile/run.h"

namespace wasinn::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

enum Code : uint32_t {
  kWorked = 0,
  kWrongArgument = 1,
  kInvalidEncoding = 2,
  kBusy = 4,
  kFailed = 5,
  kTooLarge = 7,
  kNotFound = 8
};
constexpr uint32_t kFloat32 = 1;

Guest NewGuest(Embedder& embedder, const char* name) {
  GuestOptions options;
  options.name = name;
  Result<Guest> guest = Guest::Create(embedder.host(), options);
  EXPECT_TRUE(guest) << guest.status().message();
  return std::move(*guest);
}

TEST(HostileEmbedded, AnHonestGuestBesideHostileOnes) {
  Embedder embedder("limits.max_graphs = 2000\nlimits.max_contexts = 2000\nlimits.compute_timeout_ms = 300\n");
  const TempFolder folder;
  const auto output = [&folder](const std::string& program) { return (folder.path() / program).string(); };
  constexpr int kTimes = 2000;
  std::string honest_end = "not run";
  std::thread honest(
      [&] { honest_end = embedder.RunProgram("honest_loop", {std::to_string(kTimes)}, output("honest_loop")); });
  const std::vector<std::pair<std::string, std::vector<std::string>>> guests = {
      {"handles", {}},         {"mutants", {"flipped", "/models/digits.onnx"}},
      {"numbers", {}},         {"mutants", {"scrambled", "/models/digits.onnx"}},
      {"endless", {"1"}},      {"quotas", {"failures"}},
      {"ends", {"recursion"}}, {"ends", {"unreachable"}},
  };
  for (const auto& [program, args] : guests) {
    const std::string end = embedder.RunProgram(program, args, output("hostile"));
    if (program == "ends") {
      EXPECT_TRUE(HasInOrder(end, {"wasm backtrace", "wasm trap"})) << end;
    } else {
      EXPECT_EQ(end, "") << program;
      EXPECT_TRUE(ReadFile(output("hostile")).ends_with(std::string(kHonest) + "\n")) << program;
    }
  }
  honest.join();
  EXPECT_EQ(honest_end, "");
  const std::vector<std::string> lines = Lines(ReadFile(output("honest_loop")));
  EXPECT_EQ(lines.size(), size_t{kTimes});
  EXPECT_EQ(std::ranges::count(lines, kHonest), kTimes);
}

// Numbers of one guest mean nothing in another one, even where both count alike.
TEST(HostileEmbedded, HandlesOfAnotherGuest) {
  Embedder embedder;
  const Guest owner = NewGuest(embedder, "owner"), thief = NewGuest(embedder, "thief");
  Puppet honest(embedder, owner.get()), hostile(embedder, thief.get());
  const uint32_t graph = honest.LoadByName("dynamic"), context = honest.NewContext(graph);
  honest.Put<float>(256, {7});
  honest.PutTensor(128, {1, 1}, kFloat32, 256, 4);
  EXPECT_EQ(honest.Call("set_input", {context, 0, 128}), kWorked);
  EXPECT_EQ(honest.Call("compute", {context}), kWorked);
  hostile.PutTensor(128, {1, 1}, kFloat32, 256, 4);
  EXPECT_EQ(hostile.Call("init_execution_context", {graph, 64}), kWrongArgument);
  EXPECT_EQ(hostile.Call("set_input", {context, 0, 128}), kWrongArgument);
  EXPECT_EQ(hostile.Call("compute", {context}), kWrongArgument);
  EXPECT_EQ(hostile.Call("get_output", {context, 0, 512, 4, 64}), kWrongArgument);
  EXPECT_EQ(hostile.Read(512), 0u);
  EXPECT_EQ(honest.Call("get_output", {context, 0, 512, 4, 64}), kWorked);
}

// A guest that was closed is dead, with all its handles, whoever still calls.
TEST(HostileEmbedded, DeadHandlesOfAClosedGuest) {
  Embedder embedder;
  Guest guest = NewGuest(embedder, "dead");
  Puppet program(embedder, guest.get());
  const uint32_t graph = program.LoadByName("dynamic"), context = program.NewContext(graph);
  guest.Close();
  EXPECT_EQ(program.Call("compute", {context}), kFailed);
  EXPECT_EQ(program.Call("init_execution_context", {graph, 64}), kFailed);
  EXPECT_EQ(program.Call("load_by_name", {0, 7, 64}), kFailed);
  Puppet orphan(embedder, nullptr);
  EXPECT_EQ(orphan.Call("load_by_name", {0, 7, 64}), kFailed);
}

// Two threads of one guest in one context: the second is told, at once.
TEST(HostileEmbedded, AContextInUse) {
  Embedder embedder("limits.compute_timeout_ms = 3000\n");
  const Guest guest = NewGuest(embedder, "threads");
  const SharedMemoryPtr memory = NewSharedMemory(embedder, 1);
  Puppet first(embedder, guest.get(), memory.get()), second(embedder, guest.get(), memory.get());
  const uint32_t context = first.NewContext(first.LoadByName("endless"));
  first.PutTensor(128, {1}, kFloat32, 256, 4);
  ASSERT_EQ(first.Call("set_input", {context, 0, 128}), kWorked);
  std::atomic<bool> ended{false};
  std::thread computing([&] {
    uint32_t computed = kBusy;
    while (computed == kBusy) computed = first.Call("compute", {context});  // while the second asks, it has the context
    EXPECT_EQ(computed, kFailed);
    ended = true;
  });
  const auto output = [&] { return second.Call("get_output", {context, 0, 512, 4, 64}); };
  uint32_t told = kWrongArgument;  // as there is no output before a compute
  while (told == kWrongArgument && !ended) told = output();
  EXPECT_EQ(told, kBusy);
  EXPECT_EQ(second.Call("compute", {context}), kBusy);
  EXPECT_EQ(second.Call("set_input", {context, 0, 128}), kBusy);
  EXPECT_FALSE(ended) << "it is told while the first computes";
  computing.join();
  EXPECT_EQ(second.Call("set_input", {context, 0, 128}), kWorked);
}

TEST(HostileEmbedded, ClosingEndsAnEndlessCompute) {
  Embedder embedder("limits.compute_timeout_ms = 0\n");
  Guest guest = NewGuest(embedder, "endless");
  Puppet program(embedder, guest.get());
  const uint32_t context = program.NewContext(program.LoadByName("endless"));
  program.PutTensor(128, {1}, kFloat32, 256, 4);
  ASSERT_EQ(program.Call("set_input", {context, 0, 128}), kWorked);
  std::thread computing([&] { EXPECT_EQ(program.Call("compute", {context}), kFailed); });
  wasinn_guest_stats stats{.struct_size = sizeof(stats)};
  while (stats.computes == 0) wasinn_guest_statistics(guest.get(), &stats);
  const auto start = steady_clock::now();
  guest.Close();
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(3));
  computing.join();
}

// What one thread of a guest does to memory while another one is inside of a call.
class Race {
 public:
  explicit Race(uint8_t* memory) : memory_(memory) {}

  // Writes the words again and again, good and evil ones in turn, until Stop.
  void Start(uint32_t address, const std::vector<std::vector<uint32_t>>& versions) {
    thread_ = std::thread([this, address, versions] {
      for (size_t i = 0; !stop_; ++i) {
        const std::vector<uint32_t>& words = versions[i % versions.size()];
        for (size_t j = 0; j < words.size(); ++j) {
          auto* place = reinterpret_cast<uint32_t*>(memory_ + address) + j;
          std::atomic_ref<uint32_t>(*place).store(words[j], std::memory_order_relaxed);
        }
      }
    });
  }
  ~Race() {
    stop_ = true;
    thread_.join();
  }

 private:
  uint8_t* const memory_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

class HostileRaces : public ::testing::Test {
 protected:
  // Calls for a while: each answer is one of those.
  void CallOften(const std::string& function, const std::vector<uint32_t>& args,
                 const std::vector<uint32_t>& may_answer) {
    const auto end = steady_clock::now() + milliseconds(700);
    while (steady_clock::now() < end) {
      const uint32_t error = program_.Call(function, args);
      ASSERT_TRUE(std::ranges::find(may_answer, error) != may_answer.end()) << function << " answered " << error;
    }
  }

  Embedder embedder_;
  Guest guest_ = NewGuest(embedder_, "racer");
  SharedMemoryPtr memory_ = NewSharedMemory(embedder_, 1);
  Puppet program_{embedder_, guest_.get(), memory_.get()};
};

// The descriptor of a tensor: {dims, rank, type, data, size}, and then its dims.
TEST_F(HostileRaces, ADescriptorThatChanges) {
  const uint32_t context = program_.NewContext(program_.LoadByName("dynamic"));
  program_.PutTensor(128, {2, 2}, kFloat32, 256, 16);
  Race race(program_.memory());
  race.Start(128, {{148, 2, kFloat32, 256, 16, 2, 2},
                   {148, 33, kFloat32, 0xfffffff0, 0xffffffff, 0xffffffff, 0x40000001},
                   {0xfffffffc, 0xffffffff, 255, 65535, 16, 2, 0x80000000},
                   {65532, 2, kFloat32, 65520, 1 << 20, 1, 4}});
  CallOften("set_input", {context, 0, 128}, {kWorked, kWrongArgument});
}

TEST_F(HostileRaces, BuildersThatChange) {
  program_.Put<uint8_t>(1024, {'G', 'G', 'U', 'F'});
  Race race(program_.memory());
  race.Start(128, {{1024, 4}, {1024, 0xffffffff}, {0xffffffff, 4}, {65535, 1}, {0, 60000}});
  CallOften("load", {128, 1, 1, 0, 64}, {kWrongArgument, kInvalidEncoding});
}

// The bytes of a model while it is parsed: it is a copy by then.
TEST_F(HostileRaces, AModelThatChanges) {
  const std::string model = ReadFile(TinyPath("two_in_two_out"));
  std::memcpy(program_.memory() + 1024, model.data(), model.size());
  program_.Put<uint32_t>(128, {1024, static_cast<uint32_t>(model.size())});
  Race race(program_.memory());
  race.Start(1024 + 32, {{0, 0, 0, 0, 0}, {0xffffffff, 0xffffffff, 0xffffffff}, {0x0a0a0a0a, 0x12121212, 0x3a3a3a3a}});
  CallOften("load", {128, 1, 1, 0, 64}, {kWorked, kWrongArgument, kInvalidEncoding, kFailed, kTooLarge});
}

TEST_F(HostileRaces, ANameThatChanges) {
  Race race(program_.memory());
  race.Start(1024, {{0x69676964, 0x7374}, {0x2f2e2e2e, 0x0a1b}});  // "digits", "../…"
  CallOften("load_by_name", {1024, 6, 64}, {kWorked, kNotFound, kTooLarge});
}

// The place of the result is the place of the buffer, and both change.
TEST_F(HostileRaces, OutputsThatOverlap) {
  const uint32_t context = program_.NewContext(program_.LoadByName("dynamic"));
  program_.PutTensor(128, {2, 2}, kFloat32, 256, 16);
  ASSERT_EQ(program_.Call("set_input", {context, 0, 128}), kWorked);
  ASSERT_EQ(program_.Call("compute", {context}), kWorked);
  Race race(program_.memory());
  race.Start(512, {{0, 0, 0, 0, 0}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}});
  for (const uint32_t written : {512u, 514u, 524u, 65532u}) {
    CallOften("get_output", {context, 0, 512, 16, written}, {kWorked});
  }
}

}  // namespace
}  // namespace wasinn::testing
