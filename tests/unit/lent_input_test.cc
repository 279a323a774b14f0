// Inputs that stay in guest memory (policy.inputs = "by-reference"): when they do, what a compute reads, and what a
// guest cannot do with it. A memory that moves leaves freed memory behind, so that sanitizers see who still looks
// there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/echo.h"

namespace wasinn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kByReference[] = "[policy]\ninputs = 'by-reference'\n";

// A guest's memory, where a test wants it, of the identity and kind that it wants.
class Memory {
 public:
  static constexpr size_t kAlign = 64;

  explicit Memory(wasinn_process* process, uint64_t id = 7, size_t size = 4096) : process_(process), id_(id) {
    Move(size);
  }
  // Elsewhere, with what it holds, and the old place is gone; `skew` bytes behind an aligned address.
  void Move(size_t size, size_t skew = 0) {
    auto storage = std::make_unique<uint8_t[]>(size + 2 * kAlign);
    void* aligned = storage.get();
    size_t space = size + 2 * kAlign;
    auto* base = static_cast<uint8_t*>(std::align(kAlign, size + kAlign, aligned, space)) + skew;
    if (storage_ != nullptr) std::memcpy(base, base_, std::min(size, size_));
    storage_ = std::move(storage);
    base_ = base;
    size_ = size;
  }
  void Share() { flags_ = WASINN_MEMORY_SHARED; }
  void BeOlder() { struct_size_ = offsetof(wasinn_memory, id); }
  void ShrinkTo(size_t size) { size_ = size; }
  size_t size() const { return size_; }

  uint32_t Call(std::string_view function, std::vector<uint64_t> args) {
    size_t count = 0;
    const wasinn_function* functions = wasinn_functions(&count);
    const bool own = function.starts_with("set_output") || function.starts_with("set_input_by");
    const std::string_view module = own ? "wasinn_ext_0" : module_;
    for (size_t i = 0; i < count; ++i) {
      if (function != functions[i].name || module != functions[i].module) continue;
      const wasinn_memory memory{struct_size_, flags_, base_, size_, {id_, 0}};
      return functions[i].call(process_, &memory, args.data());
    }
    ADD_FAILURE() << "no function " << function;
    return ~0u;
  }
  void UseLegacyModule() { module_ = "wasi_nn"; }

  template <typename T>
  void Write(uint32_t address, const std::vector<T>& values) {
    ASSERT_LE(address + values.size() * sizeof(T), size_);
    std::memcpy(base_ + address, values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> Read(uint32_t address, size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), base_ + address, count * sizeof(T));
    return values;
  }
  // The rank is 1. The descriptor lies at kDescriptor.
  uint32_t SetInput(uint32_t context, uint32_t index, uint8_t type, uint32_t data, uint32_t elements, uint32_t bytes) {
    Write<uint32_t>(kDims, {elements});
    Write<uint32_t>(kDescriptor, {kDims, 1, type, data, bytes});
    return Call("set_input", {context, index, kDescriptor});
  }
  uint32_t SetFloats(uint32_t context, uint32_t data, uint32_t count = 2, uint32_t index = 0) {
    return SetInput(context, index, kF32, data, count, count * 4);
  }
  uint32_t GetOutput(uint32_t context, uint32_t size = 8, uint32_t index = 0) {
    return Call("get_output", {context, index, kOutput, size, kWritten});
  }
  // Computes, and gives the two numbers of output 0; none after an error.
  std::vector<float> Compute(uint32_t context) {
    if (Call("compute", {context}) != kSuccess || GetOutput(context) != kSuccess) return {};
    return Read<float>(kOutput, 2);
  }

  static constexpr uint32_t kDims = 0, kDescriptor = 16, kWritten = 48, kOutput = 52, kData = 512;

 private:
  wasinn_process* process_;
  std::unique_ptr<uint8_t[]> storage_;
  uint8_t* base_ = nullptr;
  size_t size_ = 0;
  uint64_t id_;
  uint32_t flags_ = 0, struct_size_ = sizeof(wasinn_memory);
  std::string_view module_ = "wasi_ephemeral_nn";
};

