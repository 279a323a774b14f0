// Tasks of wasinn/wit.h: loads, computes and generations that go on while their guest does.
#include <wasinn/wit.h>

#include "api/objects.h"
#include "support/gate.h"
#include "support/own_process.h"
#include "unit/no_memory.h"
#include "unit/wit_guest.h"
#include "unit/wit_task.h"

namespace wasinn::testing {
namespace {

constexpr char kOne[] = "in x f32 1\n";

class WitTasks : public ::testing::Test {
 protected:
  WitTasks() { Open(""); }

  void Open(const std::string& settings) {
    program_.reset();
    guest_.reset();
    host_ = EchoHost(log_, "limits.compute_timeout_ms = 0\n" + settings);
    Add("one", kOne);
    Add("in_turn", std::string(kOne) + "turns 0\n");
    Add("waits", std::string(kOne) + "turns 0\n" + gate_.Compute());
    Add("waits_elsewhere", std::string(kOne) + "async later\n" + gate_.Compute());
    Add("speaks", "in prompt u8 -1 opaque\npieces 3\n");
    Become(NewGuest(host_.get()));
  }
  void Add(const char* model, const std::string& directives) { AddEchoModel(host_.get(), model, directives); }
  void Become(GuestPtr guest) {
    program_.reset();
    guest_ = std::move(guest);
    program_.emplace(guest_.get());
  }

  WitGuest::Named Seven() { return {{"x", program_->Floats({1}, {7}).rep}}; }
  WitGuest::Named Prompt(std::string_view text) {
    return {{"prompt", program_->Tensor({1}, kWitU8, {text.begin(), text.end()}).rep}};
  }
  void ExpectSeven(const Outcome& outcome) {
    ASSERT_TRUE(outcome.ok()) << outcome;
    ASSERT_EQ(outcome.outputs.size(), 1u);
    EXPECT_EQ(outcome.outputs[0].first, "x");
    EXPECT_EQ(program_->FloatData(outcome.outputs[0].second), std::vector<float>{7});
    EXPECT_EQ(program_->DropTensor(outcome.outputs[0].second), "");
  }
  void ExpectUsable(uint32_t context) { ExpectSeven(program_->Compute(context, Seven())); }
  void AwaitWaiting(size_t count) const {
    while (host_->host->scheduler().waiting() != count) std::this_thread::yield();
  }
  wasinn_guest* guest() const { return guest_.get(); }

