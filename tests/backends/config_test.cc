#include "common/config.h"

#include <climits>

#include "backends/thrown.h"

namespace wasinn::backend {
namespace {

using ::testing::FieldsAre;

template <typename Function>
std::string MessageOf(Function function) {
  return test::Refused(WASINN_ERROR_INVALID_ARGUMENT, function);
}

TEST(Config, ReadsEachType) {
  const Config config(R"({"s": "text", "b": true, "i": 3, "w": "two", "o": {"a": 1, "b": "x", "c": false},
                          "l": ["cpu", {"name": "cuda", "device_id": 1}]})",
                      "here");
  EXPECT_EQ(config.String("s"), "text");
  EXPECT_EQ(config.Bool("b"), true);
  EXPECT_EQ(config.Integer("i", 1, 4), 3);
  constexpr const char* kWords[] = {"one", "two"};
  EXPECT_EQ(config.Word("w", kWords), 1u);
  EXPECT_EQ(config.Strings("o"), (Config::Entries{{"a", "1"}, {"b", "x"}, {"c", "0"}}));
  EXPECT_THAT(config.NamedList("l"), Optional(ElementsAre(FieldsAre("cpu", IsEmpty()),
                                                          FieldsAre("cuda", ElementsAre(Pair("device_id", "1"))))));
  EXPECT_FALSE(config.String("absent"));
  EXPECT_FALSE(Config(nullptr, "").Bool("b"));
  EXPECT_FALSE(Config("", "").Bool("b"));
}

TEST(Config, NamesKeyExpectedAndFound) {
  const Config config(R"({"i": 5, "f": 1.5, "n": "x", "l": [1], "big": 18446744073709551615})", "[backends.onnx]");
  EXPECT_THAT(MessageOf([&] { config.Integer("i", 1, 4); }),
              AllOf(HasSubstr("[backends.onnx]: i"), HasSubstr("from 1 to 4"), HasSubstr("found 5")));
  EXPECT_THAT(MessageOf([&] { config.Integer("f", 1, 4); }), HasSubstr("found 1.5"));
  EXPECT_THAT(MessageOf([&] { config.Integer("big", 0, INT64_MAX); }), HasSubstr("found 18446744073709551615"));
  EXPECT_THAT(MessageOf([&] { config.Bool("n"); }), HasSubstr("true or false, found \"x\""));
  EXPECT_THAT(MessageOf([&] { config.String("i"); }), HasSubstr("a string, found 5"));
  EXPECT_THAT(MessageOf([&] { config.NamedList("l"); }), HasSubstr("a list of names"));
  constexpr const char* kWords[] = {"one", "two"};
  EXPECT_THAT(MessageOf([&] { config.Word("n", kWords); }), HasSubstr("one of one, two"));
}

TEST(Config, RefusesDeepNesting) {
  const auto nested = [](size_t depth) { return "{\"b\": " + std::string(depth, '[') + std::string(depth, ']') + "}"; };
  EXPECT_THAT(MessageOf([&] { Config(nested(127).c_str(), "here").Bool("b"); }), HasSubstr("found a list"));
  for (const size_t depth : {size_t{128}, size_t{1'000'000}}) {
    EXPECT_THAT(MessageOf([&] { Config(nested(depth).c_str(), "here"); }), HasSubstr("nested no deeper than 128"));
  }
  const std::string brackets = R"({"b": ")" + std::string(1000, '[') + R"(\"["})";
  EXPECT_THAT(MessageOf([&] { Config(brackets.c_str(), "here").Bool("b"); }), HasSubstr("found"));
}

TEST(Config, RefusesWhatIsNoObject) {
  EXPECT_THAT(MessageOf([] { Config("[1]", "here"); }), HasSubstr("JSON object"));
  EXPECT_THAT(MessageOf([] { Config("{", "here"); }), HasSubstr("JSON object"));
}

int Threads(const char* backend, uint32_t budget) { return BackendThreads(Config(backend, "backend"), budget); }

TEST(ThreadSettings, OfABackendAreUpToTheHostsBudget) {
  EXPECT_EQ(Threads("{}", 4), 4);
  EXPECT_EQ(Threads(R"({"threads": 3})", 4), 3);
  EXPECT_EQ(Threads("{}", 0), 1);
  EXPECT_EQ(Threads("{}", UINT32_MAX), INT_MAX);
  for (const char* text : {R"({"threads": 5})", R"({"threads": 0})"}) {
    EXPECT_THAT(MessageOf([&] { Threads(text, 4); }), HasSubstr("from 1 to 4")) << text;
  }
}

TEST(ThreadSettings, OfAModelAreTheHostsOrFewer) {
  const auto threads = [](const char* host, const char* guest) {
    return ModelThreads(Config(host, "host"), Config(guest, "guest"), 8, 4);
  };
  EXPECT_EQ(threads("{}", "{}"), 4);
  EXPECT_EQ(threads(R"({"threads": 8})", "{}"), 8);
  EXPECT_EQ(threads(R"({"threads": 8})", R"({"threads": 2})"), 2);
  EXPECT_EQ(threads("{}", R"({"threads": 2147483647})"), 4) << "a guest may ask for more than there is";
  EXPECT_THAT(MessageOf([&] { threads(R"({"threads": 9})", "{}"); }), HasSubstr("from 1 to 8"));
  EXPECT_THAT(MessageOf([&] { threads("{}", R"({"threads": 0})"); }), HasSubstr("guest"));
}

}  // namespace
}  // namespace wasinn::backend
