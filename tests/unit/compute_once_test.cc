// compute_once of wasinn_ext_0: what it copies and what it computes in place, and that nothing is left of it.
#include "support/echo.h"
#include "support/gate.h"
#include "unit/movable_memory.h"
#include "unit/no_memory.h"

namespace wasinn::testing {
namespace {

constexpr uint32_t kPlaces = 1024, kNames = 2048, kResults = 3072;       // of what describes a call
constexpr uint32_t kIn = 64 << 10, kOut = 128 << 10, kSize = 256 << 10;  // of large tensors
constexpr uint32_t kMany = 2048, kManyBytes = kMany * 4;                 // floats
constexpr char kLarge[] = "in x f32 2048 bindable\n";

struct In {
  const char* name = nullptr;  // or
  uint32_t index = 0;
  uint32_t elements = 2, data = kIn;
  uint8_t type = kF32;
};
struct Out {
  const char* name = nullptr;  // or
  uint32_t index = 0;
  uint32_t buffer = kOut, size = 8;
};

class ComputeOnce : public ::testing::Test {
 protected:
  // A guest of this host from now on.
  void Use(HostPtr host) {
    GuestPtr guest = NewGuest(host.get());
    program_ = EchoProgram(std::move(guest), 1 << 16);
    memory_ = MovableMemory(program_.guest.get(), kSize);
    host_ = std::move(host);
  }
  uint32_t NewContext(std::string_view directives) { return program_.Open(directives); }
  wasinn_statistics Stats() const { return program_.Stats(); }

  uint32_t Once(uint32_t handle, const std::vector<In>& inputs, const std::vector<Out>& outputs) {
    uint32_t place = kPlaces, name = kNames;
    const auto put_name = [&](const char* text, uint32_t index) {
      const std::string letters(text == nullptr ? "" : text);
      if (text == nullptr) return memory_.Write<uint32_t>(place, {0, index});
      memory_.Write<char>(name, std::vector<char>(letters.begin(), letters.end()));
      memory_.Write<uint32_t>(place, {name, static_cast<uint32_t>(letters.size())});
      name += 64;
    };
    for (const In& input : inputs) {
      put_name(input.name, input.index);
      memory_.Write<uint32_t>(name, {input.elements});
      memory_.Write<uint32_t>(place + 8,
                              {name, 1, input.type, input.data, input.elements * (input.type == kF32 ? 4 : 1)});
      name += 64;
      place += 28;
    }
    results_ = place;
    for (const Out& output : outputs) {
      put_name(output.name, output.index);
      memory_.Write<uint32_t>(place + 8, {output.buffer, output.size, ~0u});
      place += 20;
    }
    return memory_.Call("wasinn_ext_0.compute_once", {handle, kPlaces, inputs.size(), results_, outputs.size()});
  }
  uint32_t Written(uint32_t output) { return memory_.Read<uint32_t>(results_ + output * 20 + 16, 1)[0]; }
  std::vector<float> Numbers(float first) {
    std::vector<float> numbers(kMany);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
  }
  // A call of the large model, and how many copies it made.
  uint64_t CopiesOfLarge(uint32_t handle, uint32_t in = kIn, uint32_t out = kOut) {
    static float first = 0;
    const std::vector<float> numbers = Numbers(first += 1);
    memory_.Write(in, numbers);
    const wasinn_statistics before = Stats();
    EXPECT_EQ(Once(handle, {{.elements = kMany, .data = in}}, {{.buffer = out, .size = kManyBytes}}), kSuccess)
        << log_.Last();
    EXPECT_EQ(Written(0), kManyBytes);
    EXPECT_EQ(memory_.Read<float>(out, kMany), numbers);
    return Stats().copies_in - before.copies_in + Stats().copies_out - before.copies_out;
  }

