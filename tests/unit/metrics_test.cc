// wasinn_host_metrics and spans: what is counted of which model, and that guests decide neither labels nor their number.
#include <wasinn/wasinn.hpp>

#include "support/echo.h"
#include "support/gate.h"
#include "support/this_build.h"
#include "unit/exposition.h"
#include "unit/isolated_program.h"

namespace wasinn::testing {
namespace {

using ::testing::Field;
using ::testing::IsSupersetOf;
using Samples = std::map<std::string, double>;

constexpr const char* kMeasuredModel = "in x f32 1\nturns 0\n";

std::string TextOf(const HostPtr& host) {
  std::string text;
  const StatusPtr status(wasinn_host_metrics(
      host.get(),
      [](void* user, const char* from, size_t size) { static_cast<std::string*>(user)->assign(from, size); }, &text));
  EXPECT_EQ(status, nullptr);
  return text;
}

Samples Read(const HostPtr& host) { return ReadMetrics(TextOf(host)); }

std::string Inferences(const std::string& code, const std::string& model = R"(model="m",version="1")") {
  return "wasinn_inferences_total{" + model + R"(,backend="echo",code=")" + code + "\"}";
}

struct NamedProgram : EchoProgram {
  explicit NamedProgram(const HostPtr& host, const char* model = "m") : NamedProgram(NewGuest(host.get()), model) {}
  NamedProgram(GuestPtr its, const char* model) : EchoProgram(std::move(its)) {
    EXPECT_EQ(LoadByName(model, graph), kSuccess);
    EXPECT_EQ(InitContext(graph, context), kSuccess);
  }
  uint32_t Compute() {
    Rewind();
    EXPECT_EQ(Set(context, {1}), kSuccess);
    return EchoProgram::Compute(context);
  }

