#include "common/target.h"
#include "support/test.h"

namespace wasinn::backend {
namespace {

// A framework with the devices "gpu", "tpu" and "cpu", of which some fail.
class Target : public ::testing::Test {
 protected:
  // The code that the load ends with.
  wasinn_code Load(bool cpu_fallback, const std::vector<std::string>& ways) {
    tried.clear();
    wasinn_load_options options = {};
    options.cpu_fallback = cpu_fallback ? 1 : 0;
    try {
      LoadOnTarget(
          options, warning_, std::string("cpu"),
          [&] {
            if (ways.empty()) throw Error(none, "there is none");
            return ways;
          },
          [&](const std::string& way) {
            tried.push_back(way);
            if (way != works) throw Error(failure, "no driver for " + way);
          });
      return WASINN_OK;
    } catch (const Error& error) {
      said = error.what();
      return error.code();
    }
  }

  std::string works = "cpu";
  wasinn_code failure = WASINN_ERROR_RUNTIME, none = WASINN_ERROR_UNSUPPORTED_OPERATION;
  std::vector<std::string> tried, log;
  std::string said;

 private:
  static void Write(void* self, uint32_t level, const char* message) {
    EXPECT_EQ(level, WASINN_LOG_WARNING);
    static_cast<Target*>(self)->log.emplace_back(message);
  }

  const wasinn_host_services services_ = {
      .struct_size = sizeof(wasinn_host_services), .host = this, .log = Write, .threads = 1, .reserve = nullptr};
  const Log log_{services_};
  const FallbackWarning warning_{log_};
};

TEST_F(Target, AnAvailableTargetServesWithoutAWarning) {
  works = "gpu";
  EXPECT_EQ(Load(true, {"gpu"}), WASINN_OK);
  EXPECT_THAT(tried, ElementsAre("gpu"));
  EXPECT_EQ(Load(false, {"gpu", "cpu"}), WASINN_OK);
  EXPECT_THAT(tried, ElementsAre("gpu"));
  EXPECT_THAT(log, IsEmpty());
}

TEST_F(Target, ADeviceThatFailsIsAnErrorOrTheCpuServes) {
  EXPECT_EQ(Load(false, {"gpu"}), WASINN_ERROR_RUNTIME);
  EXPECT_EQ(said, "no driver for gpu");
  EXPECT_THAT(log, IsEmpty());
  EXPECT_EQ(Load(true, {"gpu"}), WASINN_OK);
  EXPECT_THAT(tried, ElementsAre("gpu", "cpu"));
  EXPECT_EQ(Load(true, {"gpu"}), WASINN_OK);
  EXPECT_THAT(log, ElementsAre("using the CPU instead: no driver for gpu")) << "once";
}

TEST_F(Target, TheBestThatWorksServesAuto) {
  works = "tpu";
  EXPECT_EQ(Load(false, {"gpu", "tpu", "cpu"}), WASINN_OK);
  EXPECT_THAT(tried, ElementsAre("gpu", "tpu"));
  EXPECT_THAT(log, IsEmpty());
  works = "cpu";
  EXPECT_EQ(Load(false, {"gpu", "tpu", "cpu"}), WASINN_OK);
  EXPECT_THAT(log, ElementsAre("using the CPU instead: no driver for tpu"));
}

TEST_F(Target, NoSuchDeviceIsAnErrorOrTheCpuServes) {
  EXPECT_EQ(Load(false, {}), WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(tried, IsEmpty());
  EXPECT_EQ(Load(true, {}), WASINN_OK);
  EXPECT_THAT(log, ElementsAre("using the CPU instead: there is none"));
  none = WASINN_ERROR_INVALID_ARGUMENT;
  EXPECT_EQ(Load(true, {}), WASINN_ERROR_INVALID_ARGUMENT) << "a mistake is no missing device";
  EXPECT_THAT(tried, IsEmpty());
}

TEST_F(Target, TheCpuIsTriedOnceAndItsErrorIsTheLast) {
  works = "none of them";
  EXPECT_EQ(Load(true, {"cpu"}), WASINN_ERROR_RUNTIME);
  EXPECT_THAT(tried, ElementsAre("cpu"));
  EXPECT_THAT(log, IsEmpty());
  EXPECT_EQ(Load(true, {"gpu", "cpu"}), WASINN_ERROR_RUNTIME);
  EXPECT_THAT(tried, ElementsAre("gpu", "cpu"));
  EXPECT_EQ(said, "no driver for cpu");
}

TEST_F(Target, ALoadThatWasCancelledGoesOnNowhere) {
  failure = WASINN_ERROR_TIMEOUT;
  EXPECT_EQ(Load(true, {"gpu"}), WASINN_ERROR_TIMEOUT);
  EXPECT_THAT(tried, ElementsAre("gpu"));
  EXPECT_THAT(log, IsEmpty());
}

}  // namespace
}  // namespace wasinn::backend
