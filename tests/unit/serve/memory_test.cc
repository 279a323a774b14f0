// The memory of requests: it is charged to a budget as it comes, and given back.
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/system/errc.hpp>

#include "serve/tenants/memory_budget.h"
#include "support/test.h"

namespace wasinn::serve {
namespace {

namespace http = boost::beast::http;

std::shared_ptr<MemoryBudget> Budget(uint64_t most) { return std::make_shared<MemoryBudget>(most); }

// Whether so much is left, which is given back at once.
bool HasLeft(const std::shared_ptr<MemoryBudget>& budget, uint64_t bytes) {
  return Charge(budget).Add(bytes) && !Charge(budget).Add(bytes + 1);
}

TEST(Charge, TakesWhatIsLeftAndNoMore) {
  const auto budget = Budget(10);
  Charge one(budget), other(budget);
  EXPECT_TRUE(one.Add(6));
  EXPECT_FALSE(other.Add(5));
  EXPECT_EQ(other.bytes(), 0u);
  EXPECT_TRUE(other.Add(4));
  EXPECT_TRUE(other.Add(0));
  EXPECT_FALSE(one.Add(1));
  EXPECT_EQ(one.bytes(), 6u);
}

TEST(Charge, NumbersThatWrapAreMoreThanThereIs) {
  const auto budget = Budget(10);
  Charge charge(budget);
  EXPECT_TRUE(charge.Add(6));
  EXPECT_FALSE(charge.Add(UINT64_MAX));
  EXPECT_FALSE(charge.Add(UINT64_MAX - 5));
  EXPECT_EQ(charge.bytes(), 6u);
  EXPECT_TRUE(HasLeft(budget, 4));
}

TEST(Charge, GivesBackWhatItHasNoMore) {
  const auto budget = Budget(10);
  {
    Charge charge(budget);
    EXPECT_TRUE(charge.Add(10));
    charge.ShrinkTo(11);
    EXPECT_EQ(charge.bytes(), 10u);
    charge.ShrinkTo(3);
    EXPECT_EQ(charge.bytes(), 3u);
    EXPECT_TRUE(HasLeft(budget, 7));
  }
  EXPECT_TRUE(HasLeft(budget, 10));
}

TEST(Charge, IsGivenBackOnceWhereverItGoes) {
  const auto budget = Budget(10);
  Charge last;
  {
    Charge first(budget);
    EXPECT_TRUE(first.Add(4));
    Charge second(std::move(first));
    EXPECT_EQ(second.bytes(), 4u);
    last = std::move(second);
  }
  EXPECT_TRUE(HasLeft(budget, 6));
  last = Charge();
  EXPECT_TRUE(HasLeft(budget, 10));
}

TEST(Charge, OutlivesWhoeverElseKnowsTheBudget) {
  auto budget = Budget(10);
  const std::weak_ptr<MemoryBudget> lives = budget;
  {
    Charge charge(budget);
    EXPECT_TRUE(charge.Add(10));
    budget.reset();
    EXPECT_FALSE(lives.expired());
  }
  EXPECT_TRUE(lives.expired());
}

TEST(Charge, OfNothingHasNoRoom) {
  Charge charge;
  EXPECT_TRUE(charge.Add(0));
  EXPECT_FALSE(charge.Add(1));
  charge.ShrinkTo(0);
  EXPECT_EQ(charge.bytes(), 0u);
}

// Bytes stay in place while their memory grows, and are followed by bytes that may be read.
TEST(RequestBytes, GrowAndKeepWhatCame) {
  const auto budget = Budget(1u << 20);
  RequestBytes bytes{Charge(budget)};
  std::string expected;
  for (size_t size = 1; size < 10'000; size = 2 * size + 1) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    ASSERT_TRUE(bytes.Append(piece.data(), piece.size()));
    expected += piece;
    ASSERT_EQ(bytes.view(), expected);
    ASSERT_EQ(bytes.charge().bytes(), expected.size());
  }
  auto* behind = const_cast<char*>(bytes.view().data()) + bytes.size();
  std::fill_n(behind, RequestBytes::kPadding, '\0');  // which a sanitizer looks at
  bytes = RequestBytes();
  EXPECT_TRUE(HasLeft(budget, 1u << 20));
}

TEST(RequestBytes, StayWhereTheyHaveRoom) {
  RequestBytes bytes{Charge(Budget(100))};
  ASSERT_TRUE(bytes.Reserve(100));
  const char* const here = bytes.view().data();
  EXPECT_EQ(bytes.charge().bytes(), 0u);  // the memory is the system's until bytes come
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(bytes.Append("x", 1));
  EXPECT_EQ(bytes.view().data(), here);
}

TEST(RequestBytes, EndWithTheBudget) {
  const auto budget = Budget(5);
  RequestBytes bytes{Charge(budget)};
  EXPECT_TRUE(bytes.Append("abc", 3));
  EXPECT_FALSE(bytes.Append("def", 3));
  EXPECT_EQ(bytes.view(), "abc");
  EXPECT_EQ(bytes.charge().bytes(), 3u);
  EXPECT_TRUE(bytes.Append("de", 2));
  EXPECT_EQ(bytes.view(), "abcde");
}

// Gives a parser all of a request, and returns why it ended before.
boost::beast::error_code Put(http::request_parser<RequestBody>& parser, std::string_view request) {
  boost::beast::error_code error;
  parser.eager(true);
  while (!request.empty() && !error && !parser.is_done()) {
    request.remove_prefix(parser.put(boost::asio::buffer(request), error));
  }
  return error;
}

TEST(RequestBody, IsChargedAsItArrivesWhateverItsHeaderSays) {
  constexpr std::string_view kHead = "POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n";
  const auto budget = Budget(5);
  http::request_parser<RequestBody> parser;
  parser.get().body() = RequestBytes(Charge(budget));
  EXPECT_FALSE(Put(parser, std::string(kHead) + "abc"));
  EXPECT_EQ(parser.get().body().view(), "abc");
  EXPECT_TRUE(HasLeft(budget, 2));
  EXPECT_EQ(Put(parser, "def"), make_error_code(boost::system::errc::not_enough_memory));
}

TEST(RequestBody, ComesInChunks) {
  http::request_parser<RequestBody> parser;
  parser.get().body() = RequestBytes(Charge(Budget(5)));
  EXPECT_FALSE(Put(parser, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n"));
  EXPECT_TRUE(parser.is_done());
  EXPECT_EQ(parser.get().body().view(), "abcde");
}

}  // namespace
}  // namespace wasinn::serve
