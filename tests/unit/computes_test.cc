// Computes that a guest begins, and whose ends it gets later: compute_begin, compute_poll, compute_wait, compute_cancel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/gate.h"
#include "unit/begun_calls.h"
#include "unit/forked.h"
#include "unit/movable_memory.h"
#include "unit/no_memory.h"
#include "unit/pipeline_host.h"
#include "unit/turned_host.h"

namespace wasinn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kForEver = UINT32_MAX;
constexpr char kHostsTurns[] = "turns 0\n";

struct Program : BegunProgram {
  using BegunProgram::BegunProgram;
  uint32_t Begin(uint32_t context) { return Call("wasinn_ext_0.compute_begin", {context}); }
  uint32_t Poll(uint32_t context) { return Call("wasinn_ext_0.compute_poll", {context}); }
  uint32_t Cancel(uint32_t context) { return Call("wasinn_ext_0.compute_cancel", {context}); }
  uint32_t Wait(const std::vector<uint32_t>& contexts, uint32_t ms, uint32_t* index) {
    const uint32_t list = PutAll(contexts), out = Reserve(4);
    const uint32_t error = Call("wasinn_ext_0.compute_wait", {list, contexts.size(), ms, out});
    *index = Read<uint32_t>(out);
    return error;
  }
  // The end of one.
  uint32_t Await(uint32_t context) {
    uint32_t index = 7;
    EXPECT_EQ(Wait({context}, kForEver, &index), kSuccess) << LastError();
    EXPECT_EQ(index, 0u);
    return Poll(context);
  }
};

class Computes : public PipelineTest {
 protected:
  Computes() {
    // Pipelines take no turns, and have no function that needs no thread.
    Model("step", "in x f32 1\n" + gate_.Compute());
    Pipeline("needs_no_turn", "{model_name = 'step', input_map = {x = 'x'}, output_map = {x = 'x_out'}}");
    Open("max_computes = 2\n");
  }
  void Open(const std::string& settings) {
    host_ = Host("call_threads = 1\nlimits.compute_timeout_ms = 0\n" + settings);
    AddModels();
  }
  void AddModels() {
    Add("at_once", "");
    Add("in_turn", kHostsTurns);
    Add("waits", kHostsTurns + gate_.Compute());
    Add("waits_alone", "turns 1\n" + gate_.Compute());
    Add("waits_elsewhere", "async later\n" + gate_.Compute());
  }
  void Add(const char* model, const std::string& lines) { AddEchoModel(host_.get(), model, "in x f32 1\n" + lines); }
  const core::Scheduler& scheduler() const { return host_->host->scheduler(); }
  void AwaitWaiting(size_t count) const {
    while (scheduler().waiting() != count) std::this_thread::yield();
  }

  const Gate gate_;
  HostPtr host_;
};

size_t Threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

// ---- Overlap, and turns

TEST_F(Computes, AsManyOverlapAsThereAreTurns) {
  Open("max_computes = 16\nmax_guest_computes = 16\n");
  Program program(host_.get());
  std::vector<uint32_t> contexts;
  for (int i = 0; i < 16; ++i) {
    contexts.push_back(program.NewContext("waits"));
    EXPECT_EQ(program.Begin(contexts.back()), kSuccess);
  }
  while (scheduler().running() != 16) std::this_thread::yield();
  for (const uint32_t context : contexts) EXPECT_EQ(program.Poll(context), kBusy);
  gate_.Open();
  for (const uint32_t context : contexts) {
    EXPECT_EQ(program.Await(context), kSuccess);
    EXPECT_EQ(program.Output(context), 7);
  }
  EXPECT_EQ(program.Stats().computes, 16u);
}

TEST_F(Computes, ThoseThatWaitForTheirTurnHoldNoThread) {
  for (const char* model : {"waits", "waits_alone", "waits_elsewhere"}) {
    Program program(host_.get());
    std::vector<uint32_t> contexts;
    for (int i = 0; i < 50; ++i) contexts.push_back(program.NewContext(model));
    EXPECT_EQ(program.Begin(contexts[0]), kSuccess);
    gate_.Await();
    const size_t before = Threads();
    for (int i = 1; i < 50; ++i) EXPECT_EQ(program.Begin(contexts[i]), kSuccess);
    const size_t of_backend = model == std::string_view("waits_elsewhere") ? 49 : 0;
    EXPECT_EQ(Threads(), before + of_backend) << model;
    gate_.Open();
    for (const uint32_t context : contexts) EXPECT_EQ(program.Await(context), kSuccess);
    gate_.Close();
  }
}

