// Inputs that stay in guest memory (policy.inputs = "by-reference"): when they do, what a compute reads, and what a
// guest cannot do with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/lent_memory.h"

namespace wasinn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(LentInput, IsReadAtEachCompute) {
  const uint32_t context = NewContext();
  ExpectLentAt(LentMemory::kData, true, "first", context);
  memory_.Write<float>(LentMemory::kData, {5, 6});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(5, 6)) << "inputs stay set until set again";
  ExpectLentAt(LentMemory::kData + 64, true, "elsewhere", context);
  EXPECT_EQ(Stats().bytes_in, 0u);
  EXPECT_EQ(Stats().errors, 0u);
}

TEST_F(LentInput, IsOffByDefault) {
  const HostPtr host = EchoHost(log_);
  Use(NewGuest(host.get(), [](wasinn_policy& policy) { EXPECT_EQ(policy.inputs, WASINN_INPUTS_COPIED); }));
  ExpectLentAt(LentMemory::kData, false, "the default", NewContext());
}

// A guest may have another policy than its host; an older program's struct has no such field.
TEST_F(LentInput, IsUpToTheGuest) {
  for (const bool older : {true, false}) {
    Use(NewGuest(host_.get(), [&](wasinn_policy& policy) {
      EXPECT_EQ(policy.inputs, WASINN_INPUTS_BY_REFERENCE);
      if (older) policy.struct_size = offsetof(wasinn_policy, inputs);
    }));
    ExpectLentAt(LentMemory::kData, !older, "as the policy says", NewContext());
  }
}

TEST_F(LentInput, AnUnknownWordIsAnError) {
  const ConfigPtr config(wasinn_config_new());
  StatusPtr status(wasinn_config_set(config.get(), "policy.inputs", "by-magic"));
  ASSERT_NE(status, nullptr);
  EXPECT_THAT(wasinn_status_message(status.get()), HasSubstr("known are copied, by-reference"));
}

TEST_F(LentInput, IsCopiedIfItCannotBeReadInPlace) {
  const uint32_t context = NewContext();
  ExpectLentAt(LentMemory::kData + 4, false, "not aligned as the backend asks", context);
  const auto end = static_cast<uint32_t>(memory_.size());
  ExpectLentAt(end - 8, false, "the framework may read past the end of memory", context);
  ExpectLentAt(end - 64, false, "as may one with 56 bytes behind it", context);
  ExpectLentAt(end - 128, true, "here 120 are behind it", context);
  memory_.ShrinkTo(end - 56);
  ExpectLentAt(end - 128, true, "and here 64", context);
  memory_.ShrinkTo(end - 57);
  ExpectLentAt(end - 128, false, "and here 63", context);
}

TEST_F(LentInput, SharedAndUnknownMemoryIsCopied) {
  const uint32_t context = NewContext();
  memory_.Share();
  ExpectLentAt(LentMemory::kData, false, "shared", context);
  memory_ = LentMemory(program_.guest.get(), 0);
  ExpectLentAt(LentMemory::kData, false, "the engine does not tell which memory it is", context);
  memory_ = LentMemory(program_.guest.get());
  memory_.BeOlder();
  ExpectLentAt(LentMemory::kData, false, "an adapter that knows of no identity", context);
}

// What of an input's bytes is checked is checked once, in a copy.
TEST_F(LentInput, IsCopiedIfItsBytesAreChecked) {
  uint32_t context = NewContext("in x bool 2\n");
  memory_.Write<uint8_t>(LentMemory::kData, {0, 1});
  ASSERT_EQ(memory_.SetInput(context, 0, kU8, LentMemory::kData, 2, 2), kSuccess) << log_.Last();
  EXPECT_EQ(Copies(), 1u);
  memory_.Write<uint8_t>(LentMemory::kData, {2, 2});
  ASSERT_EQ(memory_.Call("compute", {context}), kSuccess);
  ASSERT_EQ(memory_.GetOutput(context), kSuccess);
  EXPECT_THAT(memory_.Read<uint8_t>(LentMemory::kOutput, 2), ElementsAre(0, 1));
  EXPECT_EQ(memory_.SetInput(context, 0, kU8, LentMemory::kData, 2, 2), kInvalidArgument) << "2 is no bool";

  context = NewContext("in x u8 any opaque\n");
  Copies();
  memory_.Write<uint8_t>(LentMemory::kData, {'h', 'i'});
  ASSERT_EQ(memory_.SetInput(context, 0, kU8, LentMemory::kData, 1, 2), kSuccess);
  EXPECT_EQ(Copies(), 1u);
}