  uint32_t graph = 0, context = 0;
};

TEST(Metrics, CountWhatAGuestDoesAndKeepItWhenItHasGone) {
  const LoggedHost host;
  AddEchoModel(host.get(), "m", kMeasuredModel);
  {
    NamedProgram program(host);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(program.Compute(), kSuccess);
    ASSERT_EQ(program.Finalize(program.context), kSuccess);
    ASSERT_EQ(program.InitContext(program.graph, program.context), kSuccess);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(program.Compute(), kSuccess);
    const Samples during = Read(host);
    EXPECT_THAT(during,
                IsSupersetOf<Samples::value_type>(
                    {{Inferences("ok"), 5},
                     {"wasinn_guests", 1},
                     {"wasinn_graphs", 1},
                     {"wasinn_contexts", 1},
                     {R"(wasinn_model_graphs{model="m",version="1",backend="echo"})", 1},
                     {R"(wasinn_model_contexts{model="m",version="1",backend="echo"})", 1},
                     {R"(wasinn_copies_total{direction="in"})", 5},
                     {R"(wasinn_copied_bytes_total{direction="in"})", 20},
                     {R"(wasinn_model_loads_total{model="m",version="1",backend="echo",code="ok"})", 1},
                     {R"(wasinn_model_load_duration_seconds_count{model="m",version="1",backend="echo"})", 1}}));
    EXPECT_GT(during.at(R"(wasinn_held_bytes{of="tensors"})"), 0);
  }
  EXPECT_THAT(Read(host), IsSupersetOf<Samples::value_type>({{Inferences("ok"), 5},
                                                             {"wasinn_guests", 0},
                                                             {"wasinn_contexts", 0},
                                                             {R"(wasinn_held_bytes{of="tensors"})", 0},
                                                             {R"(wasinn_copies_total{direction="in"})", 5}}));
}

TEST(Metrics, FailuresByTheirCode) {
  const LoggedHost host("[limits]\nmax_contexts = 1\nmax_log_messages = 2\n");
  Gate gate;
  AddEchoModel(host.get(), "m", "in x f32 1\nfail 5\n");
  AddEchoModel(host.get(), "late", "in x f32 1\n" + gate.Compute());
  AddEchoModel(host.get(), "broken", "in x f32 1\nfail_load 5\n");
  NamedProgram fails(host), late(NewGuest(host.get(), &wasinn_limits::compute_timeout_ms, 20u), "late");
  EXPECT_EQ(fails.Compute(), kRuntimeError);
  EXPECT_EQ(fails.Compute(), kRuntimeError);
  EXPECT_EQ(late.Compute(), kRuntimeError);
  EXPECT_EQ(fails.Call("init_execution_context", {fails.graph, 64}), kTooLarge);
  uint32_t graph = 0;
  EXPECT_EQ(fails.LoadByName("broken", graph), kRuntimeError);
  EXPECT_THAT(
      Read(host),
      IsSupersetOf<Samples::value_type>(
          {{Inferences("ok"), 0},
           {Inferences("runtime_error"), 2},
           {Inferences("timeout", R"(model="late",version="1")"), 1},
           {R"(wasinn_errors_total{code="runtime_error"})", 3},
           {R"(wasinn_errors_total{code="timeout"})", 1},
           {R"(wasinn_errors_total{code="too_large"})", 1},
           {R"(wasinn_refusals_total{limit="max_contexts"})", 1},
           {"wasinn_log_lines_dropped_total", 2},
           {R"(wasinn_model_loads_total{model="broken",version="1",backend="echo",code="runtime_error"})", 1}}));
}

TEST(Metrics, ComputesThatRunAndWait) {
  const LoggedHost host("max_computes = 1\n");
  Gate gate;
  AddEchoModel(host.get(), "m", kMeasuredModel + gate.Compute());
  NamedProgram first(host), second(host);
  auto running = std::async(std::launch::async, [&] { return first.Compute(); });
  gate.Await();
  auto waiting = std::async(std::launch::async, [&] { return second.Compute(); });
  Samples samples = Read(host);
  while (samples.at("wasinn_inferences_waiting") == 0) samples = Read(host);
  EXPECT_EQ(samples.at("wasinn_inferences_waiting"), 1);
  EXPECT_EQ(samples.at("wasinn_inferences_running"), 1);
  gate.Open();
  EXPECT_EQ(running.get(), kSuccess);
  EXPECT_EQ(waiting.get(), kSuccess);
  samples = Read(host);
  EXPECT_EQ(samples.at("wasinn_inferences_waiting"), 0);
  EXPECT_EQ(samples.at("wasinn_inferences_running"), 0);
}

TEST(Metrics, TimesOnlyWhereTheHostWantsThem) {
  Log log;
  const HostPtr without = EchoHost(log), with = EchoHost(log, "metrics = true\n");
  for (const HostPtr* host : {&without, &with}) {
    AddEchoModel(host->get(), "m", kMeasuredModel);
    NamedProgram program(*host);
    for (int i = 0; i < 4; ++i) ASSERT_EQ(program.Compute(), kSuccess);
    for (int i = 0; i < 2; ++i) EXPECT_THAT(program.Output(program.context), ElementsAre(1));
  }
  EXPECT_THAT(TextOf(without), Not(HasSubstr("wasinn_inference_")));
  const Samples samples = Read(with);
  const std::string labels = R"({model="m",version="1",backend="echo"})";
  for (const auto& [stage, count] :
       {std::pair("", 4), {"queue_", 4}, {"compute_input_", 4}, {"compute_infer_", 4}, {"compute_output_", 2}}) {
    const std::string name = std::string("wasinn_inference_") + stage + "duration_seconds";
    EXPECT_EQ(samples.at(name + "_count" + labels), count) << name;
    EXPECT_GT(samples.at(name + "_sum" + labels), 0) << name;
  }
}

TEST(Metrics, NamesOfModelsAreQuoted) {
  const LoggedHost host;
  for (const char* name : {"a\"b\\c\nd", "\xc3\xa4 \xe2\x9c\x93", "\xff\x01", "guest"}) {
    AddEchoModel(host.get(), name, kMeasuredModel);
    NamedProgram(host, name).Compute();
  }
  EXPECT_THAT(Read(host),
              IsSupersetOf<Samples::value_type>({{Inferences("ok", R"(model="a\"b\\c\nd",version="1")"), 1},
                                                 {Inferences("ok", "model=\"\xc3\xa4 \xe2\x9c\x93\",version=\"1\""), 1},
                                                 {Inferences("ok", R"(model="\\xff\\x01",version="1")"), 1},
                                                 {Inferences("ok", R"(model="guest",version="1")"), 1}}));
}

size_t SeriesIn(const HostPtr& host) { return Read(host).size(); }

TEST(Metrics, AGuestDoesNotMakeTheirNumberGrow) {
  const LoggedHost host("metrics = true\n[policy]\nload = \"in-process\"\n");
  AddEchoModel(host.get(), "m", kMeasuredModel);
  NamedProgram program(host);
  const auto attack = [&](int i) {
    program.Rewind();
    const std::string name = "name-" + std::to_string(i) + "\"} 1\nwasinn_guests 7";
    uint32_t graph = 0;
    EXPECT_EQ(program.LoadByName(name, graph), kNotFound);
    EXPECT_EQ(program.LoadBytes("bytes " + name, 5, graph), kInvalidEncoding);
    EXPECT_EQ(program.LoadBytes(EchoModel(kMeasuredModel + ("name " + name.substr(0, 6)) + "\n"), 5, graph), kSuccess);
    uint32_t context = 0;
    EXPECT_EQ(program.InitContext(graph, context), kSuccess);
    EXPECT_THAT(program.Infer(context, {1}), ElementsAre(1));
    EXPECT_EQ(program.Finalize(context), kSuccess);
    EXPECT_EQ(program.Call("unload", {graph}), kSuccess);
  };
  attack(0);
  const size_t before = SeriesIn(host);
  for (int i = 1; i < 50; ++i) attack(i);
  EXPECT_EQ(SeriesIn(host), before);
  EXPECT_EQ(Read(host).at(Inferences("ok", R"(model="guest")")), 50);
}

TEST(Metrics, AModelThatIsReplacedCountsOnAndARemovedOneIsGone) {
  const LoggedHost host;
  for (int i = 1; i <= 2; ++i) {
    AddEchoModel(host.get(), "m", kMeasuredModel);
    EXPECT_EQ(NamedProgram(host).Compute(), kSuccess);
    EXPECT_EQ(Read(host).at(Inferences("ok")), i);
  }
  ASSERT_EQ(StatusPtr(wasinn_host_remove_model(host.get(), "m")), nullptr);
  EXPECT_THAT(TextOf(host), Not(HasSubstr("model=\"m\"")));
}

TEST(Metrics, MayBeReadWhileGuestsWork) {
  const LoggedHost host("metrics = true\n");
  AddEchoModel(host.get(), "m", kMeasuredModel);
  constexpr int kGuests = 2, kRounds = 20, kComputes = 5;
  std::atomic<bool> done{false};
  std::thread reading([&] {
    double before = 0;
    while (!done) {
      const Samples samples = Read(host);
      const auto found = samples.find(Inferences("ok"));
      const double now = found == samples.end() ? 0 : found->second;
      EXPECT_GE(now, before);
      before = now;
    }
  });
  std::vector<std::thread> guests;
  for (int i = 0; i < kGuests; ++i) {
    guests.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        NamedProgram program(host);
        for (int j = 0; j < kComputes; ++j) EXPECT_EQ(program.Compute(), kSuccess);
      }
    });
  }
  for (std::thread& guest : guests) guest.join();
  done = true;
  reading.join();
  EXPECT_EQ(Read(host).at(Inferences("ok")), kGuests * kRounds * kComputes);
}