TEST_F(Computes, AGuestThatBeginsManyStarvesNoOther) {
  Open("max_computes = 1\n");
  const TestFolder folder;
  // The holder's input has the byte that lets it wait at the gate. A line for each compute has the shape of its input.
  AddEchoModel(host_.get(), "recorded",
               "in x u8 -1\ngated 2\nrecords " + (folder / "order") + "\n" + kHostsTurns + gate_.Compute());
  Program holder(host_.get()), greedy(host_.get()), modest(host_.get());
  const auto new_context = [](Program& program, const std::vector<uint8_t>& values) {
    const uint32_t context = program.EchoProgram::NewContext("recorded");
    EXPECT_EQ(program.Set(context, values), kSuccess);
    return context;
  };
  const uint32_t held = new_context(holder, {2, 2, 2}), last = new_context(modest, {1, 1});
  std::vector<uint32_t> many;
  for (int i = 0; i < 5; ++i) many.push_back(new_context(greedy, {1}));
  EXPECT_EQ(holder.Begin(held), kSuccess);
  gate_.Await();
  for (const uint32_t context : many) EXPECT_EQ(greedy.Begin(context), kSuccess);
  EXPECT_EQ(modest.Begin(last), kSuccess);
  EXPECT_EQ(scheduler().waiting(), 6u);
  gate_.Open();
  EXPECT_EQ(modest.Await(last), kSuccess);
  for (const uint32_t context : many) EXPECT_EQ(greedy.Await(context), kSuccess);
  EXPECT_EQ(holder.Await(held), kSuccess);
  std::ifstream file(folder / "order");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_NE(lines[1], lines[2]) << "the second one that waited is the other guest's";
  EXPECT_EQ(std::count(lines.begin(), lines.end(), lines[1]), 5);
}

// Turns of a model and of the host, of steps and of whole computes: whatever waits for another one, all end.
class ComputesOfPipelines : public PipelineTest {};
TEST_F(ComputesOfPipelines, NeverWaitForEachOther) {
  Chain("chain", {"turns 1\n", "turns 0\n", "turns 1\n"});
  const HostPtr host = Host("max_computes = 1\ncall_threads = 1\n");
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<uint32_t> contexts;
  for (int i = 0; i < 3; ++i) {
    programs.push_back(std::make_unique<Program>(host.get()));
    for (const char* model : {"chain", "m1", "chain", "m2", "m3", "chain", "m1"}) {
      contexts.push_back(programs.back()->EchoProgram::NewContext(model));
      EXPECT_EQ(programs.back()->Set<uint8_t>(contexts.back(), {1, 2, 3, 4}), kSuccess);
    }
  }
  const size_t of_each = contexts.size() / programs.size();
  for (int round = 0; round < 20; ++round) {
    for (size_t i = 0; i < contexts.size(); ++i) EXPECT_EQ(programs[i / of_each]->Begin(contexts[i]), kSuccess);
    for (size_t i = 0; i < contexts.size(); ++i) {
      EXPECT_EQ(programs[i / of_each]->Await(contexts[i]), kSuccess);
      programs[i / of_each]->Rewind();
    }
  }
}

// Such as a language model's: no more than max_computes at once have a thread.
TEST_F(Computes, ThoseWithoutTurnsWaitForOnesOfTheHost) {
  Open("max_computes = 2\nmax_guest_computes = 2\n");
  Program program(host_.get());
  std::vector<uint32_t> contexts;
  for (int i = 0; i < 10; ++i) contexts.push_back(program.NewContext("needs_no_turn"));
  for (const uint32_t context : contexts) EXPECT_EQ(program.Begin(context), kSuccess);
  gate_.Await();
  const uint32_t in_turn = program.NewContext("in_turn");
  EXPECT_EQ(program.Begin(in_turn), kSuccess);
  EXPECT_EQ(program.Await(in_turn), kSuccess) << "it does not wait for them";
  gate_.Open();
  for (const uint32_t context : contexts) EXPECT_EQ(program.Await(context), kSuccess);
}

