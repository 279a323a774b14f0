// A registered model in a worker whose load does not end by itself: it holds up no caller for longer than its limits.
#include "support/files.h"
#include "unit/isolated_program.h"
#include "unit/turned_host.h"

namespace wasinn::testing {
namespace {

// Neither ends, whatever the worker is asked.
constexpr std::string_view kEndlessLoad = "in x f32 -1\ndeaf\nload_gate /nowhere\n";
constexpr std::string_view kEndlessContext = "in x f32 -1\ndeaf\ncontext_gate /nowhere\n";
// Settings of a host, before the tables of its models.
constexpr std::string_view kShort = "[limits]\nload_timeout_ms = 50\n";

class IsolatedLoads : public ::testing::Test {
 protected:
  // The settings of a model "m" of these directives, with further settings of its own.
  std::string Model(std::string_view directives, const std::string& settings = "") const {
    return "[models.m]\npath = '" + folder_.Write("m.gguf", EchoModel(directives)) + "'\n" + settings;
  }
  static std::string Settings(std::string_view more) {
    return "worker = '" + WorkerFile() + "'\nisolate_models = true\n" + std::string(more);
  }
  HostPtr Host(const std::string& more) { return TurnedHost(hands_, log_, Settings(more)); }
  // The error of what `load` returns, after as much time as it takes.
  template <typename Load>
  auto InTime(Load load) {
    auto loading = std::async(std::launch::async, std::move(load));
    return TurnUntilDone(hands_, loading);
  }
  static std::string Inspect(const HostPtr& host, const char* name) {
    const StatusPtr status(
        wasinn_host_inspect(host.get(), name, [](void*, bool, uint32_t, const wasinn_io*) {}, nullptr));
    return status == nullptr ? "" : wasinn_status_message(status.get());
  }
  std::string InspectInTime(const HostPtr& host, const char* name) {
    return InTime([&host, name] { return Inspect(host, name); });
  }

  const TestFolder folder_;
  core::Clock::Hands hands_;
  Log log_;
};

constexpr const char* kStopped =
    "the load was stopped after 50 ms: the model's worker is gone: it did not stop in time";

TEST_F(IsolatedLoads, ByNameEndWithTheGuestsLimit) {
  const HostPtr host = Host(Model(kEndlessLoad));
  Program program(NewGuest(host.get(), &wasinn_limits::load_timeout_ms, 50));
  uint32_t graph = 0;
  EXPECT_EQ(InTime([&] { return program.LoadByName("m", graph); }), kRuntimeError);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("load_by_name: timeout: echo: model 'm:1': " + std::string(kStopped))));
}

TEST_F(IsolatedLoads, ByNameEndWithTheHostsLimitWhateverTheGuestsIs) {
  const HostPtr host = Host(std::string(kShort) + Model(kEndlessLoad));
  for (const uint32_t of_guest : {0u, 3'600'000u}) {
    Program program(NewGuest(host.get(), &wasinn_limits::load_timeout_ms, of_guest));
    uint32_t graph = 0;
    EXPECT_EQ(InTime([&] { return program.LoadByName("m", graph); }), kRuntimeError) << of_guest;
  }
}

TEST_F(IsolatedLoads, ForNoGuestEndWithTheHostsLimit) {
  const HostPtr host = Host(std::string(kShort) + Model(kEndlessLoad));
  EXPECT_THAT(InspectInTime(host, "m"), HasSubstr(kStopped));
}

TEST_F(IsolatedLoads, OfAPreloadEndWithTheHostsLimit) {
  auto options = EchoConfig(Settings(std::string(kShort) + Model(kEndlessLoad, "preload = true\n")))->ToHostOptions();
  ASSERT_TRUE(options);
  options->clock = core::Clock(hands_);
  const auto host = InTime([&] { return core::Host::Create(std::move(*options), &Log::Write, &log_); });
  ASSERT_FALSE(host);
  EXPECT_THAT(host.error().message(), HasSubstr(kStopped));
}

