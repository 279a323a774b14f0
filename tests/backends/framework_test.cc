// Tests of all backends with a framework, in addition to the contract: they open its library, and choose its device.
#include <dlfcn.h>

#include "backends/contract_test.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

namespace fs = std::filesystem;

std::string WithKey(const std::string& key, const std::string& text) {
  return R"({")" + key + R"(": ")" + text + "\"}";
}

// Loads the model with these options, and computes.
void ExpectComputes(const Host& host, Subject subject, const LoadOptions& options) {
  ASSERT_TRUE(host.opened()) << host.opened().message;
  subject.options = options;
  Session session(host, subject);
  const Model* model = session.model();
  ASSERT_NE(model, nullptr);
  EXPECT_THAT(host.table().describe(model->get()), ContainsRegex("\"device\": ?\"(cpu|CPU)\""));
  for (const Check& check : Checks()) {
    if (std::string(check.name) == "ComputesOnlyWithItsInputs") check.run(session);
  }
}
void ExpectComputes(const Host& host, const Subject& subject) { ExpectComputes(host, subject, subject.options); }

}  // namespace

// Not all backends have one.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Framework);

TEST_P(Framework, SaysWhatItRunsOn) {
  const Host host;
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_STREQ(host.table().name, kFramework);
  EXPECT_EQ(host.info()->framework, GetParam().name);
  EXPECT_THAT(host.info()->version, ContainsRegex("^[0-9]+\\.[0-9]+"));
  EXPECT_TRUE(fs::exists(host.info()->library)) << host.info()->library;
  EXPECT_THAT(host.info()->devices, StartsWith("cpu"));
  ASSERT_EQ(host.table().n_formats, 1U);
  EXPECT_EQ(host.table().formats[0]->name, GetParam().subject.options.encoding);
}

TEST_P(Framework, SaysWhatIsMissingAndHowToGetIt) {
  const std::string file = fs::path(testing::FrameworkFile(kFramework)).filename();
  const Host missing(WithKey("library", "/nonexistent/" + file));
  EXPECT_EQ(missing.opened().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_STREQ(missing.table().install, ("scripts/deps.sh " + GetParam().install).c_str());
  EXPECT_THAT(missing.opened().message, AllOf(HasSubstr("/nonexistent/" + file), HasSubstr(missing.table().install)));
  EXPECT_EQ(Host(WithKey("library", file)).opened().code, WASINN_ERROR_INVALID_ARGUMENT);
  // A library, but not this one.
  Dl_info info = {};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&std::printf), &info), 0);
  const Host other(WithKey("library", fs::canonical(info.dli_fname)));
  EXPECT_EQ(other.opened().code, WASINN_ERROR_UNSUPPORTED_OPERATION) << other.opened().message;
}

TEST_P(Framework, TakesTheFolderOfItsLibrary) {
  const Host host(WithKey("library", fs::path(testing::FrameworkFile(kFramework)).parent_path()));
  ExpectComputes(host, GetParam().subject);
}

TEST_P(Framework, ServesHostsOneAfterAnotherAndAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 3; ++i) {
        const Host host;
        ExpectComputes(host, GetParam().subject);
        EXPECT_THAT(host.log(), AllOf(Not(HasSubstr("error: ")), Not(HasSubstr("warning: "))));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Framework, KeepsToTheBudgetOfThreads) {
  const Host host(R"({"threads": 3})", 2);
  EXPECT_EQ(host.opened().code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(host.opened().message, HasSubstr("from 1 to 2"));
}

TEST_P(Framework, DocumentsItsKeys) {
  const Host host;
  std::vector<std::string> of_guests;
  for (size_t i = 0; i < host.table().n_keys; ++i) {
    const wasinn_key& key = host.table().keys[i];
    EXPECT_NE(key.where, 0U) << key.name;
    EXPECT_GT(std::string(key.description).size(), 10U) << key.name;
    if ((key.where & WASINN_KEY_GUEST) != 0) of_guests.emplace_back(key.name);
  }
  EXPECT_EQ(of_guests, GetParam().guest_keys.value_or(of_guests));
}

TEST_P(Framework, RefusesOtherFormatsAndMoreBlobs) {
  const Host host;
  const std::string bytes = GetParam().subject.bytes();
  LoadOptions other = GetParam().subject.options, more = other;
  other.encoding = "nothing";
  EXPECT_EQ(Model(host, bytes, other).loaded().code, WASINN_ERROR_INVALID_ENCODING);
  more.more_bytes = {"more", "and more"};
  EXPECT_EQ(Model(host, bytes, more).loaded().code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST_P(Framework, RefusesADeviceThatIsNotThereOrFallsBackOnce) {
  const Subject& subject = GetParam().subject;
  for (const wasinn_target target : {WASINN_TARGET_GPU, WASINN_TARGET_TPU}) {
    const Host host;
    if (std::string(host.info()->devices).contains(target == WASINN_TARGET_GPU ? "gpu" : "tpu")) continue;
    LoadOptions options = subject.options;
    options.target = target;
    const Model refused(host, subject.bytes(), options);
    EXPECT_EQ(refused.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
    EXPECT_THAT(refused.loaded().message, HasSubstr(GetParam().no_device));
    EXPECT_THAT(host.log(), Not(HasSubstr("using the CPU")));
    options.cpu_fallback = true;
    for (int i = 0; i < 2; ++i) ExpectComputes(host, subject, options);
    const std::string log = host.log(), warning = "warning: using the CPU instead";
    EXPECT_THAT(log, HasSubstr(warning));
    EXPECT_EQ(log.find(warning), log.rfind(warning)) << "once";
  }
  LoadOptions automatic = subject.options;
  automatic.target = WASINN_TARGET_AUTO;
  ExpectComputes(Host(), subject, automatic);
}

TEST_P(Framework, WritesNothingToTheTerminal) {
  const Host host;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  ExpectComputes(host, GetParam().subject);
  const std::string bytes = GetParam().subject.bytes();
  EXPECT_FALSE(Model(host, bytes.substr(0, bytes.size() / 2), GetParam().subject.options).loaded());
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), IsEmpty());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), IsEmpty());
}

}  // namespace wasinn::test