// ---- The context, and the end

TEST_F(Computes, ItsContextIsBusyUntilItsEndIsPolled) {
  Program program(host_.get());
  for (const char* model : {"waits", "waits_alone", "waits_elsewhere", "needs_no_turn"}) {
    const uint32_t context = program.NewContext(model);
    EXPECT_EQ(program.Begin(context), kSuccess);
    gate_.Await();
    const auto expect_busy = [&] {
      EXPECT_EQ(program.Set(context, {8}), kBusy);
      EXPECT_EQ(program.FakeGuest::Compute(context), kBusy);
      EXPECT_EQ(program.Begin(context), kBusy);
      EXPECT_EQ(program.LastError(),
                "compute_begin: busy: a compute has begun on this context: compute_poll returns its end");
    };
    expect_busy();
    EXPECT_EQ(program.Stats().inside, 0u) << "no call is";
    gate_.Open();
    uint32_t index = 7;
    EXPECT_EQ(program.Wait({context}, kForEver, &index), kSuccess);
    expect_busy();
    EXPECT_EQ(program.Poll(context), kSuccess);
    EXPECT_EQ(program.Output(context), 7);
    EXPECT_EQ(program.Poll(context), kInvalidArgument) << "once";
    EXPECT_THAT(program.LastError(), HasSubstr("no compute has begun on context"));
    EXPECT_EQ(program.FakeGuest::Compute(context), kSuccess);
    gate_.Close();
  }
}

TEST_F(Computes, ThatGoOnAreNoError) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("waits");
  EXPECT_EQ(program.Begin(context), kSuccess);
  uint32_t index = 7;
  EXPECT_EQ(program.Poll(context), kBusy);
  EXPECT_EQ(program.Wait({context}, 0, &index), kBusy);
  EXPECT_EQ(program.LastError(), "");
  EXPECT_EQ(program.Stats().errors, 0u);
  gate_.Open();
  EXPECT_EQ(program.Await(context), kSuccess);
}

TEST_F(Computes, FailAsAComputeDoes) {
  Add("fails", kHostsTurns + ("fail " + std::to_string(WASINN_ERROR_TOO_LARGE) + "\n"));
  Add("is_busy", "fail " + std::to_string(WASINN_ERROR_BUSY) + "\n");
  Program program(host_.get());
  const uint32_t fails = program.NewContext("fails"), is_busy = program.NewContext("is_busy");
  EXPECT_EQ(program.Begin(fails), kSuccess);
  EXPECT_EQ(program.Await(fails), kTooLarge);
  EXPECT_TRUE(log_.Contains("compute_poll: too_large: echo: compute fails as the model says"));
  EXPECT_EQ(program.Begin(is_busy), kSuccess);
  EXPECT_EQ(program.Await(is_busy), kRuntimeError) << "busy would mean that it goes on";
  uint32_t graph = 0, no_input = 0;
  ASSERT_EQ(program.LoadByName("in_turn", graph), kSuccess);
  ASSERT_EQ(program.InitContext(graph, no_input), kSuccess);
  EXPECT_EQ(program.Begin(no_input), kSuccess);
  EXPECT_EQ(program.Await(no_input), kInvalidArgument);
  EXPECT_EQ(program.Set(no_input, {3}), kSuccess);
  EXPECT_EQ(program.Begin(no_input), kSuccess);
  EXPECT_EQ(program.Await(no_input), kSuccess);
}

