// Each allocation of each call of an inference fails once, and then all from each on: the guest gets an error, and
// nothing else is different.
#include <exception>

#include "faults/inference.h"
#include "support/own_process.h"
#include "unit/no_memory.h"

namespace wasinn::testing {
namespace {

struct Case {
  Course course;
  bool isolated;
};

// Two of the model "step".
void AddPipeline(wasinn_host* host) {
  const wasinn_tensor_name in[] = {{"x", "x"}, {"y", "y"}}, between[] = {{"x", "a"}, {"y", "b"}},
                           out[] = {{"x", "u"}, {"y", "v"}};
  const wasinn_step first{sizeof(wasinn_step), "step", in, 2, between, 2},
      second{sizeof(wasinn_step), "step", between, 2, out, 2};
  const wasinn_step* const steps[] = {&first, &second};
  wasinn_model_options options{};
  options.struct_size = sizeof(options);
  options.steps = steps;
  options.n_steps = 2;
  EXPECT_EQ(StatusPtr(wasinn_host_add_model(host, "named", &options)), nullptr);
}

void AddBatchedModel(wasinn_host* host, const char* directives) {
  const std::string text = EchoModel(directives);
  const wasinn_bytes bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  wasinn_batching batching{};
  batching.struct_size = sizeof(batching);
  batching.max_batch_size = 4;
  wasinn_model_options options{};
  options.struct_size = sizeof(options);
  options.builders = &bytes;
  options.n_builders = 1;
  options.batching = &batching;
  EXPECT_EQ(StatusPtr(wasinn_host_add_model(host, "named", &options)), nullptr);
}

class FailedAllocations : public ::testing::TestWithParam<Case> {
 protected:
  FailedAllocations() : host_(HostOfFaults(GetParam().isolated)) {
    const Course& course = GetParam().course;
    if (course.batched) {
      AddBatchedModel(host_.get(), course.model);
    } else if (course.named) {
      AddEchoModel(host_.get(), course.pipeline ? "step" : "named", course.model);
    }
    if (course.pipeline) AddPipeline(host_.get());
    guest_ = NewGuest(host_.get());
  }

  // One inference, in which the call of this step lacks memory. How many allocations failed.
  int Lack(size_t step, int allowed, int failures) const {
    const auto inference = Begin(GetParam().course, guest_.get());
    for (size_t i = 0; i < step; ++i) EXPECT_TRUE(inference->Do(i)) << inference->steps()[i].name;
    const Inference::Step& failing = inference->steps()[step];
    const wasinn_statistics before = StatsOf(guest_);
    failing.prepare();
    {
      const NoMemory scarce(allowed, failures);
      Call(failing);
    }
    const int failed = NoMemory::failed();
    if (!failing.settle()) {
      EXPECT_GT(failed, 0);
      const wasinn_statistics after = StatsOf(guest_);
      EXPECT_EQ(after.graphs, before.graphs);
      EXPECT_EQ(after.contexts, before.contexts);
      EXPECT_EQ(after.tensors, before.tensors);
      EXPECT_EQ(after.error_objects, before.error_objects);
      EXPECT_TRUE(inference->Do(step)) << "once more, with memory";
    }
    inference->DoFrom(step + 1);
    ExpectNothingHeld(guest_);
    return failed;
  }

  // How many points there were at which the call of this step could fail.
  int FailEach(size_t step, int failures) const {
    for (int allowed = 0;; ++allowed) {
      SCOPED_TRACE("allocation " + std::to_string(allowed + 1));
      (void)Lack(step, allowed, failures);
      const int64_t blocks = LiveBlocks();
      const size_t descriptors = CountDescriptors();
      const int failed = Lack(step, allowed, failures);  // what the first has left for good is there now
      EXPECT_EQ(LiveBlocks(), blocks);
      EXPECT_EQ(CountDescriptors(), descriptors);
      if (failed == 0 || HasFailure()) return allowed;
    }
  }

  HostPtr host_;
  GuestPtr guest_;

