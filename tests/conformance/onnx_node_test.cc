// The ONNX project's tests of single operators: what a guest gets through wasi-nn is what ONNX Runtime gives, byte for
// byte.
#include "node_cases.h"

namespace wasinn::testing {
namespace {

// Guests hold so many graphs at once.
constexpr size_t kBatch = 50;
// The number in docs/moving.md. Fewer would be a loss; a newer ONNX Runtime may serve more.
constexpr size_t kFewestCases = 1172;
// In so many of these, ONNX Runtime gives the outputs that the case expects: reading the cases wrongly would make both
// sides wrong alike.
constexpr size_t kFewestAsExpected = 700;

// Each `every`th that ONNX Runtime computes.
std::vector<NodeCase> Cases(size_t every) {
  std::vector<NodeCase> cases;
  const std::vector<std::string> names = NodeCaseNames();
  EXPECT_FALSE(names.empty()) << "the cases are missing: scripts/deps.sh tests fetches them; then configure again";
  for (size_t i = 0; i < names.size(); i += every) {
    if (auto native = RunNodeCase(names[i])) cases.push_back(*std::move(native));
  }
  return cases;
}

void ExpectNativeBytes(std::span<const NodeCase> cases, bool by_name) {
  const TestFolder folder;
  const std::string limit = std::to_string(kBatch);
  std::vector<std::string> flags = {"--dir", NodeCaseFolder() + "::/cases", "--nn-max-graphs",
                                    limit,   "--nn-max-contexts",           limit};
  if (by_name) {
    flags.insert(flags.end(), {"--models", NodeCaseFolder(), "--nn-load", "deny"});
  } else if (!LibrariesOfTheEngine().empty()) {  // with which a worker does not compute
    flags.insert(flags.end(), {"--nn-load", "in-process"});
  }
  for (size_t at = 0; at < cases.size(); at += kBatch) {
    Script script;
    int number = 0;
    for (const NodeCase& native : cases.subspan(at, std::min(kBatch, cases.size() - at))) {
      const std::string own = std::to_string(number++), of_own = own + " ";
      script.Do(by_name ? "name " + of_own + native.name : "load " + of_own + "/cases/" + native.name + "/model.onnx");
      script.Do("context " + of_own + own);
      for (size_t i = 0; i < native.inputs.size(); ++i) {
        const NodeTensor& input = native.inputs[i];
        script.Do(Script::Set("set " + of_own + std::to_string(i) + " " + std::to_string(input.type) + " " + input.dims,
                              input.bytes));
      }
      script.Do("compute " + own);
      for (size_t i = 0; i < native.outputs.size(); ++i) {
        script.Gives("get " + of_own + std::to_string(i), native.outputs[i]);
      }
      script.Fails("get " + of_own + std::to_string(native.outputs.size()), WASI_NN_INVALID_ARGUMENT);
    }
    SCOPED_TRACE("from " + cases[at].name + " on");
    script.Run(flags, folder.path());
  }
}

TEST(OnnxNodeTest, BytesThroughWasmAreTheNativeOnes) {
  if (RanWithLibrariesOfTheEngine()) return;
  const std::vector<NodeCase> cases = Cases(1);
  const auto as_expected = static_cast<size_t>(std::ranges::count(cases, true, &NodeCase::as_expected));
  std::printf("%zu cases; ONNX Runtime gives what %zu of them expect\n", cases.size(), as_expected);
  EXPECT_GE(cases.size(), kFewestCases);
  EXPECT_GE(as_expected, kFewestAsExpected);
  ExpectNativeBytes(cases, false);
}

TEST(OnnxNodeTest, SomeByName) {
  if (RanWithLibrariesOfTheEngine()) return;
  const std::vector<NodeCase> cases = Cases(25);
  EXPECT_GE(cases.size(), 40u);
  ExpectNativeBytes(cases, true);
}

}  // namespace
}  // namespace wasinn::testing
