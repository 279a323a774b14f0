// Guests that wasmtime_func_call_async runs: while the host computes for one, its thread runs others.
#include <wasinn/wasmtime.h>

#include "engines/wasmtime/handles.h"
#include "support/echo.h"
#include "support/gate.h"

namespace wasinn::testing {
namespace {

using wasmtime::EnginePtr;
using wasmtime::InstancePrePtr;
using wasmtime::LinkerPtr;
using wasmtime::ModulePtr;
using wasmtime::StorePtr;

// run(name) computes once on the model of that name, of four letters, and gives its errno; overlap(name) by compute_begin
// and what follows it.
constexpr std::string_view kProgram = R"((module
  (import "wasi_ephemeral_nn" "load_by_name" (func $load_by_name (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "init_execution_context" (func $init (param i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "set_input" (func $set_input (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "compute" (func $compute (param i32) (result i32)))
  (import "wasinn_ext_0" "last_error" (func $last_error (param i32 i32 i32) (result i32)))
  (import "wasinn_ext_0" "compute_begin" (func $begin (param i32) (result i32)))
  (import "wasinn_ext_0" "compute_wait" (func $wait (param i32 i32 i32 i32) (result i32)))
  (import "wasinn_ext_0" "compute_poll" (func $poll (param i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "\01\00\00\00")
  (data (i32.const 32) "\10\00\00\00\01\00\00\00\01\00\00\00\10\00\00\00\04\00\00\00")
  (func $ready (param $name i32) (result i32)
    (local $errno i32)
    (i32.store (i32.const 0) (local.get $name))
    (if (local.tee $errno (call $load_by_name (i32.const 0) (i32.const 4) (i32.const 64))) (then (return (local.get $errno))))
    (if (local.tee $errno (call $init (i32.load (i32.const 64)) (i32.const 68))) (then (return (local.get $errno))))
    (call $set_input (i32.load (i32.const 68)) (i32.const 0) (i32.const 32)))
  (func (export "run") (param $name i32) (result i32)
    (local $errno i32)
    (if (local.tee $errno (call $ready (local.get $name))) (then (return (local.get $errno))))
    (call $compute (i32.load (i32.const 68))))
  (func (export "overlap") (param $name i32) (result i32)
    (local $errno i32)
    (if (local.tee $errno (call $ready (local.get $name))) (then (return (local.get $errno))))
    (if (local.tee $errno (call $begin (i32.load (i32.const 68)))) (then (return (local.get $errno))))
    (if (local.tee $errno (call $wait (i32.const 68) (i32.const 1) (i32.const -1) (i32.const 72)))
      (then (return (local.get $errno))))
    (call $poll (i32.load (i32.const 68))))
))";

class Async : public ::testing::Test {
 protected:
  Async() {
    AddEchoModel(host_.get(), "fast", "in x f32 1\n");
    AddEchoModel(host_.get(), "slow", "in x f32 1\n" + gate_.Compute());
    AddEchoModel(host_.get(), "turn", "in x f32 1\nturns 0\n" + gate_.Compute());
    const StatusPtr linked(wasinn_wasmtime_link_async(linker_.get(), host_.get(), &Async::CallerOf, nullptr));
    EXPECT_EQ(linked, nullptr) << wasinn_status_message(linked.get());
    wasm_byte_vec_t wasm;
    EXPECT_EQ(wasmtime_wat2wasm(kProgram.data(), kProgram.size(), &wasm), nullptr);
    wasmtime_module_t* module = nullptr;
    EXPECT_EQ(wasmtime_module_new(engine_.get(), reinterpret_cast<uint8_t*>(wasm.data), wasm.size, &module), nullptr);
    wasm_byte_vec_delete(&wasm);
    const ModulePtr owned(module);
    wasmtime_instance_pre_t* program = nullptr;
    EXPECT_EQ(wasmtime_linker_instantiate_pre(linker_.get(), module, &program), nullptr);
    program_.reset(program);
  }

  // A guest and its store.
  class Program {
   public:
    Program(Async& test, const char* model, std::string_view function = "run") : guest(NewGuest(test.host_.get())) {
      store_.reset(wasmtime_store_new(test.engine_.get(), this, nullptr));
      wasmtime_context_t* context = wasmtime_store_context(store_.get());
      future_ = wasmtime_instance_pre_instantiate_async(test.program_.get(), context, &instance_, &trap_, &error_);
      EXPECT_TRUE(wasmtime_call_future_poll(future_));
      DeleteFuture();
      wasmtime_extern_t run;
      EXPECT_TRUE(wasmtime_instance_export_get(context, &instance_, function.data(), function.size(), &run));
      run_ = run.of.func;
      name_.kind = WASMTIME_I32;
      std::memcpy(&name_.of.i32, model, sizeof name_.of.i32);
      future_ = wasmtime_func_call_async(context, &run_, &name_, 1, &errno_, 1, &trap_, &error_);
    }
    ~Program() {
      DeleteFuture();
      wasinn_guest_close(guest.get());
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // True: it has ended, now or before.
    bool Poll() { return ended_ = ended_ || wasmtime_call_future_poll(future_); }
    // To its end. The errno.
    int Run() {
      while (!Poll()) {
        wakes.wait(seen_);
        seen_ = wakes;
      }
      EXPECT_TRUE(error_ == nullptr && trap_ == nullptr);
      return errno_.of.i32;
    }
    void DeleteFuture() {
      if (future_ != nullptr) wasmtime_call_future_delete(future_);
      future_ = nullptr;
    }

    GuestPtr guest;
    std::atomic<int> wakes{0};

   private:
    bool ended_ = false;
    int seen_ = 0;
    StorePtr store_;
    wasmtime_instance_t instance_ = {};
    wasmtime_func_t run_ = {};
    wasmtime_val_t name_{}, errno_{};
    wasm_trap_t* trap_ = nullptr;
    wasmtime_error_t* error_ = nullptr;
    wasmtime_call_future_t* future_ = nullptr;
  };

  static wasinn_wasmtime_async_caller CallerOf(wasmtime_context_t* context, void*) {
    auto* program = static_cast<Program*>(wasmtime_context_get_data(context));
    const auto wake = [](void* user) {
      auto& wakes = static_cast<Program*>(user)->wakes;
      ++wakes;
      wakes.notify_all();
    };
    return {program->guest.get(), nullptr, wake, program};
  }

  Log log_;
  const Gate gate_;
  HostPtr host_ = EchoHost(log_, "call_threads = 2\nlimits.compute_timeout_ms = 0\n");
  const EnginePtr engine_{wasm_engine_new()};
  const LinkerPtr linker_{wasmtime_linker_new(engine_.get())};
  InstancePrePtr program_;
};

TEST_F(Async, AGuestThatWaitsHoldsUpNoOther) {
  Program slow(*this, "slow"), fast(*this, "fast");
  while (slow.wakes < 2) (void)slow.Poll();  // load and init are done, or about to be seen
  (void)slow.Poll();
  gate_.Await();
  EXPECT_FALSE(slow.Poll());
  EXPECT_EQ(fast.Run(), 0);
  EXPECT_FALSE(slow.Poll());
  gate_.Open();
  EXPECT_EQ(slow.Run(), 0);
}

TEST_F(Async, ManyOnOneThread) {
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 64; ++i) programs.push_back(std::make_unique<Program>(*this, "fast"));
  for (const auto& program : programs) (void)program->Poll();
  for (const auto& program : programs) EXPECT_EQ(program->Run(), 0);
}

// The host has two threads for their calls.
TEST_F(Async, ManyWaitForComputesThatTheyHaveBegun) {
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 16; ++i) programs.push_back(std::make_unique<Program>(*this, "turn", "overlap"));
  const auto all_wait = [&] {  // load, init and compute_begin are done
    return std::ranges::all_of(programs, [](const auto& program) { return program->wakes >= 3; });
  };
  while (!all_wait()) {
    for (const auto& program : programs) EXPECT_FALSE(program->Poll());
  }
  for (const auto& program : programs) EXPECT_FALSE(program->Poll());
  Program fast(*this, "fast"), overlaps(*this, "fast", "overlap");
  EXPECT_EQ(fast.Run(), 0);
  EXPECT_EQ(overlaps.Run(), 0);
  gate_.Open();
  for (const auto& program : programs) EXPECT_EQ(program->Run(), 0);
}

TEST_F(Async, AGuestThatIsStoppedEndsItsCall) {
  Program slow(*this, "slow");
  while (slow.wakes < 2) (void)slow.Poll();
  (void)slow.Poll();
  gate_.Await();
  wasinn_guest_stop(slow.guest.get());
  EXPECT_EQ(slow.Run(), static_cast<int>(kRuntimeError));
}

TEST_F(Async, AFutureThatIsDeletedWaitsForItsCall) {
  Program slow(*this, "slow");
  while (slow.wakes < 2) (void)slow.Poll();
  (void)slow.Poll();
  gate_.Await();
  slow.DeleteFuture();
  EXPECT_EQ(StatsOf(slow.guest).inside, 0u);
}

}  // namespace
}  // namespace wasinn::testing
