// Components by Wasmtime's async functions: while the host loads or computes for one, its thread runs others.
#include <wasinn/wasmtime.h>

#include "component/puppet.h"
#include "support/echo.h"
#include "support/gate.h"

namespace wasinn::testing {
namespace {

constexpr uint32_t kF32 = 1, kResult = Puppet::kResult;
constexpr uint32_t kOutside = 4 << 20;

class ComponentAsync : public ::testing::Test {
 protected:
  ComponentAsync() { UseThreads(2); }
  ~ComponentAsync() override { gate_.Open(); }

  void UseThreads(int threads) {
    host_ = EchoHost(log_, "call_threads = " + std::to_string(threads) + "\nlimits.compute_timeout_ms = 0\n");
    AddEchoModel(host_.get(), "fast", "in x f32 1\n");
    AddEchoModel(host_.get(), "slow", "in x f32 1\n" + gate_.Compute());
  }

  static const PuppetShow& Show() { return PuppetShow::Of(kOctober, PuppetCalls::kAsync); }

  // A guest and its store.
  struct Program {
    explicit Program(wasinn_host* host) : guest(NewGuest(host)), puppet(Show(), guest.get()) {}
    ~Program() { wasinn_guest_close(guest.get()); }  // before the store
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // All that comes before a compute; its input is `value`.
    void Prepare(std::string_view model, uint32_t value = 7) {
      puppet.Poke(0, model);
      graph = puppet.Good("load-by-name", {0, 4, kResult});
      context = puppet.Good("init", {graph, kResult});
      Refill(value);
    }
    void Refill(uint32_t value) {
      puppet.PokeWords(0, {1});
      puppet.PokeWords(64, {value});
      puppet.Poke(256, "x");
      puppet.PokeWords(512, {256, 1, puppet.Call("tensor-new", {0, 1, kF32, 64, 4})});
    }
    std::unique_ptr<Puppet::Future> Compute(uint32_t result = kResult) {
      return puppet.Begin("compute", {context, 512, 1, result});
    }
    // The result of an ended compute.
    uint32_t Output() {
      EXPECT_EQ(puppet.Peek(kResult) & 0xff, 0u);
      const uint32_t output = puppet.Peek(puppet.Peek(kResult + 4) + 8);
      puppet.Call("tensor-data", {output, kResult});
      puppet.Call("tensor-drop", {output});
      return puppet.Peek(puppet.Peek(kResult));
    }

    const GuestPtr guest;
    Puppet puppet;
    uint32_t graph = 0, context = 0;
  };

  // One whose compute is at the gate.
  std::unique_ptr<Program> NewSlow() {
    auto slow = std::make_unique<Program>(host_.get());
    slow->Prepare("slow");
    return slow;
  }

  static wasinn_statistics End(Program& program) {
    wasinn_guest_close(program.guest.get());
    return StatsOf(program.guest);
  }

