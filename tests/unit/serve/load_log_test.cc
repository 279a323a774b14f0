// The log and the errors of models that do not load.
#include "serve/models/known_models.h"
#include "support/test.h"

#include <fmt/format.h>

namespace wasinn::serve {
namespace {

// The lines that `act` writes to the log, which is stderr.
template <typename Do>
std::string LoggedBy(const Do& act) {
  ::testing::internal::CaptureStderr();
  act();
  return ::testing::internal::GetCapturedStderr();
}

TEST(LoadLog, WritesEachReasonOnce) {
  LoadLog log;
  const std::string log_lines = LoggedBy([&] {
    for (int i = 0; i < 3; ++i) log.Write("lm:1", "model 'lm:1': no server");
    log.Write("lm:1", "another reason");
    log.Write("lm:2", "no server");
  });
  EXPECT_EQ(log_lines,
            "wasinn: warning: model 'lm:1' cannot be loaded: no server\n"
            "wasinn: warning: model 'lm:1' cannot be loaded: another reason\n"
            "wasinn: warning: model 'lm:2' cannot be loaded: no server\n");
}

TEST(LoadLog, HasALimitOfReasons) {
  LoadLog log;
  const std::string log_lines = LoggedBy([&] {
    for (size_t i = 0; i < 10 * LoadLog::kMaxReasons; ++i) log.Write("lm:1", fmt::format("reason {}", i));
  });
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(log_lines, '\n')), LoadLog::kMaxReasons);
}

TEST(LoadLog, WritesAgainAfterAModelHasLoaded) {
  LoadLog log;
  const std::string log_lines = LoggedBy([&] {
    log.Write("lm:1", "gone");
    log.Forget("lm:1");
    log.Write("lm:1", "gone");
  });
  EXPECT_EQ(std::ranges::count(log_lines, '\n'), 2);
}

TEST(LoadLog, ALineIsALine) {
  LoadLog log;
  EXPECT_EQ(std::ranges::count(LoggedBy([&] { log.Write("lm:1", "a\nwasinn: error: b"); }), '\n'), 1);
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