// The memory may move while it computes.
TEST_F(Computes, OutputsAreWrittenByPoll) {
  const GuestPtr guest = NewGuest(host_.get());
  Program loader(host_.get());
  MovableMemory memory(guest.get(), 4096);
  memory.Write<char>(256, {'w', 'a', 'i', 't', 's'});
  ASSERT_EQ(memory.Call("load_by_name", {256, 5, 300}), kSuccess);
  ASSERT_EQ(memory.Call("init_execution_context", {memory.Read<uint32_t>(300, 1)[0], 300}), kSuccess);
  const uint32_t context = memory.Read<uint32_t>(300, 1)[0];
  memory.Write<float>(MovableMemory::kData, {7});
  ASSERT_EQ(memory.SetFloats(context, MovableMemory::kData, 1), kSuccess);
  ASSERT_EQ(memory.Call("wasinn_ext_0.set_output", {context, 0, 5000, 4, 400}), kInvalidArgument);
  memory.Move(8192);
  ASSERT_EQ(memory.Call("wasinn_ext_0.set_output", {context, 0, 5000, 4, 400}), kSuccess);
  for (const bool fits : {true, false}) {
    ASSERT_EQ(memory.Call("wasinn_ext_0.compute_begin", {context}), kSuccess);
    gate_.Await();
    memory.Move(fits ? 16384 : 4096);
    gate_.Open();
    memory.Write<uint32_t>(304, {context});
    ASSERT_EQ(memory.Call("wasinn_ext_0.compute_wait", {304, 1, kForEver, 308}), kSuccess);
    if (fits) {
      EXPECT_EQ(memory.Read<float>(5000, 1)[0], 0);
    }
    EXPECT_EQ(memory.Call("wasinn_ext_0.compute_poll", {context}), fits ? kSuccess : kInvalidArgument);
    if (fits) {
      EXPECT_EQ(memory.Read<float>(5000, 1)[0], 7);
    }
    gate_.Close();
  }
  EXPECT_EQ(memory.GetOutput(context, 4), kSuccess) << "the output is there nevertheless";
}

TEST_F(Computes, HaveTheDeadlineOfAComputeAlsoWhileTheyWait) {
  Open("max_computes = 1\n");
  Program holder(host_.get()), program(NewGuest(host_.get(), &wasinn_limits::compute_timeout_ms, 50));
  // A model that computes nothing would have a turn at once.
  const uint32_t held = holder.NewContext("waits"), waits = program.NewContext("waits"),
                 alone = program.NewContext("needs_no_turn");
  EXPECT_EQ(program.Begin(alone), kSuccess);
  EXPECT_EQ(program.Await(alone), kRuntimeError);
  EXPECT_THAT(program.LastError(), HasSubstr("the compute was stopped after 50 ms: "));
  EXPECT_EQ(holder.Begin(held), kSuccess);
  gate_.Await();
  EXPECT_EQ(program.Begin(waits), kSuccess);
  EXPECT_EQ(program.Await(waits), kRuntimeError);
  EXPECT_THAT(program.LastError(),
              HasSubstr("the compute was stopped after 50 ms: it was still waiting: no more than 1 "
                        "computes run at once (max_computes)"));
  gate_.Open();
  EXPECT_EQ(holder.Await(held), kSuccess);
}

TEST_F(Computes, EndSoonIfTheyAreCancelled) {
  Open("max_computes = 1\n");
  Program holder(host_.get()), program(host_.get());
  const uint32_t held = holder.NewContext("waits"), runs = program.NewContext("needs_no_turn"),
                 waits = program.NewContext("waits");
  EXPECT_EQ(holder.Begin(held), kSuccess);
  gate_.Await();
  for (const uint32_t context : {runs, waits}) {
    EXPECT_EQ(program.Begin(context), kSuccess);
    EXPECT_EQ(program.Cancel(context), kSuccess);
    EXPECT_EQ(program.Await(context), kRuntimeError);
    EXPECT_THAT(program.LastError(), HasSubstr("compute_poll: timeout: the compute was cancelled: "));
    EXPECT_EQ(program.Cancel(context), kInvalidArgument);
  }
  gate_.Open();
  EXPECT_EQ(holder.Await(held), kSuccess);
  for (const uint32_t context : {runs, waits}) {
    EXPECT_EQ(program.Begin(context), kSuccess) << "the context can be used again";
    EXPECT_EQ(program.Await(context), kSuccess);
    EXPECT_EQ(program.Output(context), 7);
  }
  EXPECT_EQ(program.Begin(runs), kSuccess);
  uint32_t index = 7;
  EXPECT_EQ(program.Wait({runs}, kForEver, &index), kSuccess);
  EXPECT_EQ(program.Cancel(runs), kSuccess) << "too late";
  EXPECT_EQ(program.Poll(runs), kSuccess);
}

// ---- Waits

