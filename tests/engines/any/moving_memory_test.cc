// Memory that is another one at each call, that grows or changes during calls, and that goes as soon as the guest is
// closed.
#include "engines/any/plain_test.h"
#include "support/gate.h"

namespace wasinn::testing {
namespace {

constexpr uint64_t kPageBytes = 64 << 10;
constexpr char kWitxModule[] = "wasi_ephemeral_nn", kExtModule[] = "wasinn_ext_0";

#ifdef __SANITIZE_THREAD__
constexpr bool kRacesAreReported = true;
#else
constexpr bool kRacesAreReported = false;
#endif

class MovingMemory : public PlainTest {
 protected:
  static uint32_t Read(const wasinn_memory& memory, uint32_t address) {
    uint32_t word = 0;
    std::memcpy(&word, memory.base + address, sizeof word);
    return word;
  }
};

// Memory of earlier calls is not read any more: it is gone.
TEST_F(MovingMemory, AnotherOneAtEachCall) {
  const auto program = NewGuest();
  uint64_t size = kPageBytes + 1;
  uint32_t graph = 0, context = 0;
  const auto call = [&](const char* module, const char* name, Args args) {
    const PlainMemory memory(size += 4097);
    program->Fill(memory.View());
    EXPECT_EQ(program->Call(Find(module, name), memory.View(), args), kSuccess) << name;
    const std::string output(reinterpret_cast<char*>(memory.base()) + place::kBuffer,
                             std::min(Read(memory.View(), place::kWritten), place::kBufferSize));
    return std::pair(Read(memory.View(), place::kOut), output);
  };
  graph = call(kWitxModule, "load", {place::kBuilders, 1, kGgmlEncoding, 0, place::kOut}).first;
  context = call(kWitxModule, "init_execution_context", {graph, place::kOut}).first;
  for (int i = 0; i < 10; ++i) {
    call(kWitxModule, "set_input", {context, 0, place::kTensor});
    call(kWitxModule, "compute", {context});
    const Args get = {context, 0, place::kBuffer, place::kBufferSize, place::kWritten};
    EXPECT_TRUE(call(kWitxModule, "get_output", get).second == expected_);
  }
  // The place of an output is an offset, into the memory of the compute.
  call(kExtModule, "set_output", {context, 0, place::kBuffer, place::kBufferSize, place::kWritten});
  EXPECT_TRUE(call(kWitxModule, "compute", {context}).second == expected_);
}

// An output's place that was good, in a memory that is smaller by now, or none.
TEST_F(MovingMemory, SmallerWhenTheOutputIsWritten) {
  const auto program = NewGuest();
  const wasinn_function &set_output = Find(kExtModule, "set_output"), &compute = Find(kWitxModule, "compute");
  const PlainMemory large(uint64_t{4} << 30), small(place::kData);
  for (const uint32_t far : {place::kBuffer, 0x7fffff00u, 0xfffff000u, 0xfffffffcu}) {
    program->Fill(large.View());
    const uint32_t room = std::min<uint32_t>(place::kBufferSize, 0xfffffff0u - std::min(far, 0xfffffff0u));
    EXPECT_EQ(program->Call(set_output, large.View(), {program->context(), 0, far, room, place::kWritten}), kSuccess);
    const wasinn_memory none = {};
    EXPECT_EQ(program->Call(compute, none, {program->context()}), kMissingMemory);
    EXPECT_EQ(program->Call(compute, small.View(), {program->context()}), kInvalidArgument);
    EXPECT_EQ(program->Call(compute, large.View(), {program->context()}), room == 0 ? kTooLarge : kSuccess);
    EXPECT_TRUE(small.SlackIsIntact());
  }
  EXPECT_TRUE(program->Infer() == expected_);
}

// One thread grows the memory, the guest calls every function with what lies at the end that it knows of.
TEST_F(MovingMemory, GrowsDuringCalls) {
  constexpr size_t kPages = 400;
  GrowingMemory memory(kPages);
  std::atomic<size_t> pages = 1;
  std::atomic<bool> has_looked = false;
  memory.Grow(1);
  std::thread grower([&] {
    for (size_t next = 2; next <= kPages; ++next) {
      if (next == kPages) has_looked.wait(false);  // so that the guest sees two sizes or more
      memory.Grow(next);
      pages = next;
      std::this_thread::yield();
    }
  });
  auto program = NewGuest();
  size_t seen = 0, sizes = 0;
  for (bool last = false; !last;) {
    last = pages == kPages;
    const size_t now = pages;
    sizes += now != seen;
    seen = now;
    has_looked = true;
    has_looked.notify_one();
    const wasinn_memory view = {sizeof(wasinn_memory), WASINN_MEMORY_SHARED, memory.base(), now * GrowingMemory::kPage};
    const auto end = static_cast<uint32_t>(view.size);
    program->Fill(view);
    for (const wasinn_function& function : AllFunctions()) {
      Args args = program->Honest(function);
      EXPECT_EQ(program->Call(function, view, args), program->Expected(function)) << function.name;
      args[std::strlen(function.params) - 1] = end - 3;  // where most have the place for a result
      EXPECT_TRUE(IsDocumented(program->Call(function, view, args))) << function.name;
      program = NewGuest();
    }
  }
  grower.join();
  EXPECT_GT(sizes, 1u);
  EXPECT_TRUE(program->Infer() == expected_);
}

// Another thread of the guest writes good and bad values into everything that calls read, all the time.
TEST_F(MovingMemory, ChangesDuringCalls) {
  if (kRacesAreReported) GTEST_SKIP() << "these races are the guest's, and ThreadSanitizer would report them";
  const PlainMemory memory(2 * kPageBytes);
  const wasinn_memory view = memory.View(WASINN_MEMORY_SHARED);
  auto program = NewGuest();
  program->Fill(view);
  const std::vector<uint8_t> good(view.base, view.base + place::kRecordsEnd);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    const uint32_t bad[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff, 2 * kPageBytes - 4, 2 * kPageBytes};
    for (size_t round = 0; !stop; ++round) {
      for (uint32_t at = place::kRecords; at < place::kRecordsEnd; at += 4) {
        auto* word = reinterpret_cast<volatile uint32_t*>(view.base + at);
        uint32_t old = 0;
        std::memcpy(&old, good.data() + at, sizeof old);
        *word = bad[(round + at / 4) % std::size(bad)];
        *word = old;
      }
    }
  });
  // Until each function that reads records has met both.
  size_t good_answers = 0, bad_answers = 0, calls = 0, rounds = 0;
  while (calls < 20'000 || good_answers == 0 || bad_answers == 0) {
    for (const wasinn_function& function : AllFunctions()) {
      const uint32_t error = program->Call(function, view, program->Honest(function));
      ASSERT_TRUE(IsDocumented(error)) << function.name << " answers " << error;
      if (std::strcmp(function.name, "set_input") == 0) ++(error == kSuccess ? good_answers : bad_answers);
      ++calls;
    }
    if (++rounds % 2 == 0) {  // while there are fewer graphs than it may have
      EXPECT_TRUE(program->Infer() == expected_);
      program = NewGuest();
    }
  }
  stop = true;
  writer.join();
  EXPECT_TRUE(memory.SlackIsIntact());
  EXPECT_TRUE(program->Infer() == expected_);
}

