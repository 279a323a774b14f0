// The ONNX project's tests of single operators: what a guest gets through wasi-nn is what ONNX Runtime gives, byte for
// byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <span>
#include <sstream>

#include "node_cases.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

// Guests hold so many graphs at once; and a crash takes no more cases with it.
constexpr size_t kBatch = 50;
// What the README says. Fewer would be a loss; a newer ONNX Runtime may serve more.
constexpr size_t kFewestCases = 1172;
// Of these, ONNX Runtime gives what the case expects in so many.
constexpr size_t kFewestAsExpected = 1000;

using Names = std::vector<std::string>;

// What the guest said about each case: "ok 2", "failed compute runtime_error".
using Answers = std::map<std::string, std::string>;

struct How {
  bool by_name;
  std::string out;  // where the outputs go
};

CommandResult RunBatch(const How& how, std::span<const std::string> names, Answers* answers) {
  const std::string limit = std::to_string(kBatch);
  std::vector<std::string> flags = {
      "--dir", NodeCaseFolder() + "::/cases", "--dir", how.out + "::/out", "--nn-max-graphs",
      limit,   "--nn-max-contexts",           limit};
  std::vector<std::string> args = {"/cases", "/out"};
  if (how.by_name) {
    flags.insert(flags.end(), {"--models", NodeCaseFolder(), "--nn-load", "deny"});
    args.insert(args.begin(), "--by-name");
  } else if (!LibrariesOfTheEngine().empty()) {  // with which a worker does not compute
    flags.insert(flags.end(), {"--nn-load", "in-process"});
  }
  args.insert(args.end(), names.begin(), names.end());
  CommandResult result = RunGuest(flags, "node_runner", args);
  for (const std::string& line : Lines(result.out)) {
    const size_t blank = line.find(' ');
    (*answers)[line.substr(0, blank)] = line.substr(blank + 1);
  }
  return result;
}

// A batch that ended early is run again, one case at a time.
Answers RunGuests(const How& how, std::span<const std::string> names) {
  Answers answers;
  for (size_t at = 0; at < names.size(); at += kBatch) {
    const auto batch = names.subspan(at, std::min(kBatch, names.size() - at));
    if (RunBatch(how, batch, &answers).exit_code == 0) continue;
    for (const std::string& name : batch) {
      const CommandResult alone = RunBatch(how, {&name, 1}, &answers);
      if (alone.exit_code != 0) {
        answers[name] = "exit code " + std::to_string(alone.exit_code) + ": " + alone.err.substr(0, 500);
      }
    }
  }
  return answers;
}

// "" if the guest got the native bytes.
std::string Difference(const NodeCase& native, const Answers& answers, const std::string& out) {
  const auto answer = answers.find(native.name);
  if (answer == answers.end()) return "the guest said nothing";
  if (answer->second != "ok " + std::to_string(native.outputs.size())) return answer->second;
  for (size_t i = 0; i < native.outputs.size(); ++i) {
    const Bytes got = ReadBytes(out + "/" + native.name + "." + std::to_string(i));
    if (got != native.outputs[i].bytes) {
      return "output " + std::to_string(i) + ": " + ToHex(got).substr(0, 200) +
             "\n  native: " + ToHex(native.outputs[i].bytes).substr(0, 200);
    }
  }
  return "";
}

// Counts the cases that came back with the native bytes; every other is a failure.
size_t CountEqual(const std::vector<NodeCase>& cases, bool by_name) {
  const TempFolder out;
  const How how = {by_name, out.path().string()};
  Names names;
  for (const NodeCase& native : cases) names.push_back(native.name);
  const Answers answers = RunGuests(how, names);
  size_t equal = 0;
  for (const NodeCase& native : cases) {
    const std::string difference = Difference(native, answers, how.out);
    if (difference.empty()) {
      ++equal;
    } else {
      ADD_FAILURE() << native.name << ": " << difference;
    }
  }
  return equal;
}

TEST(OnnxNodeTest, BytesThroughWasmAreTheNativeOnes) {
  if (RanWithLibrariesOfTheEngine()) return;
  const Names names = NodeCaseNames();
  ASSERT_FALSE(names.empty()) << "the cases are missing: scripts/deps.sh tests fetches them; then configure again";
  std::vector<NodeCase> cases;
  std::map<Reason, Names> left_out;
  size_t as_expected = 0;
  for (const std::string& name : names) {
    auto native = RunNodeCase(name);
    if (native) {
      as_expected += native->as_expected;
      cases.push_back(*std::move(native));
    } else {
      left_out[native.error().reason].push_back(name);
      EXPECT_NE(native.error().reason, Reason::kHarnessIsBroken) << name << ": " << native.error().detail;
    }
  }
  const size_t equal = CountEqual(cases, false);
  std::printf("ONNX Runtime %s: %zu cases, %zu run, %zu equal, %zu left out\n", NativeOrtVersion().c_str(),
              names.size(), cases.size(), equal, names.size() - cases.size());
  for (const auto& [reason, which] : left_out) std::printf("  left out: %3zu %s\n", which.size(), ReasonText(reason));
  std::printf("  ONNX Runtime gives what the case expects in %zu of those run\n", as_expected);
  EXPECT_GE(cases.size(), kFewestCases);
  EXPECT_EQ(equal, cases.size());
  // Reading the cases wrongly would make both sides wrong alike.
  EXPECT_GE(as_expected, kFewestAsExpected);
}

TEST(OnnxNodeTest, ByName) {
  if (RanWithLibrariesOfTheEngine()) return;
  constexpr size_t kEach = 20, kWanted = 48;
  std::vector<NodeCase> cases;
  const Names names = NodeCaseNames();
  for (size_t i = 0; i < names.size() && cases.size() < kWanted; i += kEach) {
    auto native = RunNodeCase(names[i]);
    if (native) cases.push_back(*std::move(native));
  }
  ASSERT_EQ(cases.size(), kWanted) << "the cases are missing: scripts/deps.sh tests fetches them; then configure again";
  EXPECT_EQ(CountEqual(cases, true), kWanted);
  std::printf("%zu cases by name\n", cases.size());
}

}  // namespace
}  // namespace wasinn::testing