TEST_F(LentInput, IsRefusedFromAnotherMemory) {
  const uint32_t context = NewContext();
  memory_.Write<float>(LentMemory::kData, {1, 2});
  ASSERT_EQ(memory_.SetFloats(context, LentMemory::kData), kSuccess);
  LentMemory other(program_.guest.get(), 8);
  other.Write<float>(LentMemory::kData, {6, 6});
  EXPECT_EQ(other.Call("compute", {context}), kInvalidArgument);
  EXPECT_THAT(log_.Last(),
              HasSubstr("input 'x' was set by reference to 8 bytes at 0x200, which the memory of this call "
                        "does not have"));
  EXPECT_EQ(other.GetOutput(context), kInvalidArgument) << "nothing is computed";
  EXPECT_THAT(memory_.Compute(context), ElementsAre(1, 2)) << "and nothing lost";
  memory_.Share();
  EXPECT_EQ(memory_.Call("compute", {context}), kInvalidArgument) << "it has become shared";
}

// No engine shrinks a memory; should one do so, or an adapter be wrong, nothing is read outside of it.
TEST_F(LentInput, IsRefusedIfTheMemoryHasShrunk) {
  const uint32_t context = NewContext();
  memory_.Write<float>(LentMemory::kData, {1, 2});
  ASSERT_EQ(memory_.SetFloats(context, LentMemory::kData), kSuccess);
  for (const uint32_t size : {LentMemory::kData + 7, LentMemory::kData, 64u}) {
    memory_.Move(size);
    EXPECT_EQ(memory_.Call("compute", {context}), kInvalidArgument) << size;
  }
  memory_.Move(LentMemory::kData + 8);
  memory_.Write<float>(LentMemory::kData, {3, 4});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(3, 4)) << "the bytes are there, but none behind them";
  EXPECT_EQ(Copies(), 1u);
}

TEST_F(LentInput, IsFoundInAMemoryThatHasMoved) {
  const uint32_t context = NewContext();
  memory_.Write<float>(LentMemory::kData, {1, 2});
  ASSERT_EQ(memory_.SetFloats(context, LentMemory::kData), kSuccess);
  memory_.Move(1 << 16);
  EXPECT_THAT(memory_.Compute(context), ElementsAre(1, 2));
  memory_.Write<float>(LentMemory::kData, {3, 4});
  memory_.Move(1 << 17);
  EXPECT_THAT(memory_.Compute(context), ElementsAre(3, 4));
  EXPECT_EQ(Copies(), 0u);
  memory_.Move(1 << 17, 4);
  memory_.Write<float>(LentMemory::kData, {5, 6});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(5, 6)) << "where it cannot be read in place";
  EXPECT_THAT(memory_.Compute(context), ElementsAre(5, 6));
  EXPECT_EQ(Copies(), 2u) << "it is copied at each compute";
  memory_.Move(1 << 17);
  memory_.Write<float>(LentMemory::kData, {7, 8});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(7, 8));
  EXPECT_EQ(Copies(), 0u);
}

TEST_F(LentInput, GivesWayToACopy) {
  const uint32_t context = NewContext();
  memory_.Write<float>(LentMemory::kData, {1, 2});
  for (int i = 0; i < 3; ++i) {
    ExpectLentAt(LentMemory::kData, true, "lent", context);
    ExpectLentAt(LentMemory::kData + 68, false, "copied", context);
  }
  // One that is refused changes nothing.
  ASSERT_EQ(memory_.SetFloats(context, LentMemory::kData), kSuccess);
  EXPECT_EQ(memory_.SetFloats(context, LentMemory::kData, 3), kInvalidArgument);
  EXPECT_THAT(memory_.Compute(context), ElementsAre(3, 4));
}