TEST_F(Isolation, WorkersAreCounted) {
  const HostPtr host = Host();
  {
    Program program(host.get());
    EXPECT_FALSE(program.Infer(program.Open(kMeasuredModel), {1}).empty());
    EXPECT_EQ(Read(host).at("wasinn_workers"), 1);
    EXPECT_TRUE(program.Infer(program.Open("in x f32 1\ndies compute\n"), {1}).empty());
    EXPECT_FALSE(program.Infer(program.Open(kMeasuredModel), {1}).empty());
    EXPECT_THAT(Read(host), IsSupersetOf<Samples::value_type>({{"wasinn_workers", 1},
                                                               {"wasinn_workers_started_total", 2},
                                                               {"wasinn_workers_lost_total", 1},
                                                               {"wasinn_workers_restarted_total", 1},
                                                               {Inferences("ok", R"(model="guest")"), 2},
                                                               {Inferences("lost", R"(model="guest")"), 1}}));
  }
  EXPECT_EQ(Read(host).at("wasinn_workers"), 0);
  EXPECT_EQ(Read(host).at("wasinn_workers_lost_total"), 1);
}

// ---- Spans

struct Span {
  std::string name, model;
  uint64_t start, end, thread, guest, inference;
  uint32_t code;
};

Result<Host> SpannedHost(std::function<void(const wasinn_span&)> on_span, bool listens = true) {
  Config config;
  EXPECT_TRUE(config.Set("backend_dirs", "['" + EchoFolder() + "']").ok());
  config.OnSpan(std::move(on_span));
  if (!listens) config.OnSpan(nullptr);
  Result<Host> host = Host::Create(config);
  EXPECT_TRUE(host) << host.status().message();
  AddEchoModel(host->get(), "m", kMeasuredModel);
  return host;
}

TEST(Spans, NameEachStepOfAnInferenceAndItsGuest) {
  std::mutex mutex;
  std::vector<Span> spans;
  const Result<Host> host = SpannedHost([&](const wasinn_span& span) {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(span.struct_size, sizeof(span));
    spans.push_back({span.name, span.model, span.start_ns, span.start_ns + span.duration_ns, span.thread, span.guest,
                     span.inference, span.code});
  });
  EchoProgram program(host->get());
  const uint32_t context = program.NewContext("m");
  for (int i = 0; i < 2; ++i) EXPECT_THAT(program.Infer(context, {1}), ElementsAre(1));
  std::vector<std::string> names;
  for (const Span& span : spans) names.push_back(span.name + " " + std::to_string(span.inference));
  EXPECT_THAT(names,
              ElementsAre("load 0", "compute_input 1", "queue 1", "compute_infer 1", "inference 1", "compute_output 1",
                          "compute_input 2", "queue 2", "compute_infer 2", "inference 2", "compute_output 2"));
  EXPECT_THAT(spans, Each(Field(&Span::model, "m")));
  EXPECT_THAT(spans, Each(Field(&Span::guest, 1u)));
  EXPECT_THAT(spans, Each(Field(&Span::code, WASINN_OK)));
  for (const Span& a : spans) {
    for (const Span& b : spans) {
      const bool apart = a.end <= b.start || b.end <= a.start;
      const bool inside = (a.start <= b.start && b.end <= a.end) || (b.start <= a.start && a.end <= b.end);
      EXPECT_TRUE(a.thread != b.thread || apart || inside) << a.name << " and " << b.name;
    }
  }
}

TEST(Spans, GoNowhereAfterAnEmptyFunction) {
  const Result<Host> host = SpannedHost([](const wasinn_span&) { ADD_FAILURE(); }, false);
  EchoProgram(host->get()).NewContext("m");
}

}  // namespace
}  // namespace wasinn::testing