TEST_F(IsolatedLoads, OfAPipelinesStepEndWithTheHostsLimit) {
  const HostPtr host = Host(std::string(kShort) + Model(kEndlessLoad) +
                            "[models.p]\nstep = [{model_name = 'm', input_map = {x = 'a'}, output_map = {x = 'b'}}]\n");
  EXPECT_THAT(InspectInTime(host, "p"), HasSubstr(kStopped));
}

TEST_F(IsolatedLoads, OfAModelWithBatchesEndWithTheHostsLimit) {
  const HostPtr host = Host(std::string(kShort) + Model(kEndlessLoad, "[models.m.batching]\nmax_batch_size = 4\n"));
  EXPECT_THAT(InspectInTime(host, "m"), HasSubstr(kStopped));
}

// Each version has a worker of its own.
TEST_F(IsolatedLoads, OfOneVersionDoNotAffectTheOthers) {
  folder_.Write("v/1/model.gguf", EchoModel("in x f32 -1\n"));
  folder_.Write("v/2/model.gguf", EchoModel(kEndlessLoad));
  const HostPtr host = Host(std::string(kShort) + "[models.v]\npath = '" + std::string(folder_ / "v") + "'\n");
  Program program(host.get());
  const uint32_t context = program.NewContext("v:1");
  EXPECT_THAT(InspectInTime(host, "v"), HasSubstr(kStopped));
  EXPECT_EQ(program.Infer(context, {3}), std::vector<float>({3}));
}

TEST_F(IsolatedLoads, OfAWarmUpEndWithTheHostsLimit) {
  // The clock is turned by 20 s in a second or more, in which the model itself is loaded on any machine.
  const HostPtr host = Host("[limits]\nload_timeout_ms = 20000\n" + Model(kEndlessContext, "warm_up = 1\n"));
  EXPECT_THAT(InspectInTime(host, "m"),
              HasSubstr("its warm-up failed: the making of a context was stopped after 20000 ms"));
}

TEST_F(IsolatedLoads, AWarmUpsComputeEndsWithTheHostsLimit) {
  const HostPtr host =
      Host("[limits]\ncompute_timeout_ms = 50\n" + Model("in x f32 -1\ndeaf\nendless 0\n", "warm_up = 1\n"));
  EXPECT_THAT(InspectInTime(host, "m"), HasSubstr("its warm-up failed: the compute was stopped after 50 ms"));
}

// An instance that has no context computes nothing: each inference then makes one of its own.
TEST_F(IsolatedLoads, ContextsOfBatchesEndWithTheHostsLimit) {
  const HostPtr host = Host(std::string(kShort) +
                            Model(kEndlessContext, "[models.m.batching]\nmax_batch_size = 4\ninstance_count = 2\n"));
  Program program(NewGuest(host.get(), &wasinn_limits::load_timeout_ms, 50));
  const uint32_t context = program.NewContext("m");
  EXPECT_EQ(InTime([&] { return program.Infer(context, {1}); }), std::vector<float>());
}

TEST_F(IsolatedLoads, EndWithTheGuestThatLoads) {
  const HostPtr host = EchoHost(log_, Settings(Model(kEndlessLoad)));
  Program program(host.get());
  uint32_t graph = 0;
  auto loading = std::async(std::launch::async, [&] { return program.LoadByName("m", graph); });
  while (KnownProcesses().empty()) std::this_thread::yield();
  wasinn_guest_close(program.guest.get());
  EXPECT_EQ(loading.get(), kRuntimeError);
}

// They wait without a limit of their own, and would each load it again, one after the other.
TEST_F(IsolatedLoads, ThatTookTooLongFailForAllCallersWithoutAGuest) {
  const HostPtr host = Host(std::string(kShort) + Model(kEndlessLoad));
  std::vector<std::future<std::string>> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.push_back(std::async(std::launch::async, [&] { return Inspect(host, "m"); }));
  }
  for (auto& one : waiting) EXPECT_THAT(TurnUntilDone(hands_, one), HasSubstr(kStopped));
}

}  // namespace
}  // namespace wasinn::testing
