// A host that runs out of memory while it decodes for many.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>

#include "backends/expect.h"
#include "backends/llama_models.h"
#include "backends/own_clock.h"

namespace {

// How many more allocations threads may have that are not spared; below 0: no end.
std::atomic<int64_t> left = -1;
thread_local bool is_spared = false;

bool MayAllocate() {
  if (is_spared) return true;
  int64_t now = left.load();
  while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
  }
  return now != 0;
}

}  // namespace

// Of the whole program, and of the libraries that it opens.
void* operator new(size_t bytes) {
  void* memory = MayAllocate() ? std::malloc(bytes) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t bytes, const std::nothrow_t& /*unused*/) noexcept {
  return MayAllocate() ? std::malloc(bytes) : nullptr;
}
// NOLINTBEGIN(clang-analyzer-cplusplus.NewDelete): what is deleted is freed once more only in its eyes
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*bytes*/) noexcept { std::free(memory); }
// NOLINTEND(clang-analyzer-cplusplus.NewDelete)

namespace wasinn::test {
namespace {

constexpr int64_t kNoEnd = -1;

class LlamaOutOfMemory : public ::testing::Test {
 protected:
  LlamaOutOfMemory() : model_(host_, TinyModel(), LlamaOptions(R"({"temp": 0, "n-predict": 3, "parallel": 2})")) {
    is_spared = true;
  }
  ~LlamaOutOfMemory() override {
    left = kNoEnd;
    is_spared = false;
  }

  const Host host_;
  const LoadedModel model_;
};

// Wherever it happens in the thread that decodes for all: whom it concerns gets an error, and the next compute is as if
// nothing had been.
TEST_F(LlamaOutOfMemory, IsReportedByTheDecodingThread) {
  Context context(model_);
  const std::string whole = Complete(&context, "the hen ate the oats");
  int failed = 0;
  bool enough = false;
  for (int64_t first = 0; !enough; first += 1 + first / 16) {
    // Another beginning, for all of it to be evaluated.
    ASSERT_TRUE(SetPrompt(&context, "oats"));
    left = first;
    const Result computed = context.Compute();
    enough = left.exchange(kNoEnd) > 0;
    EXPECT_EQ(computed.code, enough ? WASINN_OK : WASINN_ERROR_TOO_LARGE) << first << ": " << computed.message;
    failed += computed ? 0 : 1;
    EXPECT_EQ(Complete(&context, "the hen ate the oats"), whole) << first;
  }
  EXPECT_GT(failed, 0);
}

// One who waits for a place.
TEST_F(LlamaOutOfMemory, AFailedWaiterLeavesTheQueue) {
  Context first(model_), second(model_), third(model_), fourth(model_);
  for (Context* context : {&first, &second, &third, &fourth}) ASSERT_TRUE(SetPrompt(context, "the hen"));
  const std::string whole = Complete(&fourth);
  ASSERT_TRUE(first.Step());
  ASSERT_TRUE(second.Step());
  OwnClock later;
  later.Turn(std::chrono::seconds(3));
  // Until it has all that it needs, which comes with a place that was taken back.
  Result computed = {.code = WASINN_ERROR_TOO_LARGE};
  for (int64_t until = 0; computed.code == WASINN_ERROR_TOO_LARGE; ++until) {
    left = until;
    is_spared = false;
    computed = third.Compute();
    is_spared = true;
    left = kNoEnd;
  }
  EXPECT_TRUE(computed) << computed.message;
  EXPECT_EQ(Complete(&fourth), whole);
}

// A cancel, for whose words there is no memory.
TEST_F(LlamaOutOfMemory, IsNotNeededForACancel) {
  Context context(model_);
  const std::string whole = Complete(&context, "the hen ate the oats");
  std::atomic<bool> done = false;
  std::thread watchdog([&] {
    is_spared = true;
    while (!done) context.Cancel();
  });
  for (int i = 0; i < 200; ++i) {
    left = 0;
    EXPECT_FALSE(context.Compute());
    left = kNoEnd;
  }
  done = true;
  watchdog.join();
  EXPECT_EQ(Complete(&context), whole);
}

}  // namespace
}  // namespace wasinn::test