 private:
  // As an engine calls, which must not see anything thrown.
  static void Call(const Inference::Step& step) noexcept { step.call(); }
};

TEST_P(FailedAllocations, CostTheCallAnError) {
  Begin(GetParam().course, guest_.get())->DoFrom(0);
  const auto inference = Begin(GetParam().course, guest_.get());
  int points = 0;
  for (size_t step = 0; step < inference->steps().size() && !HasFailure(); ++step) {
    SCOPED_TRACE(inference->steps()[step].name);
    const int once = FailEach(step, 1);
    points += once + FailEach(step, INT_MAX);
    std::printf("%s: %d allocations\n", inference->steps()[step].name.c_str(), once);
  }
  RecordProperty("points", points);
  std::printf("%d points\n", points);
}

// With the worker's start.
TEST(FailedAllocation, OfAFirstLoad) {
  const HostPtr host = HostOfFaults(true);
  const Course course{.name = "first", .interface = Interface::kWitx, .model = "in x f32 -1\nin y f32 -1\n"};
  // Starts the template; from the second on a worker stands ready.
  for (int i = 0; i < 2; ++i) Begin(course, NewGuest(host.get()).get())->DoFrom(0);
  const size_t descriptors = CountDescriptors();
  int points = 0;
  for (const int failures : {1, INT_MAX}) {
    for (int allowed = 0, failed = 1; failed > 0 && !::testing::Test::HasFailure(); ++allowed, ++points) {
      const GuestPtr guest = NewGuest(host.get());
      const auto inference = Begin(course, guest.get());
      inference->steps()[0].prepare();
      {
        const NoMemory scarce(allowed, failures);
        inference->steps()[0].call();
        failed = NoMemory::failed();
      }
      if (!inference->steps()[0].settle()) {
        ExpectNothingHeld(guest);
        EXPECT_TRUE(inference->Do(0)) << allowed;
      }
      inference->DoFrom(1);
      ExpectNothingHeld(guest);
    }
  }
  EXPECT_EQ(CountDescriptors(), descriptors);
  std::printf("%d points\n", points);
}

// A pipeline whose model is there.
TEST(FailedAllocation, OfAPipelinesLoad) {
  int points = 0;
  for (const int failures : {1, INT_MAX}) {
    for (int allowed = 0, failed = 1; failed > 0 && !::testing::Test::HasFailure(); ++allowed, ++points) {
      const HostPtr host = HostOfFaults(false);
      AddEchoModel(host.get(), "step", "in x f32 3\nin y f32 2000\n");
      AddPipeline(host.get());
      const GuestPtr guest = NewGuest(host.get());
      FakeGuest calls(guest.get());
      uint32_t step = 0;
      ASSERT_EQ(calls.LoadByName("step", step), kSuccess);
      ASSERT_EQ(calls.Call("unload", {step}), kSuccess);
      const std::vector<uint64_t> args = {calls.Put("named"), 5, calls.Reserve(4)};
      uint32_t error = kSuccess;
      {
        const NoMemory scarce(allowed, failures);
        error = calls.Call("load_by_name", args);
        failed = NoMemory::failed();
      }
      if (error != kSuccess) {
        ExpectNothingHeld(guest);
        EXPECT_EQ(calls.Call("load_by_name", args), kSuccess) << allowed;
      }
    }
  }
  std::printf("%d points\n", points);
}

constexpr Course kCourses[] = {
    {.name = "Plain", .interface = Interface::kWitx, .model = "in x f32 -1\nin y f32 -1\nkeeps 100\nload_keeps 100\n"},
    {.name = "Late", .interface = Interface::kWitx, .model = "in x f32 -1\nin y f32 -1\nlate\n"},
    {.name = "Bindable", .interface = Interface::kWitx, .model = "in x f32 3 bindable\nin y f32 2000 bindable\n"},
    {.name = "Shared", .interface = Interface::kWitx, .model = "in x f32 3\nin y f32 2000\nshares\nturns 1\n"},
    {.name = "Named", .interface = Interface::kWitx, .model = "in x f32 3\nin y f32 2000\n", .named = true},
    {.name = "Pipeline",
     .interface = Interface::kWitx,
     .model = "in x f32 3\nin y f32 2000\n",
     .named = true,
     .pipeline = true},
    {.name = "PipelineOfBindable",
     .interface = Interface::kWitx,
     .model = "in x f32 3 bindable\nin y f32 2000 bindable\n",
     .named = true,
     .pipeline = true},
    {.name = "Batched",
     .interface = Interface::kWitx,
     .model = "in x f32 -1\nin y f32 -1\n",
     .named = true,
     .batched = true},
    {.name = "Generates",
     .interface = Interface::kWitx,
     .model = "in x f32 -1\nin y f32 -1\npieces 4\n",
     .generates = true},
    {.name = "Selected", .interface = Interface::kWitx, .model = "in x f32 -1\nin y f32 -1\n", .selects = true},
    {.name = "Component", .interface = Interface::kWit, .model = "in x f32 -1\nin y f32 -1\n", .selects = true},
    {.name = "ComponentGenerates",
     .interface = Interface::kWit,
     .model = "in x f32 -1\nin y f32 -1\npieces 4\n",
     .generates = true},
    {.name = "ComponentLate", .interface = Interface::kWit, .model = "in x f32 -1\nin y f32 -1\nlate\n"},
    {.name = "ComponentNamed", .interface = Interface::kWit, .model = "in x f32 3\nin y f32 2000\n", .named = true},
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Course& course : kCourses) {
    cases.push_back({course, false});
    if (!course.named) cases.push_back({course, true});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(, FailedAllocations, ::testing::ValuesIn(Cases()), [](const auto& one) {
  return std::string(one.param.course.name) + (one.param.isolated ? "Isolated" : "");
});

}  // namespace
}  // namespace wasinn::testing