TEST_F(Computes, AWaitHasTheIndexOfOneThatHasEnded) {
  Program program(host_.get());
  const uint32_t waits = program.NewContext("waits"), ends = program.NewContext("in_turn");
  EXPECT_EQ(program.Begin(waits), kSuccess);
  gate_.Await();
  EXPECT_EQ(program.Begin(ends), kSuccess);
  uint32_t index = 7;
  EXPECT_EQ(program.Wait({waits, ends}, kForEver, &index), kSuccess);
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(program.Wait({ends, waits}, 0, &index), kSuccess) << "again, until it is polled";
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(program.Poll(ends), kSuccess);
  gate_.Open();
  EXPECT_EQ(program.Await(waits), kSuccess);
}

TEST_F(Computes, AWaitEndsInTime) {
  core::Clock::Hands hands;
  host_ = TurnedHost(hands, log_, "limits.compute_timeout_ms = 0\n");
  AddModels();
  Program program(host_.get());
  const uint32_t context = program.NewContext("waits");
  EXPECT_EQ(program.Begin(context), kSuccess);
  auto waits = std::async(std::launch::async, [&] {
    uint32_t index = 7;
    return program.Wait({context}, 5000, &index);
  });
  Turn(hands, host_, std::chrono::milliseconds(4000));
  Turn(hands, host_, std::chrono::milliseconds(0));
  EXPECT_EQ(waits.wait_for(std::chrono::milliseconds(0)), std::future_status::timeout);
  EXPECT_EQ(TurnUntilDone(hands, waits), kBusy);
  gate_.Open();
  EXPECT_EQ(program.Await(context), kSuccess);
}

TEST_F(Computes, AWaitForWhatIsNotThereIsRefused) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("waits"), idle = program.NewContext("waits");
  EXPECT_EQ(program.Begin(context), kSuccess);
  uint32_t index = 7;
  const auto refused = [&](const std::vector<uint32_t>& contexts) {
    EXPECT_EQ(program.Wait(contexts, kForEver, &index), kInvalidArgument);
    return program.LastError();
  };
  EXPECT_THAT(refused({context, idle}), HasSubstr("no compute has begun on context"));
  EXPECT_THAT(refused({context, context}), HasSubstr("is given twice"));
  EXPECT_THAT(refused({context, 77}), HasSubstr("0x4d is not a handle of a live context"));
  EXPECT_THAT(refused({}), HasSubstr("a wait for no compute would never end"));
  EXPECT_THAT(refused(std::vector<uint32_t>(257, context)), HasSubstr("is over the limit of 256"));
  const auto end = static_cast<uint32_t>(program.memory().size());
  const uint32_t list = program.PutAll(std::vector<uint32_t>{context});
  for (const auto& [at, count, out] : std::vector<std::array<uint32_t, 3>>{
           {end - 3, 1, list}, {list, UINT32_MAX, list}, {UINT32_MAX, 1, list}, {list, 1, end - 3}}) {
    EXPECT_EQ(program.Call("wasinn_ext_0.compute_wait", {at, count, kForEver, out}), kInvalidArgument);
  }
  for (const char* function : {"begin", "poll", "cancel"}) {
    EXPECT_EQ(program.Call(std::string("wasinn_ext_0.compute_") + function, {77}), kInvalidArgument);
    EXPECT_THAT(program.LastError(), HasSubstr("0x4d is not a handle of a live context"));
  }
  gate_.Open();
  EXPECT_EQ(program.Await(context), kSuccess) << "nothing of that waits for it any more";
}

// One thread of the guest waits for it, others do what they like.
TEST_F(Computes, OneThreadWaitsForEach) {
  Program program(host_.get());
  FakeGuest other(program.guest.get());
  std::atomic<bool> is_gone{false};
  const auto wait = [&is_gone](FakeGuest& thread, uint32_t context) {
    const uint32_t list = thread.PutAll(std::vector<uint32_t>{context}), out = thread.Reserve(4);
    for (;;) {  // the other thread may wait at this moment
      const uint32_t error = thread.Call("wasinn_ext_0.compute_wait", {list, 1, kForEver, out});
      if (error != kInvalidArgument || is_gone) return error;
    }
  };
  const uint32_t context = program.NewContext("waits");
  EXPECT_EQ(program.Begin(context), kSuccess);
  gate_.Await();
  auto waits = std::async(std::launch::async, [&] { return wait(other, context); });
  while (program.Stats().inside == 0) std::this_thread::yield();
  uint32_t index = 7;
  while (program.Wait({context}, 0, &index) != kInvalidArgument) program.Rewind();  // the other thread may come later
  EXPECT_THAT(program.LastError(), HasSubstr("another thread waits for context"));
  is_gone = true;
  EXPECT_EQ(program.Finalize(context), kSuccess);
  EXPECT_EQ(waits.get(), kInvalidArgument) << "its context is gone";
  EXPECT_EQ(program.Poll(context), kInvalidArgument);
}