  Log log_;
  const Gate gate_;
  HostPtr host_;
};

TEST_F(ComponentAsync, AWaitingGuestDoesNotDelayOthers) {
  const auto slow = NewSlow();
  const auto computes = slow->Compute();
  EXPECT_FALSE(computes->Poll());
  gate_.Await();
  EXPECT_FALSE(computes->Poll());
  Program fast(host_.get());
  fast.Prepare("fast", 5);
  EXPECT_TRUE(fast.Compute()->Run());
  EXPECT_EQ(fast.Output(), 5u);
  EXPECT_FALSE(computes->Poll());
  gate_.Open();
  EXPECT_TRUE(computes->Run());
}

TEST_F(ComponentAsync, ManyGuestsShareAThread) {
  constexpr uint32_t kGuests = 40;
  std::vector<std::unique_ptr<Program>> programs;
  for (uint32_t i = 0; i < kGuests; ++i) {
    programs.push_back(std::make_unique<Program>(host_.get()));
    programs.back()->Prepare("fast", 1000 + i);
  }
  for (uint32_t round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<Puppet::Future>> computes;
    for (const auto& program : programs) computes.push_back(program->Compute());
    for (const auto& compute : computes) (void)compute->Poll();
    for (const auto& compute : computes) EXPECT_TRUE(compute->Run());
    computes.clear();
    for (uint32_t i = 0; i < kGuests; ++i) {
      EXPECT_EQ(programs[i]->Output(), 1000 * (round + 1) + i);
      programs[i]->Refill(1000 * (round + 2) + i);
    }
  }
}

// Each call that rests wakes its guest, and what is done at once does not.
TEST_F(ComponentAsync, EachCallWakesOnce) {
  const int before = PuppetWakes();
  Program program(host_.get());
  program.Prepare("fast");
  EXPECT_EQ(PuppetWakes() - before, 2) << "load-by-name, init";
  EXPECT_TRUE(program.Compute()->Run());
  EXPECT_EQ(PuppetWakes() - before, 3);
}

TEST_F(ComponentAsync, AGuestThatIsStoppedEndsItsCall) {
  const auto slow = NewSlow();
  const auto computes = slow->Compute();
  EXPECT_FALSE(computes->Poll());
  gate_.Await();
  wasinn_guest_stop(slow->guest.get());
  EXPECT_TRUE(computes->Run());
  EXPECT_EQ(slow->puppet.Peek(kResult) & 0xff, 1u) << "an error";
  const auto closed = slow->puppet.Try("error-code", {slow->puppet.Peek(kResult + 4)});
  ASSERT_FALSE(closed);
  EXPECT_THAT(closed.error(), HasSubstr("the guest is closed"));
}

TEST_F(ComponentAsync, AWaitingGuestCanBeClosed) {
  const auto slow = NewSlow();
  const auto computes = slow->Compute();
  EXPECT_FALSE(computes->Poll());
  gate_.Await();
  wasinn_guest_close(slow->guest.get());
  EXPECT_EQ(StatsOf(slow->guest).inside, 0u);
  EXPECT_TRUE(computes->Poll()) << "its call is over";
}

TEST_F(ComponentAsync, AGuestWithoutATurnWaitsAndCanBeEnded) {
  UseThreads(1);
  const auto slow = NewSlow();
  Program waits(host_.get()), ends(host_.get());
  waits.Prepare("fast", 3);
  ends.Prepare("fast");
  const auto computes = slow->Compute();
  EXPECT_FALSE(computes->Poll());
  gate_.Await();
  const auto waiting = waits.Compute(), ending = ends.Compute();
  EXPECT_FALSE(waiting->Poll());
  EXPECT_FALSE(ending->Poll());
  wasinn_guest_stop(ends.guest.get());
  ASSERT_TRUE(ending->Poll());
  const auto refused = ending->Run();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("the guest is closed"));
  EXPECT_FALSE(waiting->Poll());
  gate_.Open();
  EXPECT_TRUE(waiting->Run());
  EXPECT_TRUE(computes->Run());
}

TEST_F(ComponentAsync, AFutureThatIsDeletedWaitsForItsCall) {
  const auto slow = NewSlow();
  auto computes = slow->Compute();
  EXPECT_FALSE(computes->Poll());
  gate_.Await();
  computes.reset();
  const wasinn_statistics stats = StatsOf(slow->guest);
  EXPECT_EQ(stats.inside, 0u);
  EXPECT_EQ(stats.tensors + stats.contexts + stats.graphs, 0u) << "its guest is closed";
}

TEST_F(ComponentAsync, AFutureCanBeDeletedBeforeItsTurn) {
  UseThreads(1);
  const auto slow = NewSlow();
  Program waits(host_.get());
  waits.Prepare("fast");
  const auto computes = slow->Compute();
  EXPECT_FALSE(computes->Poll());
  gate_.Await();
  auto waiting = waits.Compute();
  EXPECT_FALSE(waiting->Poll());
  waiting.reset();
  EXPECT_EQ(StatsOf(waits.guest).inside, 0u);
  EXPECT_FALSE(computes->Poll());
  gate_.Open();
  EXPECT_TRUE(computes->Run());
}

// Its outputs are not returned, and are freed.
TEST_F(ComponentAsync, AFutureCanBeDeletedAfterItsCall) {
  Program program(host_.get());
  program.Prepare("fast");
  const int wakes = PuppetWakes();
  auto computes = program.Compute();
  EXPECT_FALSE(computes->Poll() && PuppetWakes() == wakes);
  PuppetWakes().wait(wakes);
  computes.reset();
  EXPECT_EQ(StatsOf(program.guest).computes, 1u);
  EXPECT_EQ(End(program).tensors, 0u);
}

TEST_F(ComponentAsync, AGuestThatTrapsWithItsResult) {
  Program program(host_.get());
  program.Prepare("fast");
  EXPECT_FALSE(program.Compute(kOutside)->Run()) << "the result lies outside of its memory";
  EXPECT_EQ(End(program).tensors, 0u);
}

TEST_F(ComponentAsync, AGuestThatTrapsWithItsArguments) {
  Program program(host_.get());
  program.Prepare("fast");
  const int wakes = PuppetWakes();
  EXPECT_FALSE(program.puppet.Try("compute", {program.context, kOutside, 1, kResult}));
  EXPECT_EQ(PuppetWakes(), wakes) << "nothing began";
}

// Nothing of the calls that make a thread wait is to be used with such a linker.
TEST_F(ComponentAsync, ACallThatWouldWaitIsAnError) {
  wasmtime_store_t* store = wasmtime_store_new(Show().engine(), nullptr, nullptr);
  wasmtime_component_instance_t instance;
  wasmtime_error_t* error =
      wasinn_wasmtime_component_pre_instantiate(Show().pre(), wasmtime_store_context(store), &instance);
  EXPECT_NE(error, nullptr);
  if (error != nullptr) wasmtime_error_delete(error);
  wasmtime_store_delete(store);
}

// run() waits by WASI for a nanosecond, and gives 7.
constexpr std::string_view kWaits = R"((component
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $pollable'))
    (export "pollable" (type $p (eq $pollable')))
    (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))
  (core func $subscribe (canon lower (func $clock "subscribe-duration")))
  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core module $Main
    (import "wasi" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "wasi" "block" (func $block (param i32)))
    (func (export "run") (result i32)
      (call $block (call $subscribe (i64.const 1)))
      (i32.const 7)))
  (core instance $main (instantiate $Main (with "wasi" (instance
    (export "subscribe" (func $subscribe)) (export "block" (func $block))))))
  (func (export "run") (result u32) (canon lift (core func $main "run")))))";

TEST_F(ComponentAsync, WasiOfTheSameLinkerBlocks) {
  using Linker = wasmtime_component_linker_t;
  const std::unique_ptr<Linker, Freer<Linker, wasmtime_component_linker_delete>> linker(
      wasmtime_component_linker_new(Show().engine()));
  ASSERT_EQ(StatusPtr(LinkPuppets(linker.get(), PuppetCalls::kAsync)), nullptr);
  ASSERT_EQ(wasmtime_component_linker_add_wasip2(linker.get()), nullptr);
  const PuppetShow show(Show().engine(), linker.get(), kWaits, PuppetCalls::kAsync);
  Puppet program(show, nullptr);
  ASSERT_EQ(wasmtime_context_set_wasi(program.context(), wasi_config_new()), nullptr);
  const auto runs = program.Begin("run", {});
  EXPECT_TRUE(runs->Poll()) << "nothing of WASI rests";
  EXPECT_EQ(runs->Run(), 7u);
}

}  // namespace
}  // namespace wasinn::testing
