// An engine that wasinn has no adapter for, with the echo backend: a wasinn_guest for each program, memory that moves,
// traps, guests that are ended, and what goes when.
#include "engines/any/program.h"
#include "support/echo.h"
#include "support/gate.h"

namespace wasinn::testing {
namespace {

class Wasm3Test : public ::testing::Test {
 protected:
  Wasm3Test() {
    AddEchoModel(host_.get(), "model", "in x f32 1,1,4,4\n");
    AddEchoModel(host_.get(), "endless", "in x f32 1,1,4,4\n" + gate_.Compute());
  }

  // Inputs of which no two are equal.
  static std::vector<float> Inputs(size_t count, float first) {
    std::vector<float> values(count * 16);
    for (float& value : values) value = first++;
    return values;
  }
  static void GiveWork(Program& program, const Work& work, const std::vector<float>& inputs) {
    program.Give(&work, sizeof work);
    program.Give(inputs.data(), inputs.size() * sizeof(float));
  }
  static const Work& Model() {
    static const Work work = NewWork("model", {1, 1, 4, 4});
    return work;
  }
  static std::vector<float> Outputs(const Program& program) {
    std::vector<float> values(program.output().size() / sizeof(float));
    std::memcpy(values.data(), program.output().data(), values.size() * sizeof(float));
    return values;
  }

  const Gate gate_;  // never opened
  Log log_;
  HostPtr host_ = EchoHost(log_, "limits.compute_timeout_ms = 0\n");
};

TEST_F(Wasm3Test, Inferences) {
  Program program(host_.get());
  const std::vector<float> inputs = Inputs(10, 1);
  GiveWork(program, Model(), inputs);
  EXPECT_EQ(program.Run(), "");
  EXPECT_EQ(program.answers().size(), 32u);
  EXPECT_THAT(program.answers(), Each(kSuccess));
  EXPECT_EQ(Outputs(program), inputs);
}

TEST_F(Wasm3Test, MemoryThatGrowsAndMoves) {
  Program program(host_.get());
  const std::vector<float> inputs = Inputs(50, 1);
  Work work = Model();
  work.grow = 3;
  GiveWork(program, work, inputs);
  EXPECT_EQ(program.Run(), "");
  EXPECT_THAT(program.answers(), Each(kSuccess));
  EXPECT_EQ(Outputs(program), inputs);
  const std::set<const uint8_t*> bases(program.bases().begin(), program.bases().end());
  EXPECT_GT(bases.size(), 1u) << "it never moved";
}

// run: answer(compute(0)), in a module without a memory.
TEST_F(Wasm3Test, AModuleWithoutMemory) {
  const std::string_view module(
      "\0asm\1\0\0\0"
      "\1\x0d\3\x60\1\x7f\1\x7f\x60\1\x7f\0\x60\0\0"                  // i32 -> i32, i32 -> (), () -> ()
      "\2\x2b\2\x11wasi_ephemeral_nn\7compute\0\0\4test\6answer\0\1"  // imports
      "\3\2\1\2\7\x07\1\3run\0\2"                                     // a function, exported
      "\x0a\x0a\1\x08\0\x41\0\x10\0\x10\1\x0b",                       // what it does
      93);
  Program program(host_.get(), std::vector<uint8_t>(module.begin(), module.end()));
  EXPECT_EQ(program.Run(), "");
  EXPECT_THAT(program.answers(), ElementsAre(kMissingMemory));
}

// There is no deadline: what ends the compute is that the guest is closed.
TEST_F(Wasm3Test, AGuestThatIsStoppedInsideACompute) {
  Program program(host_.get()), other(host_.get());
  GiveWork(program, NewWork("endless", {1, 1, 4, 4}), Inputs(1, 1));
  std::thread stopper([&] {
    gate_.Await();
    program.wasm3().Stop();
  });
  EXPECT_EQ(program.Run(), m3Err_trapAbort);
  stopper.join();
  EXPECT_EQ(program.answers().size(), 3u);  // load_by_name, init_execution_context, set_input
  GiveWork(other, Model(), Inputs(1, 1));
  EXPECT_EQ(other.Run(), "");
}

// After close every call answers, and none finds anything.
TEST_F(Wasm3Test, CallsAfterClose) {
  Program program(host_.get());
  GiveWork(program, Model(), Inputs(1, 1));
  EXPECT_EQ(program.Run(), "");
  wasinn_guest_close(program.wasm3().guest());
  EXPECT_EQ(program.Run("again"), "");
  EXPECT_EQ(program.answers().back(), kRuntimeError);
}

// Each with a runtime and a wasinn_guest of its own, on one host and one graph; some end in a trap.
TEST_F(Wasm3Test, GuestsInThreads) {
  constexpr int kThreads = 4, kGuests = 5;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      for (int i = 0; i < kGuests; ++i) {
        const std::vector<float> inputs = Inputs(20, static_cast<float>(10'000 * thread + 1'000 * i));
        Program program(host_.get());
        GiveWork(program, Model(), inputs);
        EXPECT_EQ(program.Run(i % 3 == 0 ? "run_and_trap" : "run"), i % 3 == 0 ? m3Err_trapUnreachable : "");
        EXPECT_THAT(program.answers(), Each(kSuccess));
        EXPECT_EQ(Outputs(program), inputs);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace wasinn::testing
