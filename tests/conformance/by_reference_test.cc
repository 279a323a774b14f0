// Inputs by reference, on every framework and engine: a guest that keeps its buffers gets the same bytes, and one that
// writes them before compute gets what it wrote.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

struct Model {
  const char* framework;
  const char* path;  // the mean of 1x3x8x8 floats, 1x3
  bool any_address;  // else aligned to 64 bytes
};
void PrintTo(const Model& model, std::ostream* out) { *out << model.path; }  // else its bytes, in the name of a test

constexpr Model kModels[] = {{"onnx", "tiny/mean.onnx", true},
                             {"openvino", "openvino/mean.xml", true},
                             {"tflite", "tflite/mean.tflite", false},
                             {"torch", "torch/mean.pt", true},
                             {"tensorflow", "tensorflow/mean.pb", false}};

Bytes Image(float seed) {
  std::vector<float> values(192);
  for (size_t i = 0; i < values.size(); ++i) values[i] = seed * static_cast<float>(i % 17) - static_cast<float>(i) / 7;
  return Floats(values);
}

class ByReference : public ::testing::TestWithParam<Model> {
 protected:
  ByReference() {
    for (const bool second : {false, true}) {
      Script script = Begin();
      script.Do(Script::Set(std::string("set 0 ") + kTensor, second ? b_ : a_)).Do("compute 0").Do("get 0 0");
      (second ? mean_b_ : mean_a_) = Run(script, "copied").back().bytes;
    }
    EXPECT_EQ(mean_a_.size(), 12u);
    EXPECT_NE(mean_a_, mean_b_);
  }
  static Script Begin() {
    Script script;
    script.Do("name 0 m").Do("context 0 0");
    return script;
  }
  static std::string Keep(const Bytes& bytes) { return "keep 0 " + ToHex(bytes); }
  static std::string SetKept() { return std::string("setkept 0 ") + kTensor + " 0"; }
  std::vector<Script::Answer> Run(Script& script, const std::string& inputs) const {
    return script.Run(
        {"--model", "m=" + InSources("tests/models/") + std::string(GetParam().path), "--nn-inputs", inputs},
        folder_.path());
  }

  static constexpr const char* kTensor = "0 1 1,3,8,8";  // index, type, dims
  const TempFolder folder_;
  const Bytes a_ = Image(1), b_ = Image(-3);
  Bytes mean_a_, mean_b_;
};

TEST_P(ByReference, GivesTheSameBytes) {
  Script script = Begin();
  script.Do(Keep(a_)).Do(SetKept()).Do("compute 0").Gives("get 0 0", mean_a_).Do("compute 0").Gives("get 0 0", mean_a_);
  script.Do(Keep(b_)).Do(SetKept()).Do("compute 0").Gives("get 0 0", mean_b_);
  Run(script, "by-reference");
}

TEST_P(ByReference, ReadsWhatIsThereAtCompute) {
  for (const std::string inputs : {"copied", "by-reference"}) {
    const bool lent = inputs != "copied";
    Script script = Begin();
    script.Do(Keep(a_)).Do(SetKept()).Do(Keep(b_)).Do("compute 0").Gives("get 0 0", lent ? mean_b_ : mean_a_);
    // It stays set, and the guest's writes go on to be seen.
    script.Do(Keep(a_)).Gives("get 0 0", lent ? mean_b_ : mean_a_).Do("compute 0").Gives("get 0 0", mean_a_);
    // The memory grows, and may move.
    script.Do(SetKept()).Do("grow 300").Do("compute 0").Gives("get 0 0", mean_a_);
    script.Do(Keep(b_)).Do("compute 0").Gives("get 0 0", lent ? mean_b_ : mean_a_);
    Run(script, inputs);
  }
}

// A buffer that lies where its elements may lie, and no better.
TEST_P(ByReference, ReadsInPlaceWhatTheFrameworkCan) {
  Script script = Begin();
  script.Do(Keep(a_) + " 4").Do(SetKept()).Do(Keep(b_)).Do("compute 0");
  script.Gives("get 0 0", GetParam().any_address ? mean_b_ : mean_a_);
  script.Do("keep 1 " + ToHex(a_) + " 2").Do(std::string("setkept 0 ") + kTensor + " 1").Do("keep 1 " + ToHex(b_));
  script.Do("compute 0").Gives("get 0 0", mean_a_);
  Run(script, "by-reference");
}

// Contexts of one graph, whose requests and interpreters a backend may use in turn.
TEST_P(ByReference, ContextsDoNotMeet) {
  Script script = Begin();
  script.Do("context 1 0").Do(Keep(a_)).Do("keep 1 " + ToHex(b_)).Do(SetKept());
  script.Do(std::string("setkept 1 ") + kTensor + " 1");
  for (int i = 0; i < 3; ++i) {
    script.Do("compute 0").Do("compute 1").Gives("get 0 0", mean_a_).Gives("get 1 0", mean_b_);
  }
  script.Do("finalize 0").Do("compute 1").Gives("get 1 0", mean_b_).Do("context 0 0");
  script.Fails("compute 0", WASI_NN_INVALID_ARGUMENT).Do(SetKept()).Do("compute 0");
  script.Gives("get 0 0", mean_a_).Do("compute 1").Gives("get 1 0", mean_b_);
  Run(script, "by-reference");
}

INSTANTIATE_TEST_SUITE_P(Frameworks, ByReference, ::testing::ValuesIn(Built(kModels, &Model::framework)),
                         [](const auto& model) { return std::string(model.param.framework); });

}  // namespace
}  // namespace wasinn::testing
