// The requests and answers of a component behind a route.
#include "serve/routes/guest_response.h"
#include "support/test.h"

namespace wasinn::serve {
namespace {

TEST(HandlerRequest, HasWhatAGuestMaySee) {
  Request request(http::verb::post, "/a?b", 11);
  request.insert("Host", "h:1");
  request.insert("X-A", "1");
  request.insert("x-a", "2");
  request.insert("Connection", "close");
  request.insert("Expect", "100-continue");
  const std::string authority = AuthorityOf(request, {});
  const auto made = ToHttpRequest(request, "", authority, false);
  EXPECT_EQ(made.method, "POST");
  EXPECT_EQ(made.authority, "h:1");
  EXPECT_EQ(made.path_with_query, "/a?b");
  EXPECT_THAT(made.fields, ElementsAre(Pair("X-A", "1"), Pair("x-a", "2")));
  request.insert("Host", "other");
  EXPECT_THROW(ToHttpRequest(request, "", authority, false), Failure);
}

TEST(HandlerRequest, WithoutHostItIsForTheConnectionsEnd) {
  using boost::asio::ip::make_address;
  EXPECT_EQ(AuthorityOf(Request(), {.client = {}, .server = {make_address("127.0.0.1"), 80}}), "127.0.0.1:80");
  EXPECT_EQ(AuthorityOf(Request(), {.client = {}, .server = {make_address("::1"), 80}}), "[::1]:80");
}

class HandlerResponseTest : public ::testing::Test {
 protected:
  // The response to a header and a body.
  std::string WhyNot(unsigned status, const engines::HttpFields& fields, std::string_view body, bool is_head = false) {
    HandlerResponse response(budget_, 100, is_head, stream_);
    if (response.Begin(status, fields) && response.Write(body)) response.End();
    return response.Take() ? "" : response.WhyNone("g").text;
  }

  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(1000);
  HandlerStream stream_{nullptr, budget_, 100, nullptr};
};

TEST_F(HandlerResponseTest, IsWholeOnlyAfterItsEnd) {
  HandlerResponse response(budget_, 100, false, stream_);
  EXPECT_TRUE(response.Begin(201, {{"content-type", "a/b"}, {"x-a", "1"}, {"connection", "close"}}));
  EXPECT_TRUE(response.Write("ab"));
  EXPECT_TRUE(response.Write("c"));
  response.End();
  const auto taken = response.Take();
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->status, http::status::created);
  EXPECT_EQ(taken->content_type, "a/b");
  EXPECT_THAT(taken->headers, ElementsAre(Pair("x-a", "1")));
  EXPECT_EQ(taken->text, "abc");
  EXPECT_GE(taken->charge.bytes(), 3);

  HandlerResponse broken(budget_, 100, false, stream_);
  EXPECT_TRUE(broken.Begin(200, {}));
  EXPECT_TRUE(broken.Write("ab"));
  broken.Fail("went away\n");
  EXPECT_FALSE(broken.Take().has_value());
  const Response why = broken.WhyNone("/x");
  EXPECT_EQ(why.status, http::status::bad_gateway);
  EXPECT_THAT(why.text, HasSubstr("the guest of /x: it went away"));
}

TEST_F(HandlerResponseTest, IsHeldToWhatAServerPassesOn) {
  EXPECT_THAT(WhyNot(100, {}, ""), HasSubstr("not a known one"));
  EXPECT_THAT(WhyNot(200, {{"a b", "c"}}, ""), HasSubstr("is not valid"));
  EXPECT_THAT(WhyNot(200, {{"a", "b\r\nc: d"}}, ""), HasSubstr("is not valid"));
  const std::string long_value(8000, 'x');
  EXPECT_EQ(WhyNot(200, {{"a", long_value}, {"b", long_value}}, ""), "");
  EXPECT_THAT(WhyNot(200, {{"a", long_value}, {"b", long_value}, {"c", long_value}}, ""), HasSubstr("16384 bytes"));
  // Headers of the connection count, too, although no client sees them.
  EXPECT_THAT(WhyNot(200, {{"te", long_value}, {"te", long_value}, {"te", long_value}}, ""), HasSubstr("16384 bytes"));
  EXPECT_THAT(WhyNot(200, engines::HttpFields(129, {"a", "b"}), ""), HasSubstr("more than 128 headers"));
}

TEST_F(HandlerResponseTest, HasItsLengthInTheHeader) {
  EXPECT_EQ(WhyNot(200, {{"content-length", "3"}}, "abc"), "");
  EXPECT_THAT(WhyNot(200, {{"content-length", "4"}}, "abc"), HasSubstr("is 4, and its body has 3 bytes"));
  EXPECT_THAT(WhyNot(200, {{"content-length", "x"}}, "abc"), HasSubstr("not a number"));
  EXPECT_EQ(WhyNot(200, {{"content-length", "4"}}, "", true), "");
  HandlerResponse to_head(budget_, 100, true, stream_);
  EXPECT_TRUE(to_head.Begin(200, {{"content-length", "4"}}));
  to_head.End();
  const auto taken = to_head.Take();
  ASSERT_TRUE(taken.has_value());
  EXPECT_THAT(taken->headers, ElementsAre(Pair("Content-Length", "4")));
}

TEST_F(HandlerResponseTest, HasNoMoreThanItMayHold) {
  EXPECT_EQ(WhyNot(200, {}, std::string(100, 'x')), "");
  EXPECT_THAT(WhyNot(200, {}, std::string(101, 'x')), HasSubstr("more than 100 bytes"));
  budget_ = std::make_shared<MemoryBudget>(10);
  EXPECT_THAT(WhyNot(200, {}, std::string(50, 'x')), HasSubstr("their limit of memory"));
}

TEST_F(HandlerResponseTest, EventsGoToTheStream) {
  const auto streams = [this](unsigned status, const engines::HttpFields& fields, bool is_head = false) {
    HandlerResponse response(budget_, 100, is_head, stream_);
    EXPECT_TRUE(response.Begin(status, fields));
    return response.is_stream();
  };
  EXPECT_TRUE(streams(200, {{"content-type", "text/event-stream"}}));
  EXPECT_TRUE(streams(404, {{"content-type", "Application/X-NDJSON; charset=utf-8"}}));
  EXPECT_FALSE(streams(200, {{"content-type", "text/event-streams"}}));
  EXPECT_FALSE(streams(200, {{"content-type", "text/event-stream"}, {"content-length", "1"}}));
  EXPECT_FALSE(streams(204, {{"content-type", "text/event-stream"}}));
  EXPECT_FALSE(streams(200, {{"content-type", "text/event-stream"}}, true));
}

TEST_F(HandlerResponseTest, AStreamHoldsNoMoreThanThereIsRoomFor) {
  HandlerResponse response(budget_, 100, false, stream_);
  EXPECT_TRUE(response.Begin(200, {{"content-type", "text/event-stream"}}));
  EXPECT_TRUE(response.Write(std::string(60, 'x')));
  EXPECT_EQ(budget_->held(), 2 * 60);
  EXPECT_FALSE(response.Write(std::string(60, 'x')));
  EXPECT_THAT(response.WhyNone("g").text, HasSubstr("it wrote more than 100 bytes"));
}

}  // namespace
}  // namespace wasinn::serve
