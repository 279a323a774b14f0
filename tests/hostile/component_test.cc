// Hostile components, on the real engine with ONNX Runtime: an error-code or a trap, and nothing else suffers.
#include <gtest/gtest.h>

#include "hostile/made_models.h"
#include "hostile/run.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

constexpr int kTrap = 134;
const size_t kMostOfComponents = (HasAddressSanitizer() ? size_t{1500} : size_t{500}) << 20;

GuestRun Component(const std::string& guest, const std::vector<std::string>& args = {}) {
  return {.guest = guest + ".component", .args = args};
}

// Of the model "digits".
Attack Misfit(const std::string& what, const std::string& given) {
  return {
      what, "invalid_argument", {"compute: invalid_argument: input 'image' takes f32 [?, 1, 8, 8], given " + given}};
}
Attack WrongSize(const std::string& what, int bytes) {
  return {
      what,
      "invalid_argument",
      {"compute: invalid_argument: input 'image': f32 [1, 1, 8, 8] needs 256 bytes, given " + std::to_string(bytes)}};
}
Attack NoInput(const std::string& what, const std::string& name) {
  return {what, "invalid_argument", {"compute: invalid_argument: the model has no input '" + name, "only 'image'"}};
}

TEST(ComponentHostile, Tensors) {
  const Attack attacks[] = {
      {"as it should be"},
      WrongSize("a byte less", 255),
      WrongSize("a byte more", 257),
      WrongSize("no bytes", 0),
      WrongSize("bytes of two images", 512),
      Honest(),
      Misfit("one dimension", "f32 [64]"),
      Misfit("no dimension", "f32 []"),
      Misfit("a column more", "f32 [1, 1, 8, 9]"),
      Misfit("the largest dimensions", "f32 [4294967295, 4294967295, 4294967295, 4294967295]"),
      Misfit("eight dimensions", "f32 [1, 1, 1, 1, 1, 1, 8, 8]"),
      Misfit("a product that wraps around", "f32 [1073741825, 4, 8, 8]"),
      Misfit("doubles", "f64 [1, 1, 8, 8]"),
      Misfit("integers", "i32 [1, 1, 8, 8]"),
      Misfit("half of a float", "bf16 [1, 1, 8, 8]"),
      Honest(),
      NoInput("an empty name", "'"),
      NoInput("an unknown name", "Image'"),
      NoInput("a name and a NUL", "image\\x00'"),
      NoInput("a name of control characters", "a\\x1b[2Jb\\x0ac'"),
      NoInput("an index too large", "1'"),
      NoInput("2 to the 64", "18446744073709551616'"),
      {"an index"},
      NoInput("a megabyte of a name", "xxx"),
      Honest(),
      {"no input", "invalid_argument", {"input 0 ('image') was not set"}},
      {"an input twice", "invalid_argument", {"2 inputs are given, the model has 1"}},
      {"ten thousand inputs", "invalid_argument", {"10000 inputs are given, the model has 1"}},
      {"ten thousand more", "invalid_argument", {"10000 inputs are given, the model has 1"}},
      Honest(),
  };
  ExpectAttacks(Component("tensors").Execute(), attacks);
}

TEST(ComponentHostile, EveryOrderOfDropping) {
  const CommandResult result = Component("drops").Execute();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, std::string("24 orders\n") + kHonest + "\n");
}

TEST(ComponentHostile, BadHandlesAndValuesTrap) {
  const struct {
    const char *how, *why;
  } traps[] = {{"twice", "unknown handle index"},
               {"after-compute", "unknown handle index"},
               {"after-failed-compute", "used with the wrong type"},  // it is the error's number by then
               {"drop-twice", "unknown handle index"},
               {"dead-error", "unknown handle index"},
               {"forged-most", "unknown handle index 4294967295"},
               {"graph-as-input", "used with the wrong type"},
               {"unknown-target", "unexpected discriminant: 3"},
               {"no-utf8-input", "incomplete utf-8"},
               {"data-outside", "out of bounds"},
               {"inputs-outside", "out of bounds"},
               {"result-outside", "out of bounds"}};
  for (const auto& trap : traps) {
    const CommandResult result = Component("handles", {trap.how}).Execute();
    EXPECT_EQ(result.exit_code, kTrap) << trap.how << result.err;
    EXPECT_EQ(result.out, std::string(kHonest) + "\n") << trap.how;
    EXPECT_TRUE(HasInOrder(result.err, {"wasinn: error: ", "handles.component.wasm: ", trap.why, "wasm backtrace:"}))
        << trap.how << ":\n"
        << result.err;
  }
}

// The log stops after 100 errors, and says so.
void ExpectBoundedByQuota(const std::string& what, const std::string& line, const std::string& logged) {
  GuestRun run = Component("quotas", {what});
  if (what == "outputs") run.settings = "limits.max_tensors = 1000\n";
  const CommandResult result = run.Execute();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, std::string(kHonest) + "\n" + what + ": " + line + "\n" + kHonest + "\n");
  EXPECT_LT(result.peak_bytes, kMostOfComponents);
  const std::vector<std::string> log = GuestLog(result);
  ASSERT_EQ(log.size(), 101u);
  EXPECT_TRUE(HasInOrder(log.front(), {logged})) << log.front();
  EXPECT_TRUE(HasInOrder(log.back(), {"further errors are not logged"})) << log.back();
}

TEST(ComponentHostile, NeverDroppingGraphs) {
  ExpectBoundedByQuota(
      "graphs", "63 success 1937 too_large 0 other",
      "load-by-name: too_large: 1 more graphs would exceed the limit of 64 (64 held; limits.max_graphs)");
}

