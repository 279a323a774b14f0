// What is told of models that do not load.
#include "serve/models/failed_loads.h"
#include "support/test.h"

#include <fmt/format.h>

namespace wasinn::serve {
namespace {

// What the log, which is stderr, says meanwhile.
template <typename Do>
std::string LoggedBy(const Do& act) {
  ::testing::internal::CaptureStderr();
  act();
  return ::testing::internal::GetCapturedStderr();
}

TEST(LoadLog, TellsEachReasonOnce) {
  LoadLog log;
  const std::string told = LoggedBy([&] {
    for (int i = 0; i < 3; ++i) log.Tell("lm:1", "model 'lm:1': nobody is there");
    log.Tell("lm:1", "another reason");
    log.Tell("lm:2", "nobody is there");
  });
  EXPECT_EQ(told,
            "wasinn: warning: model 'lm:1' cannot be loaded: nobody is there\n"
            "wasinn: warning: model 'lm:1' cannot be loaded: another reason\n"
            "wasinn: warning: model 'lm:2' cannot be loaded: nobody is there\n");
}

TEST(LoadLog, TellsNoMoreReasonsThanThat) {
  LoadLog log;
  const std::string told = LoggedBy([&] {
    for (size_t i = 0; i < 10 * LoadLog::kMaxReasons; ++i) log.Tell("lm:1", fmt::format("reason {}", i));
  });
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(told, '\n')), LoadLog::kMaxReasons);
}

TEST(LoadLog, TellsAgainAfterAModelHasLoaded) {
  LoadLog log;
  const std::string told = LoggedBy([&] {
    log.Tell("lm:1", "gone");
    log.Forget("lm:1");
    log.Tell("lm:1", "gone");
  });
  EXPECT_EQ(std::ranges::count(told, '\n'), 2);
}

TEST(LoadLog, ALineIsALine) {
  LoadLog log;
  EXPECT_EQ(std::ranges::count(LoggedBy([&] { log.Tell("lm:1", "a\nwasinn: error: b"); }), '\n'), 1);
}

TEST(OfLoad, AnErrorInAModelIsNotTheClientsFault) {
  for (const wasinn_code code : {WASINN_ERROR_SECURITY, WASINN_ERROR_INVALID_ARGUMENT, WASINN_ERROR_INVALID_ENCODING,
                                 WASINN_ERROR_UNSUPPORTED_OPERATION}) {
    EXPECT_EQ(OfLoad({code, "why"}).code, WASINN_ERROR_UNAVAILABLE);
  }
  EXPECT_EQ(OfLoad({WASINN_ERROR_MODEL_NOT_FOUND, "why"}).code, WASINN_ERROR_MODEL_NOT_FOUND);
  EXPECT_EQ(OfLoad({WASINN_ERROR_TIMEOUT, "why"}).code, WASINN_ERROR_TIMEOUT);
}

}  // namespace
}  // namespace wasinn::serve