class LentInput : public ::testing::Test {
 protected:
  uint32_t NewContext(std::string_view directives = "in x f32 2\n") {
    uint32_t graph = 0, context = 0;
    EXPECT_EQ(loader_.LoadBytes(EchoModel(directives), 5, graph), kSuccess);
    EXPECT_EQ(loader_.InitContext(graph, context), kSuccess);
    return context;
  }
  // How many copies of inputs the host has made since this was asked last.
  uint64_t Copies() {
    const uint64_t before = std::exchange(copies_, Stats().copies_in);
    return copies_ - before;
  }
  wasinn_process_stats Stats() const {
    wasinn_process_stats stats{};
    wasinn_process_statistics(process_.get(), &stats);
    return stats;
  }
  std::string LastLog() const { return log_.lines().empty() ? "" : log_.lines().back(); }
  void ExpectLentAt(uint32_t data, bool lent, const char* why, uint32_t context) {
    memory_.Write<float>(data, {1, 2});
    ASSERT_EQ(memory_.SetFloats(context, data), kSuccess) << why << LastLog();
    EXPECT_EQ(Copies(), lent ? 0u : 1u) << why;
    memory_.Write<float>(data, {3, 4});
    EXPECT_THAT(memory_.Compute(context), lent ? ElementsAre(3, 4) : ElementsAre(1, 2)) << why;
    EXPECT_EQ(Copies(), 0u) << why;
  }

  Log log_;
  HostPtr host_ = EchoHost(log_, kByReference);
  ProcessPtr process_ = NewProcess(host_.get());
  FakeGuest loader_{process_.get()};
  Memory memory_{process_.get()};
  uint64_t copies_ = 0;
};

TEST_F(LentInput, IsReadAtEachCompute) {
  const uint32_t context = NewContext();
  ExpectLentAt(Memory::kData, true, "first", context);
  memory_.Write<float>(Memory::kData, {5, 6});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(5, 6)) << "inputs stay set until set again";
  ExpectLentAt(Memory::kData + 64, true, "elsewhere", context);
  EXPECT_EQ(Stats().bytes_in, 0u);
  EXPECT_EQ(Stats().errors, 0u);
}

TEST_F(LentInput, IsOffByDefault) {
  const HostPtr host = EchoHost(log_);
  wasinn_policy policy{};
  wasinn_host_policy(host.get(), &policy);
  EXPECT_EQ(policy.inputs, WASINN_INPUTS_COPIED);
  process_ = NewProcess(host.get());
  loader_ = FakeGuest(process_.get());
  memory_ = Memory(process_.get());
  ExpectLentAt(Memory::kData, false, "the default", NewContext());
}

// A process may have another policy than its host; an older program's struct has no such field.
TEST_F(LentInput, IsUpToTheProcess) {
  wasinn_policy policy{};
  wasinn_host_policy(host_.get(), &policy);
  EXPECT_EQ(policy.inputs, WASINN_INPUTS_BY_REFERENCE);
  wasinn_process_options options{};
  options.struct_size = sizeof options;
  options.policy = &policy;
  for (const bool older : {true, false}) {
    policy.struct_size = older ? offsetof(wasinn_policy, inputs) : sizeof policy;
    process_ = NewProcess(host_.get(), &options);
    loader_ = FakeGuest(process_.get());
    memory_ = Memory(process_.get());
    copies_ = 0;
    ExpectLentAt(Memory::kData, !older, "as the policy says", NewContext());
  }
}

TEST_F(LentInput, AnUnknownWordIsAnError) {
  const ConfigPtr config(wasinn_config_new());
  StatusPtr status(wasinn_config_set(config.get(), "policy.inputs", "by-magic"));
  ASSERT_EQ(status, nullptr);
  wasinn_host* host = nullptr;
  status.reset(wasinn_host_new(config.get(), nullptr, nullptr, &host));
  ASSERT_NE(status, nullptr);
  EXPECT_THAT(wasinn_status_message(status.get()), HasSubstr("known are copied, by-reference"));
}

TEST_F(LentInput, WhatCannotBeReadInPlaceIsCopied) {
  const uint32_t context = NewContext();
  ExpectLentAt(Memory::kData + 4, false, "not aligned as the backend asks", context);
  const auto end = static_cast<uint32_t>(memory_.size());
  ExpectLentAt(end - 8, false, "the framework may read past the end of memory", context);
  ExpectLentAt(end - 64, false, "as may one with 56 bytes behind it", context);
  ExpectLentAt(end - 128, true, "here 120 are behind it", context);
  memory_.ShrinkTo(end - 56);
  ExpectLentAt(end - 128, true, "and here 64", context);
  memory_.ShrinkTo(end - 57);
  ExpectLentAt(end - 128, false, "and here 63", context);
  ExpectLentAt(Memory::kData, false, "not in place", NewContext("in x f32 2\nunbindable\n"));
}