  const Gate gate_;
  Log log_;
  HostPtr host_;
  GuestPtr guest_;
  std::optional<WitGuest> program_;
};

TEST_F(WitTasks, ReturnWhatDirectCallsReturn) {
  WitTask named(guest()), bytes(guest());
  EXPECT_EQ(named.LoadByName("one"), "");
  EXPECT_EQ(bytes.Load(EchoModel(kOne)), "");
  for (WitTask* load : {&named, &bytes}) {
    const Outcome graph = load->End();
    ASSERT_TRUE(graph.ok()) << graph;
    const Outcome context = program_->InitContext(graph.rep);
    WitTask compute(guest());
    EXPECT_EQ(compute.Compute(context.rep, Seven()), "");
    ExpectSeven(compute.End());
    EXPECT_EQ(program_->DropContext(context.rep), "");
    EXPECT_EQ(program_->DropGraph(graph.rep), "");
  }
  const wasinn_statistics stats = program_->stats();
  EXPECT_EQ(stats.graphs + stats.contexts + stats.tensors + stats.error_objects, 0u);
  EXPECT_EQ(stats.tensor_bytes, 0u);
  EXPECT_EQ(stats.computes, 2u);
}

TEST_F(WitTasks, FailuresAreResults) {
  const auto expect = [](Outcome outcome, uint32_t code, const std::string& words) {
    EXPECT_EQ(outcome.error, code) << outcome;
    EXPECT_THAT(outcome.message, HasSubstr(words));
  };
  const auto load = [&](std::string_view model, uint32_t encoding) {
    WitTask task(guest());
    EXPECT_EQ(task.Load(model, encoding), "");
    return task.End();
  };
  expect(load("nonsense", 6), kWitInvalidEncoding, "");
  expect(load(EchoModel(kOne), 99), kWitInvalidEncoding, "99 is not a graph-encoding");
  WitTask none(guest());
  EXPECT_EQ(none.LoadByName("none"), "");
  expect(none.End(), kWitNotFound, "none");
  const uint32_t context = program_->ContextOf("one");
  const auto compute = [&](uint32_t with, const WitGuest::Named& inputs) {
    WitTask task(guest());
    EXPECT_EQ(task.Compute(with, inputs), "");
    return task.End();
  };
  expect(compute(77, Seven()), kWitInvalidArgument, "0x4d is not a handle of a live context");
  expect(compute(context, {{"x", 77}}), kWitInvalidArgument, "0x4d is not a handle of a live tensor");
  expect(compute(context, {{"y", program_->Floats({1}, {7}).rep}}), kWitInvalidArgument, "y");
  expect(compute(context, {{"x", program_->Floats({2}, {7, 7}).rep}}), kWitInvalidArgument, "");
  expect(compute(context, {}), kWitInvalidArgument, "");
  WitTask steps(guest());
  EXPECT_EQ(steps.Generate(context, Seven()), "");
  EXPECT_THAT(steps.Piece(), HasSubstr("no pieces"));
  EXPECT_EQ(program_->stats().tensors, 0u);
  ExpectUsable(context);
}

TEST_F(WitTasks, AsManyOverlapAsThereAreTurns) {
  Open("max_computes = 16\nmax_guest_computes = 16\n");
  std::deque<WitTask> tasks;
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(tasks.emplace_back(guest()).Compute(program_->ContextOf("waits"), Seven()), "");
  while (host_->host->scheduler().running() != 16) std::this_thread::yield();
  for (const WitTask& task : tasks) EXPECT_FALSE(task.is_done());
  gate_.Open();
  for (WitTask& task : tasks) ExpectSeven(task.End());
}

TEST_F(WitTasks, ThoseThatWaitForTheirTurnHoldNoThread) {
  Open("max_computes = 1\n");
  std::deque<WitTask> tasks;
  EXPECT_EQ(tasks.emplace_back(guest()).Compute(program_->ContextOf("waits"), Seven()), "");
  gate_.Await();
  const int before = CountThreads();
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(tasks.emplace_back(guest()).Compute(program_->ContextOf("waits"), Seven()), "");
  AwaitWaiting(50);
  EXPECT_EQ(CountThreads(), before);
  EXPECT_EQ(program_->stats().inside, 0u) << "the guest goes on";
  gate_.Open();
  for (WitTask& task : tasks) ExpectSeven(task.End());
}

// How quick a compute is depends on the machine, so a test only sees that its results are the same.
TEST_F(WitTasks, QuickOnesMayBeDoneAtOnce) {
  const uint32_t context = program_->ContextOf("in_turn");
  for (int i = 0; i < 20; ++i) {
    WitTask task(guest());
    EXPECT_EQ(task.Compute(context, Seven(), true), "");
    ExpectSeven(task.End());
  }
}

TEST_F(WitTasks, ItsContextIsInUseUntilItsEnd) {
  for (const char* model : {"waits", "waits_elsewhere"}) {
    const uint32_t context = program_->ContextOf(model);
    WitTask task(guest()), second(guest());
    EXPECT_EQ(task.Compute(context, Seven()), "");
    gate_.Await();
    const Outcome direct = program_->Compute(context, Seven());
    EXPECT_EQ(direct.status, WASINN_ERROR_BUSY);
    EXPECT_THAT(direct.message, HasSubstr("a compute or a generation goes on in this context"));
    EXPECT_EQ(second.Compute(context, Seven()), "");
    EXPECT_EQ(second.End().status, WASINN_ERROR_BUSY);
    EXPECT_THAT(task.Take().trap, HasSubstr("the task goes on"));
    gate_.Open();
    task.Await();
    ExpectUsable(context);
    ExpectSeven(task.Take());
    gate_.Close();
  }
}

// ---- Cancels

TEST_F(WitTasks, AFreedComputeEndsSoonAndLeavesNothing) {
  Open("max_computes = 1\n");
  const uint32_t runs = program_->ContextOf("waits"), waits = program_->ContextOf("waits");
  WitTask running(guest()), waiting(guest());
  EXPECT_EQ(running.Compute(runs, Seven()), "");
  gate_.Await();
  EXPECT_EQ(waiting.Compute(waits, Seven()), "");
  AwaitWaiting(1);
  for (WitTask* task : {&waiting, &running}) {
    task->Free();
    task->Await();
  }
  EXPECT_EQ(program_->stats().tensors, 0u);
  EXPECT_EQ(program_->stats().error_objects, 0u);
  gate_.Open();
  ExpectUsable(runs);
  ExpectUsable(waits);
}

TEST_F(WitTasks, OneThatIsFreedAfterItsEndLeavesNothing) {
  WitTask load(guest()), compute(guest());
  EXPECT_EQ(load.Load(EchoModel(kOne)), "");
  load.Await();
  EXPECT_EQ(program_->stats().graphs, 1u);
  load.Free();
  EXPECT_EQ(program_->stats().graphs, 0u);
  const uint32_t context = program_->ContextOf("one");
  EXPECT_EQ(compute.Compute(context, Seven()), "");
  compute.Await();
  EXPECT_EQ(program_->stats().tensors, 0u) << "they are held when they are taken";
  compute.Free();
  EXPECT_EQ(program_->DropContext(context), "");
  EXPECT_EQ(program_->stats().tensor_bytes, 0u);
}

TEST_F(WitTasks, AFreedLoadEndsAndItsGraphIsDropped) {
  WitTask load(guest());
  EXPECT_EQ(load.Load(EchoModel(kOne + gate_.Load())), "");
  gate_.Await();
  EXPECT_EQ(program_->stats().graphs, 1u) << "it counts from its beginning";
  load.Free();
  EXPECT_FALSE(load.is_done());
  gate_.Open();
  load.Await();
  EXPECT_EQ(program_->stats().graphs, 0u);
  EXPECT_EQ(program_->stats().model_bytes, 0u);
}

// ---- Generations

TEST_F(WitTasks, AGenerationMakesAPieceForEachStep) {
  const uint32_t context = program_->ContextOf("speaks");
  WitTask task(guest());
  EXPECT_EQ(task.Generate(context, Prompt("abcdefgh")), "");
  EXPECT_EQ(program_->Compute(context, Prompt("x")).status, WASINN_ERROR_BUSY);
  std::vector<std::string> pieces;
  do pieces.push_back(task.Piece());
  while (!pieces.back().empty());
  EXPECT_THAT(pieces, ElementsAre("prompt=abc", "prompt=def", "prompt=gh", ""));
  EXPECT_EQ(task.Piece(), "") << "and it stays so";
  EXPECT_EQ(program_->stats().tensors, 0u);
  EXPECT_EQ(program_->stats().tensor_bytes, 0u);
  WitTask again(guest());
  EXPECT_EQ(again.Generate(context, Prompt("12")), "") << "the context is free";
  EXPECT_EQ(again.Piece(), "prompt=12");
}

TEST_F(WitTasks, AGenerationEndsInAnError) {
  Add("narrow", "in prompt u8 -1 opaque\npieces 3\nroom 3\n");
  WitTask task(guest());
  const uint32_t context = program_->ContextOf("narrow");
  EXPECT_EQ(task.Generate(context, Prompt("abcdef")), "");
  EXPECT_EQ(task.Piece(), "prompt=abc");
  EXPECT_THAT(task.Piece(), HasSubstr("no room is left"));
  EXPECT_EQ(task.Piece(), "") << "it is over";
  WitTask again(guest());
  EXPECT_EQ(again.Generate(context, Prompt("ab")), "") << "the context is free";
  EXPECT_EQ(again.Piece(), "prompt=ab");
}

TEST_F(WitTasks, AFreedGenerationEndsBetweenStepsAndDuringOne) {
  Add("stops", "in prompt u8 -1 opaque\npieces 1\ngated 98\n" + gate_.Compute());
  const uint32_t context = program_->ContextOf("stops");
  {
    WitTask between(guest());
    EXPECT_EQ(between.Generate(context, Prompt("ab")), "");
    EXPECT_EQ(between.Piece(), "prompt=a");
  }
  WitTask during(guest());
  EXPECT_EQ(during.Generate(context, Prompt("b")), "") << "the context is free";
  EXPECT_EQ(during.Step(), "");
  gate_.Await();
  during.Free();
  during.Await();
  EXPECT_EQ(program_->stats().tensors, 0u);
  EXPECT_EQ(program_->stats().tensor_bytes, 0u);
  WitTask again(guest());
  EXPECT_EQ(again.Generate(context, Prompt("a")), "") << "the context is free";
  EXPECT_EQ(again.Piece(), "prompt=a");
}

TEST_F(WitTasks, AGenerationWhoseContextIsDroppedEndsInAnError) {
  const uint32_t context = program_->ContextOf("speaks");
  WitTask task(guest());
  EXPECT_EQ(task.Generate(context, Prompt("abcdef")), "");
  EXPECT_EQ(task.Piece(), "prompt=abc");
  EXPECT_EQ(program_->DropContext(context), "");
  EXPECT_THAT(task.Piece(), HasSubstr("its context or guest was closed"));
  EXPECT_EQ(program_->stats().contexts, 0u);
}

// ---- Limits

TEST_F(WitTasks, LoadsThatGoOnCountAsGraphs) {
  Become(NewGuest(host_.get(), &wasinn_limits::max_graphs, 2));
  std::deque<WitTask> loads;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(loads.emplace_back(guest()).Load(EchoModel(kOne + gate_.Load())), "");
  EXPECT_EQ(loads[2].End().error, kWitTooLarge);
  gate_.Open();
  EXPECT_TRUE(loads[0].End().ok());
  EXPECT_TRUE(loads[1].End().ok());
}

TEST_F(WitTasks, TensorsThatAComputeUsesAreHeld) {
  Become(NewGuest(host_.get(), &wasinn_limits::max_tensors, 1));
  const uint32_t context = program_->ContextOf("waits");
  WitTask task(guest());
  EXPECT_EQ(task.Compute(context, Seven()), "");
  gate_.Await();
  EXPECT_THAT(program_->Floats({1}, {1}).trap, HasSubstr("limits.max_tensors"));
  gate_.Open();
  task.Await();
  const Outcome other = program_->Floats({1}, {1});
  EXPECT_EQ(task.Take().error, kWitTooLarge) << "its output has no place";
  task.Free();
  EXPECT_EQ(program_->DropTensor(other.rep), "");
  EXPECT_EQ(program_->DropContext(context), "");
  EXPECT_EQ(program_->stats().tensor_bytes, 0u);
}

TEST_F(WitTasks, ThousandsWaitAtOnce) {
  constexpr uint32_t kMany = 2'000;
  Open("max_computes = 2\n");
  Become(NewGuest(host_.get(), [](wasinn_limits& limits) {
    limits.max_contexts = kMany;
    limits.max_tensors = kMany;
  }));
  const uint32_t graph = program_->LoadByName("waits").rep;
  std::deque<WitTask> tasks;
  for (uint32_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(tasks.emplace_back(guest()).Compute(program_->InitContext(graph).rep, Seven()), "");
  }
  for (uint32_t i = 0; i < kMany / 2; ++i) tasks[i].Free();
  gate_.Open();
  for (uint32_t i = 0; i < kMany / 2; ++i) tasks[i].Await();
  for (uint32_t i = kMany / 2; i < kMany; ++i) ExpectSeven(tasks[i].End());
  EXPECT_EQ(program_->stats().tensors, 0u);
}

// ---- The guest's end

TEST_F(WitTasks, AllEndWithTheirGuest) {
  Open("max_computes = 1\n");
  Add("stops", "in prompt u8 -1 opaque\npieces 1\ngated 98\n" + gate_.Compute());
  WitTask runs(guest()), waits(guest()), done(guest()), load(guest()), speaks(guest()), speaks_now(guest());
  EXPECT_EQ(load.LoadByName("one"), "");
  load.Await();
  EXPECT_EQ(done.Compute(program_->ContextOf("one"), Seven()), "");
  done.Await();
  EXPECT_EQ(speaks.Generate(program_->ContextOf("speaks"), Prompt("abcdef")), "");
  EXPECT_EQ(speaks.Piece(), "prompt=abc");
  EXPECT_EQ(runs.Compute(program_->ContextOf("waits"), Seven()), "");
  gate_.Await();
  EXPECT_EQ(waits.Compute(program_->ContextOf("waits"), Seven()), "");
  EXPECT_EQ(speaks_now.Generate(program_->ContextOf("stops"), Prompt("b")), "");
  EXPECT_EQ(speaks_now.Step(), "");
  wasinn_guest_close(guest());
  for (WitTask* task : {&runs, &waits, &done, &load, &speaks, &speaks_now}) {
    EXPECT_TRUE(task->is_done());
    EXPECT_THAT(task->Take().trap, HasSubstr("the guest is closed"));
  }
  const wasinn_statistics stats = program_->stats();
  EXPECT_EQ(stats.graphs + stats.contexts + stats.tensors + stats.error_objects, 0u);
  EXPECT_EQ(stats.tensor_bytes, 0u);
  EXPECT_THAT(speaks.Step(), HasSubstr("the guest is closed"));
  guest_.reset();  // before the tasks are freed
  host_.reset();
}

TEST_F(WitTasks, EndOnceIfTheirGuestEndsAsTheyBeginOrAreFreed) {
  for (int round = 0; round < 60; ++round) {
    Become(NewGuest(host_.get()));
    const std::vector<uint32_t> contexts = {program_->ContextOf("one"), program_->ContextOf("in_turn")};
    std::atomic<int> begun{0};
    std::vector<std::jthread> threads;
    for (const uint32_t context : contexts) {
      threads.emplace_back([this, &begun, context] {
        for (bool refused = false; !refused; ++begun) {
          WitTask task(guest());
          refused = !task.Compute(context, Seven(), begun % 3 == 0).empty();
          if (!refused && begun % 2 == 0) task.Await();
        }
      });
    }
    while (begun < 10) std::this_thread::yield();
    wasinn_guest_close(guest());
  }
}

TEST_F(WitTasks, WithoutMemoryEachIsRefusedOrFails) {
  const uint32_t context = program_->ContextOf("in_turn"), speaks = program_->ContextOf("speaks");
  const auto load = [&](WitTask& task) { return task.LoadByName("one"); };
  const auto compute = [&](WitTask& task) { return task.Compute(context, {}); };
  const auto generate = [&](WitTask& task) { return task.Generate(speaks, {}); };
  for (const std::function<std::string(WitTask&)>& begin :
       std::vector<std::function<std::string(WitTask&)>>{load, compute, generate}) {
    for (int allowed = 0, failed = 1; failed > 0; ++allowed) {
      WitTask task(guest());
      const NoMemory scarce(allowed, INT_MAX);
      try {
        if (begin(task).empty() && task.report()->count >= 0) task.Free();
      } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the test's own
      }
      failed = NoMemory::failed();
    }
  }
  ExpectUsable(context);
  EXPECT_EQ(program_->stats().tensors, 0u);
}

}  // namespace
}  // namespace wasinn::testing