TEST_F(LentInput, OneOfSeveralMayBeLent) {
  const uint32_t context = NewContext("in x f32 2\nin y f32 2\n");
  memory_.Write<float>(LentMemory::kData, {1, 2});
  memory_.Write<float>(LentMemory::kData + 68, {5, 6});
  ASSERT_EQ(memory_.SetFloats(context, LentMemory::kData), kSuccess);
  EXPECT_EQ(memory_.Call("compute", {context}), kInvalidArgument) << "y was not set";
  ASSERT_EQ(memory_.SetFloats(context, LentMemory::kData + 68, 2, 1), kSuccess);
  EXPECT_EQ(Copies(), 1u);
  memory_.Write<float>(LentMemory::kData, {3, 4});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(3, 4));
  ASSERT_EQ(memory_.GetOutput(context, 8, 1), kSuccess);
  EXPECT_THAT(memory_.Read<float>(LentMemory::kOutput, 2), ElementsAre(5, 6));
}

// By name, and of the module of WAMR's first header.
TEST_F(LentInput, WorksInEveryModuleOfCoreModules) {
  const uint32_t context = NewContext();
  memory_.Write<uint32_t>(LentMemory::kDims, {2});
  memory_.Write<uint32_t>(LentMemory::kDescriptor, {LentMemory::kDims, 1, kF32, LentMemory::kData, 8});
  memory_.Write<char>(LentMemory::kOutput, {'x'});
  ASSERT_EQ(memory_.Call("wasinn_ext_0.set_input_by_name", {context, LentMemory::kOutput, 1, LentMemory::kDescriptor}),
            kSuccess);
  memory_.Write<float>(LentMemory::kData, {1, 2});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(1, 2));

  memory_.Write<float>(LentMemory::kData, {0, 0});
  memory_.Write<uint32_t>(LentMemory::kDims, {2, LentMemory::kDims, 1});
  memory_.Write<uint32_t>(LentMemory::kDescriptor, {LentMemory::kDims + 4, 1, LentMemory::kData});
  ASSERT_EQ(memory_.Call("wasi_nn.set_input", {context, 0, LentMemory::kDescriptor}), kSuccess) << log_.Last();
  memory_.Write<float>(LentMemory::kData, {3, 4});
  memory_.Write<uint32_t>(LentMemory::kWritten, {8});
  ASSERT_EQ(memory_.Call("wasi_nn.compute", {context}), kSuccess) << log_.Last();
  ASSERT_EQ(memory_.Call("wasi_nn.get_output", {context, 0, LentMemory::kOutput, LentMemory::kWritten}), kSuccess);
  EXPECT_THAT(memory_.Read<float>(LentMemory::kOutput, 2), ElementsAre(3, 4));
  EXPECT_EQ(Copies(), 0u);
}

TEST_F(LentInput, AnOutputOutlivesIt) {
  const uint32_t context = NewContext("in x f32 2\n");
  memory_.Write<float>(LentMemory::kData, {1, 2});
  ASSERT_EQ(memory_.SetFloats(context, LentMemory::kData), kSuccess);
  ASSERT_EQ(memory_.Call("compute", {context}), kSuccess);
  memory_.Write<float>(LentMemory::kData, {9, 9});
  memory_.Move(1 << 16);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(memory_.GetOutput(context), kSuccess);
    EXPECT_THAT(memory_.Read<float>(LentMemory::kOutput, 2), ElementsAre(1, 2));
  }
  // The place for an output is the input's own.
  ASSERT_EQ(memory_.Call("wasinn_ext_0.set_output", {context, 0, LentMemory::kData + 4, 8, LentMemory::kWritten}),
            kSuccess);
  memory_.Write<float>(LentMemory::kData, {3, 4});
  ASSERT_EQ(memory_.Call("compute", {context}), kSuccess);
  EXPECT_THAT(memory_.Read<float>(LentMemory::kData, 3), ElementsAre(3, 3, 4));
  EXPECT_EQ(Copies(), 0u);
  // A compute on a copy shows its own output again.
  ExpectLentAt(LentMemory::kData + 132, false, "copied", context);
}

