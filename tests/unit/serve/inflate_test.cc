// Compressed requests that cost time and bring nothing.
#include <zlib.h>

#include "serve/http/content_encoding.h"
#include "support/test.h"

namespace wasinn::serve {
namespace {

constexpr uint64_t kMax = 1u << 20;

std::string Gzip(std::string text) {
  constexpr int kGzip = 15 + 16, kUsualMemory = 8;
  z_stream state{};
  deflateInit2(&state, Z_BEST_SPEED, Z_DEFLATED, kGzip, kUsualMemory, Z_DEFAULT_STRATEGY);
  std::string to(deflateBound(&state, text.size()), '\0');
  state.next_in = reinterpret_cast<Bytef*>(text.data());
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(to.data());
  state.avail_out = static_cast<uInt>(to.size());
  deflate(&state, Z_FINISH);
  to.resize(state.total_out);
  deflateEnd(&state);
  return to;
}

Outcome<RequestBytes> InflateAll(const std::string& from, const Cancellation* cancellation = nullptr) {
  return Try([&] { return Inflate(from, kMax, std::make_shared<MemoryBudget>(kMax), cancellation); });
}

TEST(Inflate, TakesMembersAndPieces) {
  std::string text, all;
  for (uint32_t n = 1; text.size() < kMax / 4; n = n * 1664525 + 1013904223) text.push_back(static_cast<char>(n >> 24));
  for (const std::string& one : {text, std::string(), text}) all += Gzip(one);
  const auto inflated = InflateAll(all);
  ASSERT_TRUE(inflated) << inflated.error().message;
  EXPECT_EQ(inflated->view(), text + text);
}

TEST(Inflate, EndsOnceItIsCancelled) {
  Cancellation cancellation;
  cancellation.Cancel();
  const auto inflated = InflateAll(Gzip("text"), &cancellation);
  ASSERT_FALSE(inflated);
  EXPECT_EQ(inflated.error().code, WASINN_ERROR_UNAVAILABLE);
}

TEST(Inflate, RefusesManyEmptyMembers) {
  std::string all = Gzip("text");
  for (const std::string empty = Gzip(""); all.size() < kMax;) all += empty;
  const auto inflated = InflateAll(all);
  ASSERT_FALSE(inflated);
  EXPECT_EQ(inflated.error().message, "65536 bytes of the compressed request hold no data");
}

TEST(Inflate, RefusesManyEmptyBlocks) {
  std::string all = "\x78\x9c";
  while (all.size() < kMax) all.append("\0\0\0\xff\xff", 5);
  const auto inflated = InflateAll(all);
  ASSERT_FALSE(inflated);
  EXPECT_EQ(inflated.error().message, "65536 bytes of the compressed request hold no data");
}

}  // namespace
}  // namespace wasinn::serve