TEST_F(Computes, AWaitEndsWithItsGuest) {
  Add("deaf", kHostsTurns + ("deaf\n" + gate_.Compute()));
  Program program(host_.get());
  const uint32_t context = program.NewContext("deaf");
  EXPECT_EQ(program.Begin(context), kSuccess);
  gate_.Await();
  auto waits = std::async(std::launch::async, [&] {
    uint32_t index = 7;
    return program.Wait({context}, kForEver, &index);
  });
  while (program.Stats().inside == 0) std::this_thread::yield();
  wasinn_guest_stop(program.guest.get());
  EXPECT_EQ(waits.get(), kRuntimeError) << "its compute goes on";
  gate_.Open();
}

// ---- Guests that another engine's event loop runs

TEST_F(Computes, AWaitNeedsNoThreadIfItsEngineCanSetItAside) {
  constexpr int kMany = 30;
  Open("max_computes = 2\n");
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<uint32_t> contexts, outs;
  std::vector<std::unique_ptr<Begun>> waits;
  for (int i = 0; i < kMany; ++i) {
    programs.push_back(std::make_unique<Program>(host_.get()));
    Program& program = *programs.back();
    contexts.push_back(program.NewContext("waits"));
    Begun begin(program.guest.get(), program, "wasinn_ext_0.compute_begin", {contexts.back()});
    begin.Begin();
    EXPECT_EQ(begin.Await(), kSuccess);
    const uint32_t list = program.PutAll(std::vector<uint32_t>{contexts.back()});
    outs.push_back(program.PutAll(std::vector<uint32_t>{7}));
    waits.push_back(std::make_unique<Begun>(program.guest.get(), program, "wasinn_ext_0.compute_wait",
                                            std::vector<uint32_t>{list, 1, kForEver, outs.back()}));
    waits.back()->Begin();
  }
  Program other(host_.get());
  const auto compute = other.BegunProgram::Compute(other.NewContext("at_once"));
  compute->Begin();
  EXPECT_EQ(compute->Await(), kSuccess) << "the thread is free";
  for (const auto& wait : waits) EXPECT_FALSE(wait->is_done());
  gate_.Open();
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(waits[static_cast<size_t>(i)]->Await(), kSuccess);
    Program& program = *programs[static_cast<size_t>(i)];
    EXPECT_EQ(program.Read<uint32_t>(outs[static_cast<size_t>(i)]), 0u);
    Begun poll(program.guest.get(), program, "wasinn_ext_0.compute_poll", {contexts[static_cast<size_t>(i)]});
    poll.Begin();
    EXPECT_EQ(poll.Await(), kSuccess);
    EXPECT_EQ(program.Output(contexts[static_cast<size_t>(i)]), 7);
  }
}

TEST_F(Computes, SuchAWaitIsRefusedAndEndsAsAnyOther) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("waits"), list = program.PutAll(std::vector<uint32_t>{context}),
                 out = program.Reserve(4);
  const auto call = [&](uint32_t ms) {
    auto begun = std::make_unique<Begun>(program.guest.get(), program, "wasinn_ext_0.compute_wait",
                                         std::vector<uint32_t>{list, 1, ms, out});
    begun->Begin();
    return begun;
  };
  EXPECT_EQ(call(kForEver)->Await(), kInvalidArgument);
  EXPECT_THAT(program.LastError(), HasSubstr("compute_wait: invalid_argument: no compute has begun on context"));
  EXPECT_EQ(program.Begin(context), kSuccess);
  gate_.Await();
  EXPECT_EQ(call(0)->Await(), kBusy);
  EXPECT_EQ(call(1)->Await(), kBusy);
  std::atomic<bool> is_ended{false};
  Begun ended(program.guest.get(), program, "wasinn_ext_0.compute_wait", {list, 1, kForEver, out});
  ended.EndedBy(is_ended);
  ended.Begin();
  is_ended = true;
  (void)ended.Await();
  wasinn_guest_close(program.guest.get());
}