// The tensor's description, the output's place and its size lie in the input itself.
TEST_F(LentInput, EverythingMayLieInOnePlace) {
  const uint32_t place = LentMemory::kData, context = NewContext("in x u8 32\n");
  memory_.Write<uint32_t>(place, {place + 20, 1, kU8, place, 32, 32});
  ASSERT_EQ(memory_.Call("set_input", {context, 0, place}), kSuccess) << log_.Last();
  ASSERT_EQ(memory_.Call("compute", {context}), kSuccess);
  ASSERT_EQ(memory_.Call("get_output", {context, 0, place, 32, place + 4}), kSuccess);
  EXPECT_THAT(memory_.Read<uint32_t>(place, 4), ElementsAre(place + 20, 32, kU8, place)) << "the size is written last";
  EXPECT_EQ(memory_.Call("compute", {context}), kSuccess) << "what the description was does not matter any more";
  EXPECT_EQ(Copies(), 0u);
}

TEST_F(LentInput, OfAPipelineIsReadInPlace) {
  host_ = EchoHost(log_,
                   "[policy]\ninputs = 'by-reference'\n[models.p]\n"
                   "step = [{model_name = 'm', input_map = {x = 'i'}}, {model_name = 'm'}]\n");
  AddEchoModel(host_.get(), "m", "in x f32 2\n");
  Use(NewGuest(host_.get()));
  ExpectLentAt(LentMemory::kData, true, "the first step reads it", program_.NewContext("p"));
}

// A generation goes on after its first call has returned.
TEST_F(LentInput, IsCopiedForAGeneration) {
  const uint32_t context = NewContext("in x u8 -1\npieces 2\n");
  memory_.Write<uint8_t>(LentMemory::kData, {'a', 'b', 'c', 'd'});
  ASSERT_EQ(memory_.SetInput(context, 0, kU8, LentMemory::kData, 4, 4), kSuccess);
  EXPECT_EQ(Copies(), 0u);
  LentMemory other(program_.guest.get(), 8);
  EXPECT_EQ(other.Call("compute_single", {context}), kInvalidArgument);
  ASSERT_EQ(memory_.Call("compute_single", {context}), kSuccess) << log_.Last();
  EXPECT_EQ(Copies(), 1u);
  memory_.Move(LentMemory::kData + 4);
  memory_.Write<uint8_t>(LentMemory::kData, {'x', 'x', 'x', 'x'});
  ASSERT_EQ(memory_.Call("compute_single", {context}), kSuccess);
  ASSERT_EQ(memory_.Call("get_output_single", {context, 0, LentMemory::kOutput, 8, LentMemory::kWritten}), kSuccess);
  EXPECT_THAT(memory_.Read<char>(LentMemory::kOutput, 2), ElementsAre('c', 'd'));
}

// A loan that is refused has taken the input away from a generation that is under way.
TEST_F(LentInput, EndsAGenerationIfThereIsNoRoomForIt) {
  host_ = EchoHost(log_, "[policy]\ninputs = 'by-reference'\n[limits]\nmax_tensor_bytes = 64\n");
  Use(NewGuest(host_.get()));
  const uint32_t context = NewContext("in x u8 -1\npieces 2\n");
  memory_.Write<uint8_t>(LentMemory::kData + 4, {'a', 'b', 'c', 'd'});
  ASSERT_EQ(memory_.SetInput(context, 0, kU8, LentMemory::kData + 4, 4, 4), kSuccess);
  ASSERT_EQ(Copies(), 1u);
  ASSERT_EQ(memory_.Call("compute_single", {context}), kSuccess) << log_.Last();
  ASSERT_EQ(memory_.SetInput(context, 0, kU8, LentMemory::kData, 4, 4), kTooLarge);
  EXPECT_EQ(memory_.Call("compute_single", {context}), kInvalidArgument) << "the input is not set";
}

TEST_F(LentInput, TakesLittleOfTheQuota) {
  const uint32_t context = NewContext("in x f32 -1\n");
  const uint64_t before = Stats().tensor_bytes;
  for (int i = 0; i < 100; ++i) ASSERT_EQ(memory_.SetFloats(context, LentMemory::kData, 256), kSuccess);
  EXPECT_LT(Stats().tensor_bytes - before, 512u) << "and no more with each";
  EXPECT_GT(Stats().tensor_bytes, before);
  ASSERT_EQ(memory_.Call("finalize_execution_context", {context}), kSuccess);
  EXPECT_EQ(Stats().tensor_bytes, 0u);
}

}  // namespace
}  // namespace wasinn::testing