TEST_F(LentInput, SharedAndUnknownMemoryIsCopied) {
  const uint32_t context = NewContext();
  memory_.Share();
  ExpectLentAt(Memory::kData, false, "shared", context);
  memory_ = Memory(process_.get(), 0);
  ExpectLentAt(Memory::kData, false, "the engine does not tell which memory it is", context);
  memory_ = Memory(process_.get());
  memory_.BeOlder();
  ExpectLentAt(Memory::kData, false, "an adapter that knows of no identity", context);
}

// What of an input's bytes is checked is checked once, in a copy.
TEST_F(LentInput, WhatIsCheckedIsCopied) {
  uint32_t context = NewContext("in x bool 2\n");
  memory_.Write<uint8_t>(Memory::kData, {0, 1});
  ASSERT_EQ(memory_.SetInput(context, 0, kU8, Memory::kData, 2, 2), kSuccess) << LastLog();
  EXPECT_EQ(Copies(), 1u);
  memory_.Write<uint8_t>(Memory::kData, {2, 2});
  ASSERT_EQ(memory_.Call("compute", {context}), kSuccess);
  ASSERT_EQ(memory_.GetOutput(context), kSuccess);
  EXPECT_THAT(memory_.Read<uint8_t>(Memory::kOutput, 2), ElementsAre(0, 1));
  EXPECT_EQ(memory_.SetInput(context, 0, kU8, Memory::kData, 2, 2), kInvalidArgument) << "2 is no bool";

  context = NewContext("in x u8 any opaque\n");
  Copies();
  memory_.Write<uint8_t>(Memory::kData, {'h', 'i'});
  ASSERT_EQ(memory_.SetInput(context, 0, kU8, Memory::kData, 1, 2), kSuccess);
  EXPECT_EQ(Copies(), 1u);
}

TEST_F(LentInput, IsRefusedFromAnotherMemory) {
  const uint32_t context = NewContext();
  memory_.Write<float>(Memory::kData, {1, 2});
  ASSERT_EQ(memory_.SetFloats(context, Memory::kData), kSuccess);
  Memory other(process_.get(), 8);
  other.Write<float>(Memory::kData, {6, 6});
  EXPECT_EQ(other.Call("compute", {context}), kInvalidArgument);
  EXPECT_THAT(LastLog(), HasSubstr("input 'x' was set by reference to 8 bytes at 0x200, which the memory of this call "
                                   "does not have"));
  EXPECT_EQ(other.GetOutput(context), kInvalidArgument) << "nothing is computed";
  EXPECT_THAT(memory_.Compute(context), ElementsAre(1, 2)) << "and nothing lost";
  memory_.Share();
  EXPECT_EQ(memory_.Call("compute", {context}), kInvalidArgument) << "it has become shared";
}

// No engine shrinks a memory; should one do so, or an adapter be wrong, nothing is read outside of it.
TEST_F(LentInput, IsRefusedWhereTheMemoryHasShrunk) {
  const uint32_t context = NewContext();
  memory_.Write<float>(Memory::kData, {1, 2});
  ASSERT_EQ(memory_.SetFloats(context, Memory::kData), kSuccess);
  for (const uint32_t size : {Memory::kData + 7, Memory::kData, 64u}) {
    memory_.Move(size);
    EXPECT_EQ(memory_.Call("compute", {context}), kInvalidArgument) << size;
  }
  memory_.Move(Memory::kData + 8);
  memory_.Write<float>(Memory::kData, {3, 4});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(3, 4)) << "the bytes are there, but none behind them";
  EXPECT_EQ(Copies(), 1u);
}

TEST_F(LentInput, IsFoundWhereAMemoryHasMovedTo) {
  const uint32_t context = NewContext();
  memory_.Write<float>(Memory::kData, {1, 2});
  ASSERT_EQ(memory_.SetFloats(context, Memory::kData), kSuccess);
  memory_.Move(1 << 16);
  EXPECT_THAT(memory_.Compute(context), ElementsAre(1, 2));
  memory_.Write<float>(Memory::kData, {3, 4});
  memory_.Move(1 << 17);
  EXPECT_THAT(memory_.Compute(context), ElementsAre(3, 4));
  EXPECT_EQ(Copies(), 0u);
  memory_.Move(1 << 17, 4);
  memory_.Write<float>(Memory::kData, {5, 6});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(5, 6)) << "where it cannot be read in place";
  EXPECT_THAT(memory_.Compute(context), ElementsAre(5, 6));
  EXPECT_EQ(Copies(), 2u) << "it is copied at each compute";
  memory_.Move(1 << 17);
  memory_.Write<float>(Memory::kData, {7, 8});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(7, 8));
  EXPECT_EQ(Copies(), 0u);
}

