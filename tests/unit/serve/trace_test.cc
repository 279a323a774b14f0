// Headers of W3C's Trace Context, and their continuation.
#include "serve/metrics/trace.h"
#include "support/test.h"

namespace wasinn::serve {
namespace {

using Header = boost::beast::http::request_header<>;

const std::string kTrace = "0af7651916cd43dd8448eb211c80319c", kSpan = "b7ad6b7169203331";
const std::string kParent = "00-" + kTrace + "-" + kSpan + "-01";

TEST(Trace, GoesOn) {
  const Trace trace = ContinueTrace(kParent);
  EXPECT_TRUE(trace.is_continued());
  EXPECT_EQ(trace.trace_id(), kTrace);
  EXPECT_EQ(trace.parent_id(), kSpan);
  EXPECT_EQ(trace.ToHeader(), "00-" + kTrace + "-" + trace.span_id() + "-01");
  EXPECT_NE(trace.span_id(), kSpan);
}

TEST(Trace, OfLaterVersions) {
  for (const char* more : {"", "-", "-more"}) {
    const Trace trace = ContinueTrace("cc-" + kTrace + "-" + kSpan + "-ff" + more);
    EXPECT_EQ(trace.trace_id(), kTrace) << more;
    EXPECT_EQ(trace.ToHeader(), "00-" + kTrace + "-" + trace.span_id() + "-03") << more;
  }
}

TEST(Trace, WhatIsNone) {
  const std::string zeros(32, '0');
  std::string upper = kParent;
  upper[5] = 'F';
  std::string with_nul = kParent;
  with_nul[10] = '\0';
  for (const std::string& value :
       {std::string(), std::string("junk"), "ff" + kParent.substr(2), "0g" + kParent.substr(2), kParent + "-more",
        kParent + "0", kParent.substr(0, 54), " " + kParent, upper, with_nul, "00-" + zeros + "-" + kSpan + "-01",
        "00-" + kTrace + "-" + zeros.substr(16) + "-01", "00_" + kParent.substr(3), "cc" + kParent.substr(2) + "0",
        "00-" + kTrace + "-" + kSpan + "-0x", std::string(100'000, '0')}) {
    const Trace trace = ContinueTrace(value);
    EXPECT_FALSE(trace.is_continued()) << value.substr(0, 80);
    EXPECT_NE(trace.trace_id(), kTrace) << value.substr(0, 80);
    EXPECT_TRUE(ContinueTrace(trace.ToHeader()).is_continued()) << trace.ToHeader();
  }
}

TEST(Trace, NewOnesDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const Trace trace = ContinueTrace("");
    ids.insert(trace.trace_id());
    ids.insert(trace.span_id());
  }
  EXPECT_EQ(ids.size(), 2000u);
}

TEST(Trace, IsPassedOn) {
  Header header;
  header.set("traceparent", kParent);
  header.insert("tracestate", "a=1");
  header.insert("tracestate", "b=2");
  const Trace trace = TraceOf(header);
  PassOn(trace, header);
  EXPECT_EQ(header["traceparent"], trace.ToHeader());
  EXPECT_EQ(header["tracestate"], "a=1,b=2");
  EXPECT_EQ(header.count("tracestate"), 1u);
}

TEST(Trace, LongStatesLoseTheirOldest) {
  Header header;
  header.set("traceparent", kParent);
  const std::string first = "a=" + std::string(300, '1'), second = "b=" + std::string(205, '2');
  header.set("tracestate", first + "," + second + ",c=3");
  PassOn(TraceOf(header), header);
  EXPECT_EQ(header["tracestate"], first + "," + second);
  header.set("traceparent", kParent);
  header.set("tracestate", "a=" + std::string(1000, '1'));
  PassOn(TraceOf(header), header);
  EXPECT_EQ(header.count("tracestate"), 0u);
}

TEST(Trace, OfTwoHeadersIsNew) {
  Header header;
  header.insert("traceparent", kParent);
  header.insert("traceparent", kParent);
  header.insert("tracestate", "a=1");
  const Trace trace = TraceOf(header);
  EXPECT_FALSE(trace.is_continued());
  PassOn(trace, header);
  EXPECT_EQ(header.count("traceparent"), 1u);
  EXPECT_EQ(header.count("tracestate"), 0u);
}

}  // namespace
}  // namespace wasinn::serve