  Log log_;
  HostPtr host_ = EchoHost(log_);
  EchoProgram program_{host_.get(), 1 << 16};
  MovableMemory memory_{program_.guest.get(), kSize};
  uint32_t results_ = 0;
};

TEST_F(ComputeOnce, SmallTensorsAreCopied) {
  const uint32_t context = NewContext("in x f32 2 bindable\n");
  for (float value : {1.0f, 2.0f, 3.0f}) {
    memory_.Write<float>(kIn, {value, 9});
    ASSERT_EQ(Once(context, {{}}, {{}}), kSuccess) << log_.Last();
    EXPECT_THAT(memory_.Read<float>(kOut, 2), ElementsAre(value, 9));
    EXPECT_EQ(Written(0), 8u);
  }
  EXPECT_EQ(Stats().copies_in, 3u);
  EXPECT_EQ(Stats().copies_out, 3u);
  EXPECT_EQ(Stats().computes, 3u);
  EXPECT_EQ(Stats().errors, 0u);
}

TEST_F(ComputeOnce, LargeTensorsStayWhereTheyAre) {
  const uint32_t context = NewContext(kLarge);
  EXPECT_EQ(CopiesOfLarge(context), 0u);
  EXPECT_EQ(CopiesOfLarge(context), 0u) << "at the same places";
  EXPECT_EQ(CopiesOfLarge(context, kOut, kIn), 0u) << "at others";
}

TEST_F(ComputeOnce, TensorsThatCannotStayAreCopied) {
  const uint32_t context = NewContext(kLarge);
  EXPECT_EQ(CopiesOfLarge(context, kIn + 4), 1u) << "an input that is not aligned";
  EXPECT_EQ(CopiesOfLarge(context, kIn, kOut + 4), 1u) << "an output that is not aligned";
  EXPECT_EQ(CopiesOfLarge(context, kIn, kSize - kManyBytes), 1u) << "an output at the end of the memory";
  EXPECT_EQ(CopiesOfLarge(context), 0u);
  memory_.Share();
  EXPECT_EQ(CopiesOfLarge(context), 2u) << "of memory that others write";
}

// The guest could change them after they are checked.
TEST_F(ComputeOnce, InputsWhoseBytesAreCheckedAreCopied) {
  const std::vector<In> inputs = {{.elements = kManyBytes, .type = kU8}};
  const uint32_t bools = NewContext("in x bool 8192 bindable\n"), text = NewContext("in x u8 8192 bindable opaque\n");
  for (const uint32_t context : {bools, text}) {
    EXPECT_EQ(Once(context, inputs, {{.size = kManyBytes}}), kSuccess) << log_.Last();
  }
  EXPECT_EQ(Stats().copies_in, 2u);
  memory_.Write<uint8_t>(kIn, {2});
  EXPECT_EQ(Once(bools, inputs, {{.size = kManyBytes}}), kInvalidArgument) << "2 is no bool";
}

TEST_F(ComputeOnce, AnInputOfAPipelineStaysWhereItIs) {
  Use(EchoHost(log_, "[models.p]\nstep = [{model_name = 'm', input_map = {x = 'i'}}, {model_name = 'm'}]\n"));
  AddEchoModel(host_.get(), "m", kLarge);
  EXPECT_EQ(CopiesOfLarge(program_.NewContext("p")), 1u) << "its output is copied";
}

TEST_F(ComputeOnce, AnOutputOverAnInputIsCopied) {
  const uint32_t context = NewContext(kLarge);
  EXPECT_EQ(CopiesOfLarge(context, kIn, kIn), 1u);
  const std::vector<float> numbers = Numbers(5);
  memory_.Write(kIn, numbers);
  ASSERT_EQ(Once(context, {{.elements = kMany}}, {{.buffer = kIn + kMany * 2, .size = kManyBytes}}), kSuccess);
  EXPECT_EQ(memory_.Read<float>(kIn + kMany * 2, kMany), numbers);
}

TEST_F(ComputeOnce, OutputsOverEachOtherAreCopied) {
  const uint32_t context = NewContext("in x f32 2048 bindable\nin y f32 2048 bindable\n");
  const std::vector<float> first = Numbers(1), second = Numbers(5000);
  memory_.Write(kIn, first);
  memory_.Write(kIn + kManyBytes, second);
  const std::vector<In> inputs = {{.elements = kMany}, {.index = 1, .elements = kMany, .data = kIn + kManyBytes}};
  ASSERT_EQ(Once(context, inputs, {{.size = kManyBytes}, {.index = 1, .buffer = kOut + 64, .size = kManyBytes}}),
            kSuccess);
  EXPECT_EQ(Stats().copies_out, 2u);
  EXPECT_EQ(memory_.Read<float>(kOut + 64, kMany), second);
  ASSERT_EQ(
      Once(context, inputs, {{.size = kManyBytes}, {.index = 1, .buffer = kOut + kManyBytes, .size = kManyBytes}}),
      kSuccess);
  EXPECT_EQ(Stats().copies_out, 2u);
  EXPECT_EQ(memory_.Read<float>(kOut, kMany), first);
  EXPECT_EQ(memory_.Read<float>(kOut + kManyBytes, kMany), second);
}

TEST_F(ComputeOnce, ByNamesInAnyOrder) {
  const uint32_t context = NewContext("in x f32 2\nin y f32 1\n");
  memory_.Write<float>(kIn, {1, 2, 3});
  ASSERT_EQ(Once(context, {{.name = "y", .elements = 1, .data = kIn + 8}, {.name = "x"}}, {{.name = "y"}}), kSuccess)
      << log_.Last();
  EXPECT_EQ(Written(0), 4u);
  EXPECT_THAT(memory_.Read<float>(kOut, 1), ElementsAre(3));
  ASSERT_EQ(Once(context, {{.index = 1, .elements = 1, .data = kIn + 8}, {.index = 0}},
                 {{.name = "y"}, {.name = "x", .buffer = kOut + 64}}),
            kSuccess);
  EXPECT_THAT(memory_.Read<float>(kOut + 64, 2), ElementsAre(1, 2));
}

TEST_F(ComputeOnce, NamesThatOnlyAComputeShows) {
  const uint32_t context = NewContext("in x f32 2\nin y f32 1\nlate\n");
  memory_.Write<float>(kIn, {1, 2, 3});
  const std::vector<In> inputs = {{}, {.index = 1, .elements = 1, .data = kIn + 8}};
  ASSERT_EQ(Once(context, inputs, {{.name = "y"}, {.index = 0, .buffer = kOut + 64}}), kSuccess) << log_.Last();
  EXPECT_THAT(memory_.Read<float>(kOut, 1), ElementsAre(3));
  EXPECT_THAT(memory_.Read<float>(kOut + 64, 2), ElementsAre(1, 2));
  EXPECT_EQ(Once(context, inputs, {{.name = "z"}}), kInvalidArgument);
  EXPECT_EQ(Once(context, inputs, {{.index = 1}}), kSuccess) << log_.Last();
}

TEST_F(ComputeOnce, OnAGraphNoContextIsLeft) {
  uint32_t graph = 0;
  ASSERT_EQ(program_.LoadBytes(EchoModel(kLarge), 5, graph), kSuccess);
  EXPECT_EQ(CopiesOfLarge(graph), 0u);
  EXPECT_EQ(CopiesOfLarge(graph), 0u);
  EXPECT_EQ(Stats().contexts, 0u);
  EXPECT_EQ(Stats().tensor_bytes, 0u);
  EXPECT_EQ(Stats().computes, 2u);
}

TEST_F(ComputeOnce, NothingIsLeftToBeComputedOnOrGot) {
  const uint32_t context = NewContext("in x f32 2\nin y f32 2 optional\n");
  memory_.Write<float>(MovableMemory::kData, {1, 2, 3, 4});
  ASSERT_EQ(memory_.SetFloats(context, MovableMemory::kData), kSuccess);
  ASSERT_EQ(memory_.SetFloats(context, MovableMemory::kData, 2, 1), kSuccess);
  memory_.Write<float>(kIn, {5, 6, 7, 8});
  EXPECT_EQ(Once(context, {{.index = 1}}, {{}}), kInvalidArgument) << "x is not set by a call before";
  ASSERT_EQ(Once(context, {{}, {.index = 1, .data = kIn + 8}}, {{}, {.index = 1, .buffer = kOut + 64}}), kSuccess);
  EXPECT_THAT(memory_.Read<float>(kOut + 64, 2), ElementsAre(7, 8));
  EXPECT_EQ(memory_.GetOutput(context), kInvalidArgument);
  EXPECT_EQ(memory_.Call("compute", {context}), kInvalidArgument) << "x was set for that call alone";
  ASSERT_EQ(memory_.SetFloats(context, MovableMemory::kData), kSuccess);
  EXPECT_THAT(memory_.Compute(context), ElementsAre(1, 2));
  ASSERT_EQ(memory_.GetOutput(context, 8, 1), kSuccess);
  EXPECT_EQ(memory_.Read<uint32_t>(MovableMemory::kWritten, 1)[0], 0u) << "y is not there once more";
  ASSERT_EQ(Once(context, {{}}, {{}}), kSuccess);
  EXPECT_THAT(memory_.Read<float>(kOut, 2), ElementsAre(5, 6));
}

TEST_F(ComputeOnce, NothingIsLeftToGenerateFrom) {
  constexpr uint32_t kEndOfSequence = 100;
  const uint32_t context = NewContext("in x f32 -1 optional\npieces 4\n");
  memory_.Write<float>(kIn, {1, 2});
  ASSERT_EQ(Once(context, {{}}, {{}}), kSuccess) << log_.Last();
  EXPECT_THAT(memory_.Read<float>(kOut, 2), ElementsAre(1, 2));
  EXPECT_EQ(memory_.Call("compute_single", {context}), kEndOfSequence) << "x was set for that call alone";
}

TEST_F(ComputeOnce, BetweenUsualComputes) {
  const uint32_t context = NewContext(kLarge);
  memory_.Write(kIn, Numbers(3));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(CopiesOfLarge(context), 0u);
    memory_.Move(kSize);  // and the old place is gone
    memory_.Write(kIn, Numbers(3));
    ASSERT_EQ(memory_.SetFloats(context, kIn, kMany), kSuccess);
    ASSERT_EQ(memory_.Call("compute", {context}), kSuccess);
    ASSERT_EQ(memory_.Call("get_output", {context, 0, kOut, kManyBytes, kResults}), kSuccess);
    EXPECT_EQ(memory_.Read<float>(kOut, kMany), Numbers(3));
  }
}

TEST_F(ComputeOnce, OnSlotsThatContextsShare) {
  Use(EchoHost(log_, "max_computes = 2\n"));
  uint32_t graph = 0;
  ASSERT_EQ(program_.LoadBytes(EchoModel(std::string(kLarge) + "shares\nturns 0\n"), 5, graph), kSuccess);
  std::vector<uint32_t> contexts(5);
  for (uint32_t& context : contexts) ASSERT_EQ(program_.InitContext(graph, context), kSuccess);
  for (int i = 0; i < 2; ++i) {
    for (uint32_t context : contexts) EXPECT_EQ(CopiesOfLarge(context), 0u);
    memory_.Move(kSize);
  }
}

TEST_F(ComputeOnce, AnOutputThatOutgrowsItsSignature) {
  const uint32_t context = NewContext(std::string(kLarge) + "outgrows 12000\n");
  memory_.Write(kIn, Numbers(1));
  EXPECT_EQ(Once(context, {{.elements = kMany}}, {{.size = kManyBytes}}), kTooLarge);
  EXPECT_EQ(Written(0), 12000u);
  EXPECT_EQ(Once(context, {{.elements = kMany}}, {{.size = 12000}}), kSuccess) << log_.Last();
  EXPECT_EQ(Written(0), 12000u);
}

TEST_F(ComputeOnce, ABufferThatIsTooSmall) {
  const uint32_t fixed = NewContext("in x f32 2\nin y f32 1\nfail 5\n"), open = NewContext("in x f32 -1\n");
  memory_.Write<float>(kIn, {1, 2, 3});
  EXPECT_EQ(Once(fixed, {{}, {.index = 1, .elements = 1}}, {{.size = 7}, {.index = 1}}), kTooLarge)
      << "before it is computed";
  EXPECT_EQ(Written(0), 8u);
  EXPECT_EQ(Written(1), 4u);
  EXPECT_EQ(Once(open, {{.elements = 3}}, {{.size = 8}}), kTooLarge);
  EXPECT_EQ(Written(0), 12u);
  EXPECT_EQ(Stats().errors, 0u) << "these are answers";
  EXPECT_EQ(Once(open, {{.elements = 3}}, {{.size = 12}}), kSuccess);
  EXPECT_THAT(memory_.Read<float>(kOut, 3), ElementsAre(1, 2, 3));
}

TEST_F(ComputeOnce, RefusesNonsense) {
  const uint32_t context = NewContext("in x f32 2\nin y f32 2 optional\n");
  const struct {
    std::vector<In> inputs;
    std::vector<Out> outputs;
    const char* why;
  } calls[] = {{{{}, {}}, {{}}, "input 'x' is given twice"},
               {{{}}, {{}, {.name = "x"}}, "output 'x' is wanted twice"},
               {{{.index = 2}}, {{}}, "there is no input 2"},
               {{{}}, {{.index = 2}}, "there is no output 2"},
               {{{}}, {{.index = ~0u}}, "there is no output 4294967295"},
               {{{.name = "z"}}, {{}}, "'z'"},
               {{{}}, {{.name = "z"}}, "'z'"},
               {{{}, {}, {}}, {{}}, "3 inputs are given, the model has 2"},
               {{{}}, {{}, {}, {}}, "3 outputs are given, the model has 2"},
               {{{.elements = 3}}, {{}}, "x"},
               {{{.data = kSize - 4}}, {{}}, "the data of a tensor"},
               {{{}}, {{.buffer = kSize, .size = 1}}, "an output buffer"}};
  for (const auto& call : calls) {
    EXPECT_EQ(Once(context, call.inputs, call.outputs), kInvalidArgument) << call.why;
    EXPECT_THAT(log_.Last(), HasSubstr(call.why));
  }
  EXPECT_EQ(memory_.Call("wasinn_ext_0.compute_once", {context, kSize - 4, 1, kResults, 0}), kInvalidArgument);
  EXPECT_EQ(memory_.Call("wasinn_ext_0.compute_once", {context, kPlaces, 0, kSize - 4, 1}), kInvalidArgument);
  EXPECT_EQ(memory_.Call("wasinn_ext_0.compute_once", {context, kPlaces, ~0u, kResults, ~0u}), kInvalidArgument);
  EXPECT_EQ(memory_.Call("wasinn_ext_0.compute_once", {0, kPlaces, 0, kResults, 0}), kInvalidArgument);
  memory_.Write<float>(kIn, {1, 2});
  EXPECT_EQ(Once(context, {{}}, {{}}), kSuccess);
  EXPECT_EQ(Once(context, {{}}, {}), kSuccess) << "for what else it does";
}

// Whatever fails, nothing of the guest's memory is known afterwards.
TEST_F(ComputeOnce, WithoutMemory) {
  for (const char* model : {kLarge, "in x f32 2048\n"}) {
    for (int allowed = 0, failed = 1; failed > 0; ++allowed) {
      const uint32_t first = NewContext(model), context = NewContext(model);
      memory_.Write(kIn, Numbers(1));
      ASSERT_EQ(Once(first, {{.elements = kMany}}, {{.size = kManyBytes}}), kSuccess);  // so that its words are there
      const std::vector<uint64_t> args = {context, kPlaces, 1, results_, 1};
      {
        const NoMemory scarce(allowed, INT_MAX);
        (void)memory_.Call("wasinn_ext_0.compute_once", args);
        failed = NoMemory::failed();
      }
      memory_.Move(kSize);
      memory_.Write(kIn, Numbers(2));
      EXPECT_EQ(memory_.Call("compute", {context}), kInvalidArgument);
      ASSERT_EQ(memory_.SetFloats(context, kIn, kMany), kSuccess);
      EXPECT_EQ(memory_.Call("compute", {context}), kSuccess);
      EXPECT_LE(CopiesOfLarge(context), 1u);
      for (const uint32_t one : {first, context}) {
        EXPECT_EQ(memory_.Call("finalize_execution_context", {one}), kSuccess);
      }
    }
  }
}

// Ending a call waits until the call is out of the guest's memory.
class ComputeOnceInFlight : public ComputeOnce {
 protected:
  // A compute that cannot be cancelled, under way until the gate is opened.
  void Begin() {
    context_ = NewContext(kLarge + std::string("deaf\n") + gate_.Compute());
    memory_.Write(kIn, Numbers(1));
    thread_ = std::thread([this] {
      error_ = Once(context_, {{.elements = kMany}}, {{.size = kManyBytes}});
      returned_ = true;
    });
    gate_.Await();
  }
  // By another thread of the guest.
  uint32_t Finalize(uint32_t context) {
    return MovableMemory(program_.guest.get(), 64).Call("finalize_execution_context", {context});
  }