TEST_F(LentInput, GivesWayToACopy) {
  const uint32_t context = NewContext();
  memory_.Write<float>(Memory::kData, {1, 2});
  for (int i = 0; i < 3; ++i) {
    ExpectLentAt(Memory::kData, true, "lent", context);
    ExpectLentAt(Memory::kData + 68, false, "copied", context);
  }
  // One that is refused changes nothing.
  ASSERT_EQ(memory_.SetFloats(context, Memory::kData), kSuccess);
  EXPECT_EQ(memory_.SetFloats(context, Memory::kData, 3), kInvalidArgument);
  EXPECT_THAT(memory_.Compute(context), ElementsAre(3, 4));
}

TEST_F(LentInput, OneOfSeveralMayBeLent) {
  const uint32_t context = NewContext("in x f32 2\nin y f32 2\n");
  memory_.Write<float>(Memory::kData, {1, 2});
  memory_.Write<float>(Memory::kData + 68, {5, 6});
  ASSERT_EQ(memory_.SetFloats(context, Memory::kData), kSuccess);
  EXPECT_EQ(memory_.Call("compute", {context}), kInvalidArgument) << "y was not set";
  ASSERT_EQ(memory_.SetFloats(context, Memory::kData + 68, 2, 1), kSuccess);
  EXPECT_EQ(Copies(), 1u);
  memory_.Write<float>(Memory::kData, {3, 4});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(3, 4));
  ASSERT_EQ(memory_.GetOutput(context, 8, 1), kSuccess);
  EXPECT_THAT(memory_.Read<float>(Memory::kOutput, 2), ElementsAre(5, 6));
}

// By name, and of the module of WAMR's first header.
TEST_F(LentInput, WorksInEveryModuleOfCoreModules) {
  const uint32_t context = NewContext();
  memory_.Write<uint32_t>(Memory::kDims, {2});
  memory_.Write<uint32_t>(Memory::kDescriptor, {Memory::kDims, 1, kF32, Memory::kData, 8});
  memory_.Write<char>(Memory::kOutput, {'x'});
  ASSERT_EQ(memory_.Call("set_input_by_name", {context, Memory::kOutput, 1, Memory::kDescriptor}), kSuccess);
  memory_.Write<float>(Memory::kData, {1, 2});
  EXPECT_THAT(memory_.Compute(context), ElementsAre(1, 2));

  memory_.UseLegacyModule();
  memory_.Write<float>(Memory::kData, {0, 0});
  memory_.Write<uint32_t>(Memory::kDims, {2, Memory::kDims, 1});
  memory_.Write<uint32_t>(Memory::kDescriptor, {Memory::kDims + 4, 1, Memory::kData});
  ASSERT_EQ(memory_.Call("set_input", {context, 0, Memory::kDescriptor}), kSuccess) << LastLog();
  memory_.Write<float>(Memory::kData, {3, 4});
  memory_.Write<uint32_t>(Memory::kWritten, {8});
  ASSERT_EQ(memory_.Call("compute", {context}), kSuccess) << LastLog();
  ASSERT_EQ(memory_.Call("get_output", {context, 0, Memory::kOutput, Memory::kWritten}), kSuccess);
  EXPECT_THAT(memory_.Read<float>(Memory::kOutput, 2), ElementsAre(3, 4));
  EXPECT_EQ(Copies(), 0u);
}

// A framework that hands an input on as an output must not leave it in memory that goes.
TEST_F(LentInput, AnOutputOutlivesIt) {
  const uint32_t context = NewContext("in x f32 2\nalias\n");
  memory_.Write<float>(Memory::kData, {1, 2});
  ASSERT_EQ(memory_.SetFloats(context, Memory::kData), kSuccess);
  ASSERT_EQ(memory_.Call("compute", {context}), kSuccess);
  memory_.Write<float>(Memory::kData, {9, 9});
  memory_.Move(1 << 16);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(memory_.GetOutput(context), kSuccess);
    EXPECT_THAT(memory_.Read<float>(Memory::kOutput, 2), ElementsAre(1, 2));
  }
  // The place for an output is the input's own.
  ASSERT_EQ(memory_.Call("set_output", {context, 0, Memory::kData + 4, 8, Memory::kWritten}), kSuccess);
  memory_.Write<float>(Memory::kData, {3, 4});
  ASSERT_EQ(memory_.Call("compute", {context}), kSuccess);
  EXPECT_THAT(memory_.Read<float>(Memory::kData, 3), ElementsAre(3, 3, 4));
  EXPECT_EQ(Copies(), 0u);
  // A compute on a copy shows its own output again.
  ExpectLentAt(Memory::kData + 132, false, "copied", context);
}