// One of its computes may end while it is refused.
TEST_F(Computes, ARefusedWaitIsNotifiedOfNothing) {
  Open("log.level = \"error\"\n");
  Program program(host_.get());
  const uint32_t context = program.NewContext("in_turn"), idle = program.NewContext("in_turn");
  const uint32_t list = program.PutAll(std::vector<uint32_t>{context, idle}), out = program.Reserve(4);
  for (int round = 0; round < 2000; ++round) {
    EXPECT_EQ(program.Begin(context), kSuccess);
    Begun wait(program.guest.get(), program, "wasinn_ext_0.compute_wait", {list, 2, kForEver, out});
    wait.Begin();
    EXPECT_EQ(wait.Await(), kInvalidArgument);
    uint32_t error = kBusy;
    while (error == kBusy) error = program.Poll(context);
    EXPECT_EQ(error, kSuccess);
  }
}

// ---- Ends of guests and contexts

TEST_F(Computes, NothingIsLeftOfAGuestThatIsClosed) {
  Open("max_computes = 1\n");
  for (int round = 0; round < 10; ++round) {
    Program program(host_.get());
    const uint32_t ended = program.NewContext("in_turn"), runs = program.NewContext("waits"),
                   waits = program.NewContext("waits"), elsewhere = program.NewContext("waits_elsewhere"),
                   no_turn = program.NewContext("needs_no_turn");
    EXPECT_EQ(program.Begin(ended), kSuccess);
    uint32_t index = 7;
    EXPECT_EQ(program.Wait({ended}, kForEver, &index), kSuccess);
    EXPECT_EQ(program.Begin(runs), kSuccess);
    gate_.Await();
    for (const uint32_t context : {waits, elsewhere, no_turn}) EXPECT_EQ(program.Begin(context), kSuccess);
    AwaitWaiting(1);
    if (round % 2 == 0) wasinn_guest_stop(program.guest.get());
    wasinn_guest_close(program.guest.get());
    EXPECT_EQ(scheduler().waiting(), 0u);
    EXPECT_EQ(scheduler().running(), 0u);
    const wasinn_statistics stats = program.Stats();
    EXPECT_EQ(stats.contexts, 0u);
    EXPECT_EQ(stats.tensor_bytes, 0u);
    EXPECT_EQ(stats.computes, 5u);
    EXPECT_EQ(program.Poll(ended), kRuntimeError);
  }
}

TEST_F(Computes, CloseWaitsForWhatCannotBeCancelled) {
  Add("deaf", kHostsTurns + ("deaf\n" + gate_.Compute()));
  Program program(host_.get());
  EXPECT_EQ(program.Begin(program.NewContext("deaf")), kSuccess);
  gate_.Await();
  std::atomic<bool> is_closed{false};
  const std::jthread closer([&] {
    wasinn_guest_close(program.guest.get());
    is_closed = true;
  });
  uint32_t graph = 0;
  while (program.LoadByName("at_once", graph) == kSuccess) std::this_thread::yield();
  EXPECT_FALSE(is_closed);
  gate_.Open();
}

TEST_F(Computes, EndWithTheirContext) {
  Program program(host_.get());
  const uint32_t runs = program.NewContext("waits"), ended = program.NewContext("in_turn");
  EXPECT_EQ(program.Begin(runs), kSuccess);
  gate_.Await();
  EXPECT_EQ(program.Begin(ended), kSuccess);
  uint32_t index = 7;
  EXPECT_EQ(program.Wait({ended}, kForEver, &index), kSuccess);
  for (const uint32_t context : {runs, ended}) {
    EXPECT_EQ(program.Finalize(context), kSuccess);
    EXPECT_EQ(program.Poll(context), kInvalidArgument);
    EXPECT_EQ(program.Cancel(context), kInvalidArgument);
    EXPECT_EQ(program.Wait({context}, kForEver, &index), kInvalidArgument);
  }
  while (program.Stats().contexts != 0) std::this_thread::yield();
}

