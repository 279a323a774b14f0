// A host that runs out of memory while it decodes for many; and memory that no guest pays for.
#include <malloc.h>

#include <new>

#include "backends/expect.h"
#include "backends/llama_decoder.h"
#include "backends/llama_models.h"
#include "backends/own_clock.h"

namespace {

// How many more allocations threads may have that are not spared; below 0: no end.
std::atomic<int64_t> left = -1;
thread_local bool is_spared = false;
std::atomic<int64_t> live = 0;  // bytes of C++

bool MayAllocate() {
  if (is_spared) return true;
  int64_t now = left.load();
  while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
  }
  return now != 0;
}

void* Allocate(size_t bytes) {
  void* memory = MayAllocate() ? std::malloc(bytes) : nullptr;
  live += static_cast<int64_t>(malloc_usable_size(memory));
  return memory;
}

void Free(void* memory) {
  live -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

// In the whole program, and in the libraries that it opens.
void* operator new(size_t bytes) {
  void* memory = Allocate(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t bytes, const std::nothrow_t& /*unused*/) noexcept { return Allocate(bytes); }
// NOLINTBEGIN(clang-analyzer-cplusplus.NewDelete): what is deleted is freed once more only in its eyes
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t /*bytes*/) noexcept { Free(memory); }
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

// Wherever it happens in the thread that decodes for all: the affected guest gets an error, and the next compute is as if
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

// A guest that waits for a place.
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

// Long texts that were read and then refused, and short ones after them, of which the guest pays the length.
TEST(LlamaMemory, TextsThatNoGuestPaysForAreNotKept) {
  constexpr int64_t kTexts = 64, kLong = 8000, kBytes = kTexts * kLong * static_cast<int64_t>(sizeof(int32_t));
  const Host host;
  const Model model(host, TinyLlamaWriter({.context = 10240}).Write(), LlamaOptions(R"({"ctx-size": 10240})"));
  Account guest;
  Context context(model, 0, "{}", &guest);
  const auto decode = [&context](const char* options, int64_t length) {
    const Tokens tokens(static_cast<size_t>(kTexts * length), 5);
    EXPECT_TRUE(SetOptions(&context, options));
    EXPECT_TRUE(context.Set(kTokens, MakeTensor(WASINN_DTYPE_I32, {kTexts, length}, tokens)));
    return context.Compute();
  };
  const auto decode_short = [&] {
    const Result decoded = decode(R"({"decode": true, "ctx-size": 256})", 2);
    EXPECT_TRUE(decoded) << decoded.message;
  };
  decode_short();
  const int64_t before = live;
  guest.limit = guest.used + kBytes;
  EXPECT_EQ(decode(R"({"decode": true})", kLong).code, WASINN_ERROR_TOO_LARGE);
  guest.limit = UINT64_MAX;
  decode_short();
  EXPECT_LT(live - before, kBytes / 2);
}

}  // namespace
}  // namespace wasinn::test