// A generation goes on after its first call has returned.
TEST_F(LentInput, IsCopiedForAGeneration) {
  const uint32_t context = NewContext("in x u8 -1\npieces 2\n");
  memory_.Write<uint8_t>(Memory::kData, {'a', 'b', 'c', 'd'});
  ASSERT_EQ(memory_.SetInput(context, 0, kU8, Memory::kData, 4, 4), kSuccess);
  EXPECT_EQ(Copies(), 0u);
  Memory other(process_.get(), 8);
  EXPECT_EQ(other.Call("compute_single", {context}), kInvalidArgument);
  ASSERT_EQ(memory_.Call("compute_single", {context}), kSuccess) << LastLog();
  EXPECT_EQ(Copies(), 1u);
  memory_.Move(Memory::kData + 4);
  memory_.Write<uint8_t>(Memory::kData, {'x', 'x', 'x', 'x'});
  ASSERT_EQ(memory_.Call("compute_single", {context}), kSuccess);
  ASSERT_EQ(memory_.Call("get_output_single", {context, 0, Memory::kOutput, 8, Memory::kWritten}), kSuccess);
  EXPECT_THAT(memory_.Read<char>(Memory::kOutput, 2), ElementsAre('c', 'd'));
}

TEST_F(LentInput, TakesNothingOfTheQuotaButALittle) {
  const uint32_t context = NewContext("in x f32 -1\n");
  const uint64_t before = Stats().tensor_bytes;
  for (int i = 0; i < 100; ++i) ASSERT_EQ(memory_.SetFloats(context, Memory::kData, 256), kSuccess);
  EXPECT_LT(Stats().tensor_bytes - before, 512u) << "and no more with each";
  EXPECT_GT(Stats().tensor_bytes, before);
  ASSERT_EQ(memory_.Call("finalize_execution_context", {context}), kSuccess);
  EXPECT_EQ(Stats().tensor_bytes, 0u);
  const uint32_t refusing = NewContext("in x f32 -1\nunbindable\n");
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(memory_.SetFloats(refusing, Memory::kData, 2), kSuccess);
    EXPECT_EQ(Stats().tensor_bytes, 8u) << "that of the copy";
  }
}

// Whoever ends a compute waits until it is out of the guest's memory.
class LentInputInFlight : public LentInput {
 protected:
  // A compute of 300 ms that cannot be cancelled, under way.
  void Begin() {
    context_ = NewContext("in x f32 2\ndelay 300\ndeaf\n");
    memory_.Write<float>(Memory::kData, {1, 2});
    ASSERT_EQ(memory_.SetFloats(context_, Memory::kData), kSuccess);
    thread_ = std::thread([this] {
      error_ = memory_.Call("compute", {context_});
      returned_ = true;
    });
    while (Stats().computes == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  std::thread thread_;
  std::atomic<bool> returned_{false};
  std::atomic<uint32_t> error_{~0u};
  uint32_t context_ = 0;
};

TEST_F(LentInputInFlight, CloseWaits) {
  const auto start = std::chrono::steady_clock::now();
  Begin();
  wasinn_process_close(process_.get());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(300));
  memory_.Move(64);  // nobody looks there any more
  thread_.join();
  EXPECT_EQ(error_, kRuntimeError);
}

TEST_F(LentInputInFlight, FinalizeLeavesItToTheCall) {
  Begin();
  EXPECT_EQ(Memory(process_.get(), 8).Call("finalize_execution_context", {context_}), kSuccess);
  EXPECT_FALSE(returned_);
  thread_.join();
  EXPECT_EQ(error_, kRuntimeError) << "cancelled";
  memory_.Move(64);
  EXPECT_EQ(Stats().tensor_bytes, 0u);
}

TEST_F(LentInputInFlight, AnotherThreadIsTold) {
  Begin();
  Memory other(process_.get(), 8);
  EXPECT_EQ(other.Call("compute", {context_}), kBusy);
  EXPECT_EQ(other.SetFloats(context_, Memory::kData), kBusy);
  thread_.join();
  EXPECT_EQ(error_, kSuccess);
}

}  // namespace
}  // namespace wasinn::testing
