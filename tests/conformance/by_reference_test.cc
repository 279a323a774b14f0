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
  static std::string Keep(int buffer, const Bytes& bytes) {
    return "keep " + std::to_string(buffer) + " " + ToHex(bytes);
  }
  static std::string SetKept(int context, int buffer) {
    return "setkept " + std::to_string(context) + " " + kTensor + " " + std::to_string(buffer);
  }
  std::vector<Script::Answer> Run(Script& script, const std::string& inputs) const {
    return script.Run(
        {"--model", "m=" + InSources("tests/models/") + std::string(GetParam().path), "--nn-inputs", inputs},
        folder_.path());
  }
  // An input in a buffer that the guest has written since, and then again; and with a memory that has grown.
  static void WriteAfterSet(Script& script, const Bytes& written, const Bytes& mean_of_it, const Bytes& other,
                            const Bytes& mean_of_other, bool is_lent) {
    script.Do(Keep(0, other)).Do(SetKept(0, 0)).Do(Keep(0, written)).Do("compute 0");
    script.Gives("get 0 0", is_lent ? mean_of_it : mean_of_other);
    // It stays set, and the guest's writes go on to be seen.
    script.Do(Keep(0, other)).Do("compute 0").Gives("get 0 0", mean_of_other);
    script.Do(SetKept(0, 0)).Do("grow 300").Do("compute 0").Gives("get 0 0", mean_of_other);
    script.Do(Keep(0, written)).Do("compute 0").Gives("get 0 0", is_lent ? mean_of_it : mean_of_other);
  }

  static constexpr const char* kTensor = "0 1 1,3,8,8";  // index, type, dims
  const TempFolder folder_;
  const Bytes a_ = Image(1), b_ = Image(-3);
};

TEST_P(ByReference, ReadsWhatIsThereAtCompute) {
  Script copied;
  copied.Do("name 0 m").Do("context 0 0");
  for (const Bytes& image : {a_, b_}) {
    copied.Do(Script::Set(std::string("set 0 ") + kTensor, image)).Do("compute 0").Do("get 0 0");
  }
  const auto answers = Run(copied, "copied");
  const Bytes mean_a = answers.at(4).bytes, mean_b = answers.at(7).bytes;
  EXPECT_EQ(mean_a.size(), 12u);
  EXPECT_NE(mean_a, mean_b);
  Script still_copied;
  still_copied.Do("name 0 m").Do("context 0 0");
  WriteAfterSet(still_copied, b_, mean_b, a_, mean_a, false);
  Run(still_copied, "copied");

  Script script;
  script.Do("name 0 m").Do("context 0 0");
  WriteAfterSet(script, b_, mean_b, a_, mean_a, true);
  // A buffer with the alignment of its elements, and one with less.
  script.Do(Keep(2, a_) + " 4").Do(SetKept(0, 2)).Do(Keep(2, b_)).Do("compute 0");
  script.Gives("get 0 0", GetParam().any_address ? mean_b : mean_a);
  script.Do(Keep(3, a_) + " 2").Do(SetKept(0, 3)).Do(Keep(3, b_)).Do("compute 0").Gives("get 0 0", mean_a);
  // Contexts of one graph, whose requests and interpreters a backend may use in turn.
  script.Do("context 1 0").Do(Keep(0, a_)).Do(Keep(1, b_)).Do(SetKept(0, 0)).Do(SetKept(1, 1));
  for (int i = 0; i < 3; ++i) {
    script.Do("compute 0").Do("compute 1").Gives("get 0 0", mean_a).Gives("get 1 0", mean_b);
  }
  script.Do("finalize 0").Do("compute 1").Gives("get 1 0", mean_b).Do("context 0 0");
  script.Fails("compute 0", WASI_NN_INVALID_ARGUMENT).Do(SetKept(0, 0)).Do("compute 0");
  script.Gives("get 0 0", mean_a).Do("compute 1").Gives("get 1 0", mean_b);
  Run(script, "by-reference");
}

INSTANTIATE_TEST_SUITE_P(Frameworks, ByReference, ::testing::ValuesIn(Built(kModels, &Model::framework)),
                         [](const auto& model) { return std::string(model.param.framework); });

}  // namespace
}  // namespace wasinn::testing