  const Gate gate_;
  std::thread thread_;
  std::atomic<bool> returned_{false};
  std::atomic<uint32_t> error_{~0u};
  uint32_t context_ = 0;
};

TEST_F(ComputeOnceInFlight, CloseWaits) {
  Begin();
  std::atomic<bool> closed{false};
  std::thread closing([&] {
    wasinn_guest_close(program_.guest.get());
    closed = true;
    memory_.Move(64);  // no thread looks there any more
  });
  constexpr uint32_t kNothing = 1000;
  while (Finalize(kNothing) == kInvalidArgument) std::this_thread::yield();
  EXPECT_FALSE(closed) << "the guest is closed, and waits for the compute";
  gate_.Open();
  closing.join();
  thread_.join();
  EXPECT_EQ(error_, kRuntimeError);
}

TEST_F(ComputeOnceInFlight, FinalizeLeavesItToTheCall) {
  Begin();
  EXPECT_EQ(Finalize(context_), kSuccess);
  EXPECT_FALSE(returned_);
  gate_.Open();
  thread_.join();
  EXPECT_EQ(error_, kRuntimeError) << "cancelled";
  memory_.Move(64);
  EXPECT_EQ(Stats().tensor_bytes, 0u);
}

}  // namespace
}  // namespace wasinn::testing