// A model is copied before anything reads it.
TEST_F(MovingMemory, ChangesWhileAModelIsLoaded) {
  if (kRacesAreReported) GTEST_SKIP() << "these races are the guest's, and ThreadSanitizer would report them";
  const Gate gate;
  const HostPtr host = EchoHost(log_, gate.BackendOpen());
  EchoProgram program(host.get());
  auto context = std::async(std::launch::async, [&] { return program.Open("in x u8 3\n"); });
  gate.Await();  // the load has begun, but its backend has not seen the model
  std::ranges::fill(program.memory(), uint8_t{0});
  gate.Open();
  EXPECT_EQ(program.Infer<uint8_t>(context.get(), {1, 2, 3}), std::vector<uint8_t>({1, 2, 3}));
}

// Memory may go as soon as close has returned, whatever its threads were calling.
TEST_F(MovingMemory, GoesAfterClose) {
  for (int round = 0; round < 20; ++round) {
    const auto program = NewGuest();
    constexpr int kThreads = 3;
    std::vector<std::unique_ptr<PlainMemory>> memories;
    std::vector<std::thread> threads;
    std::atomic<int> started = 0;
    for (int i = 0; i < kThreads; ++i) {
      memories.push_back(std::make_unique<PlainMemory>(kPageBytes + static_cast<uint64_t>(i)));
      program->Fill(memories.back()->View());
      threads.emplace_back([&, view = memories.back()->View(), i] {
        ++started;
        const std::vector<wasinn_function> functions = AllFunctions();
        size_t closed = 0;  // in a row
        for (size_t n = static_cast<size_t>(i); closed < functions.size(); ++n) {
          const wasinn_function& function = functions[n % functions.size()];
          const uint32_t error = program->Call(function, view, program->Honest(function));
          EXPECT_TRUE(IsDocumented(error)) << function.name;
          closed = error == kRuntimeError ? closed + 1 : 0;
        }
      });
    }
    while (started < kThreads) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(round % 5));
    wasinn_guest_close(program->guest());
    memories.clear();
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(NewGuest()->Infer() == expected_);
  }
}

}  // namespace
}  // namespace wasinn::testing
