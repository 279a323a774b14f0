// Functions beyond the standard's six, from a real guest on the real engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

using ::testing::HasSubstr;

// two_in_two_out: output 0 is a - b, output 1 is a + b.
const Bytes kA = Floats({1, 2, 3, 4}), kB = Floats({10, 20, 30, 40});
const Bytes kSum = Floats({11, 22, 33, 44}), kDifference = Floats({-9, -18, -27, -36});

std::string Text(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

class ExtensionTest : public ::testing::Test {
 protected:
  std::vector<Script::Answer> Run(Script& script, const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> all = {"--model", TinyModel("two_in_two_out")};
    all.insert(all.end(), flags.begin(), flags.end());
    return script.Run(all, folder_.path());
  }

  const TempFolder folder_;
};

TEST_F(ExtensionTest, Names) {
  Script script;
  script.Do("name 0 two_in_two_out").Do("describe 0").Do("context 0 0");
  script.Do(Script::Set("setname 0 b 1 2,2", kB)).Do(Script::Set("setname 0 a 1 2,2", kA));
  script.Fails(Script::Set("setname 0 c 1 2,2", kA), WASI_NN_INVALID_ARGUMENT).Do("error");
  script.Do("compute 0").Gives("getname 0 sum", kSum).Gives("getname 0 0", kDifference);
  const auto answers = Run(script);
  EXPECT_THAT(Text(answers[1].bytes),
              HasSubstr(R"("backend":"onnx","inputs":[{"name":"a","type":"f32","shape":[2,2]})"));
  EXPECT_THAT(Text(answers[6].bytes), HasSubstr("set_input_by_name: invalid_argument: the model has no input 'c'"));
}

TEST_F(ExtensionTest, OutputsThatAreWrittenAtCompute) {
  Script script;
  script.Do("name 0 two_in_two_out").Do("context 0 0").Do("want 0 1 16");
  script.Do(Script::Set("set 0 0 1 2,2", kA)).Do(Script::Set("set 0 1 1 2,2", kB)).Do("compute 0");
  script.Gives("wanted 0 1", kSum).Gives("get 0 1", kSum).Fails("get 0 0", WASI_NN_INVALID_ARGUMENT);
  script.Do("want 0 0 15").Fails("compute 0", WASI_NN_TOO_LARGE).Gives("get 0 0", kDifference);
  script.Do("want 0 0 0").Do("compute 0").Gives("get 0 0", kDifference).Gives("wanted 0 1", kSum);
  script.Do(Script::Set("set 0 1 1 2,2", kA)).Do("compute 0").Gives("wanted 0 1", Floats({2, 4, 6, 8}));
  Run(script);
}

TEST_F(ExtensionTest, DialectsNumberEncodingsDifferently) {
  const auto refused = [this](const char* dialect, const char* encoding, wasi_nn_errno error) {
    Script script;
    script.Fails(std::string("load 0 /files/nothing.bin ") + encoding, error).Do("error");
    folder_.Write("nothing.bin", "neither this nor that");
    return Text(Run(script, {"--dialect", dialect}).back().bytes);
  };
  // Whose word it is, or that there is no backend, tells what the number meant.
  const wasi_nn_errno error = Has("llama") ? WASI_NN_INVALID_ENCODING : WASI_NN_UNSUPPORTED_OPERATION;
  const char* words = Has("llama") ? "no GGUF model" : "ggml";
  EXPECT_THAT(refused("wasmedge", "6", error), HasSubstr(words));
  EXPECT_THAT(refused("wamr", "5", error), HasSubstr(words));
  for (const char* dialect : {"witx", "wasmedge"}) {
    EXPECT_THAT(refused(dialect, "9", WASI_NN_INVALID_ENCODING), HasSubstr("9 (whisper in WasmEdge's numbers)"));
  }
  EXPECT_THAT(refused("wasmedge", "15", WASI_NN_INVALID_ENCODING), HasSubstr("15 is not an encoding"));
}

}  // namespace
}  // namespace wasinn::testing