// A graph lives on in its contexts.
TEST_F(Computes, GoOnWithoutTheirGraph) {
  Program program(host_.get());
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(program.LoadByName("waits", graph), kSuccess);
  ASSERT_EQ(program.InitContext(graph, context), kSuccess);
  EXPECT_EQ(program.Set(context, {7}), kSuccess);
  EXPECT_EQ(program.Begin(context), kSuccess);
  EXPECT_EQ(program.Call("unload", {graph}), kSuccess);
  gate_.Open();
  EXPECT_EQ(program.Await(context), kSuccess);
  EXPECT_EQ(program.Output(context), 7);
}

// All at once, by several threads of one guest, while it is ended: nothing hangs, and nothing is left.
TEST_F(Computes, WhateverMeets) {
  Open("max_computes = 2\nlog.level = \"error\"\n");
  Add("alone", "turns 1\n");
  Add("later", "async later\n");
  for (int round = 0; round < 10; ++round) {
    Program program(host_.get());
    std::vector<uint32_t> contexts;
    for (int i = 0; i < 8; ++i) {
      contexts.push_back(
          program.NewContext(std::array{"in_turn", "alone", "later", "at_once"}[static_cast<size_t>(i % 4)]));
    }
    std::atomic<int> calls{0};
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        FakeGuest thread(program.guest.get());
        const uint32_t out = thread.Reserve(4), list = thread.PutAll(contexts);
        const auto call = [&](const char* function, const std::vector<uint64_t>& args) {
          ++calls;
          return thread.Call(std::string("wasinn_ext_0.compute_") + function, args) == kRuntimeError;
        };
        for (size_t i = t, ended = 0; ended < 50; ++i) {  // a guest that is closed refuses all
          const uint32_t context = contexts[i % contexts.size()];
          bool failed = call("begin", {context});
          if (i % 3 == 0) failed = call("cancel", {context}) && failed;
          failed = call("wait", {list + 4 * (i % 7), 1 + i % 2, i % 2 == 0 ? kForEver : 1, out}) && failed;
          failed = call("poll", {context}) && failed;
          if (i == 60 + t) thread.Finalize(context);
          ended = failed ? ended + 1 : 0;
        }
      });
    }
    while (calls < 300) std::this_thread::yield();
    if (round % 2 == 0) wasinn_guest_stop(program.guest.get());
    wasinn_guest_close(program.guest.get());
    threads.clear();
    EXPECT_EQ(program.Stats().contexts, 0u);
    EXPECT_EQ(scheduler().running() + scheduler().waiting(), 0u);
  }
}

TEST_F(Computes, WithoutMemoryEachEndIsReported) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("in_turn"), list = program.PutAll(std::vector<uint32_t>{context}),
                 out = program.Reserve(4);
  const wasinn_memory memory{sizeof memory, 0, program.memory().data(), program.memory().size()};
  const auto tries = [&](const char* function, const std::vector<uint64_t>& args) {
    const wasinn_function& called = FunctionNamed(function);
    for (int allowed = 0;; ++allowed) {
      uint32_t result = 0;
      int failed = 0;
      {
        const NoMemory scarce(allowed);
        result = called.call(program.guest.get(), &memory, args.data(), sizeof(uint64_t));
        failed = NoMemory::failed();
      }
      if (result == kSuccess) return;
      EXPECT_EQ(result, kRuntimeError) << function << " " << allowed;
      EXPECT_GT(failed, 0) << function << " " << allowed;
    }
  };
  for (int i = 0; i < 2; ++i) {
    tries("wasinn_ext_0.compute_begin", {context});
    tries("wasinn_ext_0.compute_wait", {list, 1, kForEver, out});
    (void)program.Poll(context);
  }
  EXPECT_EQ(program.Begin(context), kSuccess);
  EXPECT_EQ(program.Await(context), kSuccess);
}

TEST_F(Computes, AProcessThatWasForkedOffIsRefusedAndMayFree) {
  auto program = std::make_unique<Program>(host_.get());
  const uint32_t runs = program->NewContext("waits"), other = program->NewContext("in_turn");
  EXPECT_EQ(program->Begin(runs), kSuccess);
  gate_.Await();
  EXPECT_TRUE(IsTrueInAFork([&] {
    const bool refused = program->Begin(other) == kRuntimeError && program->Poll(runs) == kBusy;
    program.reset();
    host_.reset();
    return refused;
  }));
  gate_.Open();
  EXPECT_EQ(program->Await(runs), kSuccess);
}

}  // namespace
}  // namespace wasinn::testing