TEST(ComponentHostile, NeverDroppingContexts) {
  ExpectBoundedByQuota("contexts", "255 success 1745 too_large 0 other",
                       "init-execution-context: too_large: 1 more contexts would exceed the limit of 256 (256 held; "
                       "limits.max_contexts)");
}

// An input is held until its compute ends. The guest drops one output in the end, for its honest inference.
TEST(ComponentHostile, NeverDroppingOutputs) {
  ExpectBoundedByQuota(
      "outputs", "999 success 1001 too_large 0 other",
      "compute: too_large: 1 more tensors would exceed the limit of 1000 (1000 held; limits.max_tensors)");
}

TEST(ComponentHostile, DroppingEverything) {
  ExpectBoundedByQuota("nothing", "2000 success 0 too_large 2000 other",
                       "load-by-name: not_found: no model is registered as 'nothing'");
}

// Where the interface has no error to return.
void ExpectTrap(const GuestRun& run, const std::string& why, size_t most_bytes) {
  const CommandResult result = run.Execute();
  const std::string what = ::testing::PrintToString(run.args);
  EXPECT_EQ(result.exit_code, kTrap) << what << result.err;
  EXPECT_EQ(result.out, std::string(kHonest) + "\n") << what;
  EXPECT_TRUE(HasInOrder(result.err, {"wasinn: error: ", ".component.wasm: ", why, "wasm backtrace:"})) << what << ":\n"
                                                                                                        << result.err;
  EXPECT_LT(result.peak_bytes, most_bytes) << what;
}

TEST(ComponentHostile, NeverDroppingTensors) {
  ExpectTrap(Component("quotas", {"tensors"}),
             "1 more tensors would exceed the limit of 16384 (16384 held; limits.max_tensors)", kMostOfComponents);
}

TEST(ComponentHostile, NeverDroppingErrors) {
  ExpectTrap(Component("quotas", {"errors"}),
             "1 more errors would exceed the limit of 1024 (1024 held; limits.max_errors)", kMostOfComponents);
}

TEST(ComponentHostile, NeverDroppingErrorsOfLongNames) {
  const TempFolder folder;
  GuestRun run = Component("quotas", {"long errors"});
  run.flags = {"--nn-max-bytes", "80M", "--model", "long=" + folder.Write("long.onnx", LongInputName(4 << 20))};
  const CommandResult result = run.Execute();
  EXPECT_EQ(result.out, std::string(kHonest) + "\nlong errors: 0 success 0 too_large 64 other\n" + kHonest + "\n");
  EXPECT_LT(result.peak_bytes, (HasAddressSanitizer() ? size_t{900} : size_t{200}) << 20);
  EXPECT_LT(result.err.size(), size_t{1} << 20);
}

TEST(ComponentHostile, NeverDroppingBytes) {
  GuestRun run = Component("quotas", {"bytes"});
  run.flags = {"--nn-max-bytes", "128M"};
  ExpectTrap(run, "8388608 more bytes of tensors would exceed the limit of 134217728", kMostOfComponents);
}

TEST(ComponentHostile, ListsOfNothingAndLongNames) {
  const Attack attacks[] = {
      Honest(),
      {"no builder", "invalid_argument", {"load: invalid_argument: a model needs at least one part"}},
      {"an empty builder", "invalid_encoding", {"load: invalid_encoding: onnx: the bytes are not an ONNX model"}},
      {"two empty builders",
       "invalid_argument",
       {"load: invalid_argument: onnx: an ONNX model is one builder: found 2"}},
      {"ten thousand builders", "too_large", {"load: too_large: a model of 10000 parts is over the limit of 16"}},
      {"an empty name of a model", "not_found", {"load-by-name: not_found: no model is registered as ''"}},
      {"a long name of a model", "too_large", {"load-by-name: too_large: a model's name of 3000 bytes"}},
      Honest(),
  };
  ExpectAttacks(Component("lists").Execute(), attacks);
}

// More than a call may move. The guest's own memory is of zeros that nobody touches, and so no memory of the host.
TEST(ComponentHostile, ListsOfTwoGibibytes) {
  for (const char* what : {"data", "dims", "name", "builder", "builders", "many-builders", "inputs", "input-name"}) {
    ExpectTrap(Component("lists", {what, "2048"}), "too much data is being copied between the host and the guest",
               kMostOfComponents);
  }
}

// As much as a call may move, and far too much for what it is.
TEST(ComponentHostile, ListsOfAHundredMebibytes) {
  ExpectTrap(Component("lists", {"dims", "100"}), "a tensor of 26214400 dimensions is over the limit of 32",
             kMostOfComponents);
  ExpectTrap(Component("lists", {"inputs", "100"}), "unknown handle index 0", kMostOfComponents);
  const Attack attacks[] = {
      {"data"},
      {"name", "too_large", {"load-by-name: too_large: a model's name of 104857600 bytes"}},
      {"builder", "invalid_encoding", {"load: invalid_encoding: onnx: the bytes are not an ONNX model"}},
      {"builders", "too_large", {"load: too_large: a model of 13107200 parts is over the limit of 16"}},
      {"input-name", "invalid_argument", {"compute: invalid_argument: the model has no input '\\x00\\x00"}},
  };
  for (const Attack& attack : attacks) {
    const Attack lines[] = {Honest(), attack, Honest()};
    const CommandResult result = Component("lists", {attack.what, "100"}).Execute();
    ExpectAttacks(result, lines);
    EXPECT_LT(result.peak_bytes, kMostOfComponents) << attack.what;
  }
}

}  // namespace
}  // namespace wasinn::testing
