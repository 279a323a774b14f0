// Computes that a guest begins, and whose ends it gets later: compute_begin, compute_poll, compute_wait, compute_cancel.
#include "unit/computes.h"
#include "support/own_process.h"
#include "unit/forked.h"
#include "unit/movable_memory.h"
#include "unit/no_memory.h"

namespace wasinn::testing {
namespace {

using Program = ComputesProgram;

class Computes : public ComputesTest {};

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
    const int before = CountThreads();
    for (int i = 1; i < 50; ++i) EXPECT_EQ(program.Begin(contexts[i]), kSuccess);
    const int of_backend = model == std::string_view("waits_elsewhere") ? 49 : 0;
    EXPECT_EQ(CountThreads(), before + of_backend) << model;
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
