// WAMR's own test programs of its wasi-nn, as they are: they load models of these names by its first module, check the
// results themselves and end with abort() at the first that is wrong. The models are ours, for WAMR keeps scripts that
// make them with TensorFlow, and not the files.
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

// `models`: the name by which the program asks, and the file in tests/models/tflite.
void Passes(const std::string& program, const std::map<std::string, std::string>& models) {
  std::vector<std::string> flags = {"--env", "TARGET=cpu"};
  for (const auto& [name, file] : models) {
    flags.insert(flags.end(),
                 {"--model", "./models/" + name + ".tflite=" + InSources("tests/models/tflite/") + file + ".tflite"});
  }
  const CommandResult run = RunGuest(flags, program, {});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(Lines(run.out), ::testing::Contains(::testing::EndsWith("Tests: passed!"))) << run.out << run.err;
}

TEST(WamrsOwn, TensorFlow) {
  Passes("wamrs_test_tensorflow", {{"sum", "sum"},
                                   {"max", "max"},
                                   {"average", "average"},
                                   {"mult_dim", "mult_dimension"},
                                   {"mult_out", "mult_outputs"}});
}

// Values of 8 bits are the model's own matter here: WAMR's model has them at its ends too, and WAMR converts a guest's
// floats there, which docs/abi.md says wasinn does not.
TEST(WamrsOwn, TensorFlowQuantized) {
  Passes("wamrs_test_tensorflow_quantized", {{"quantized_model", "average_int8"}});
}

}  // namespace
}  // namespace wasinn::testing
