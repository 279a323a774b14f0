// Models that harm the process in which TensorFlow Lite loads or computes them: in workers.
#include "backends/isolated.h"
#include "backends/test_host.h"
#include "backends/tflite_writer.h"
#include "support/test.h"

namespace wasinn::test {
namespace {

Brought Of(const std::string& name, const std::vector<TfLiteGraph>& graphs,
           const std::vector<Tensor>& inputs = {Floats({1}, {1})}) {
  return {.name = name, .builders = {WriteTfLite(graphs)}, .inputs = inputs};
}

TfOperator Add(int32_t a, int32_t b, int32_t out) {
  return {.code = kOpAdd, .inputs = {a, b}, .outputs = {out}, .options_type = kAddOptions};
}

Brought Adds(const std::string& name, const std::vector<TfOperator>& operators) {
  return Of(name, {{.tensors = {{.name = "x", .shape = {1}},
                                {.name = "y", .shape = {1}},
                                {.name = "a", .shape = {1}},
                                {.name = "b", .shape = {1}}},
                    .inputs = {0},
                    .outputs = {1},
                    .operators = operators}});
}

Workers TfLite() { return {Encoding::kTfLite, Adds("honest", {Add(0, 0, 2), Add(2, 0, 3), Add(3, 2, 1)})}; }

// Each graph calls the next one twice.
std::vector<TfLiteGraph> Doubling(int32_t graphs) {
  std::vector<TfLiteGraph> doubling;
  for (int32_t i = 0; i < graphs; ++i) doubling.push_back(Loop(i + 1, i + 1));
  doubling.push_back(kAlways);
  return doubling;
}

// A loop in which there is nothing to interrupt.
std::vector<TfLiteGraph> Empty() {
  const TfLiteGraph body = {.tensors = {{.name = "v", .shape = {1}}}, .inputs = {0}, .outputs = {0}};
  const TfLiteGraph cond = {.tensors = {{.name = "v", .shape = {1}},
                                        {.name = "go", .type = kTfBool, .shape = {1}, .data = std::string(1, 1)}},
                            .inputs = {0},
                            .outputs = {1}};
  return {Loop(1, 2), cond, body};
}

// XNNPACK copies the options of this operator to its stack, as many as there are.
std::vector<TfLiteGraph> LongOptions() {
  return {{.tensors = {{.name = "x", .shape = {1, 2, 2, 1}},
                       {.name = "w", .shape = {1, 2, 2, 1}, .data = DataOf(std::vector<float>(4, 1))},
                       {.name = "b", .shape = {1}, .data = DataOf<float>({0})},
                       {.name = "y", .shape = {1, 4, 4, 1}}},
           .inputs = {0},
           .outputs = {3},
           .operators = {{.code = kOpCustom,
                          .inputs = {0, 1, 2},
                          .outputs = {3},
                          .custom = "Convolution2DTransposeBias",
                          .custom_options = std::string("\1\0\0\0\2\0\0\0\2\0\0\0", 12) + std::string(4000, 'x')}}}};
}

TEST(TfLiteIsolated, ModelsThatCrashedTheirProcess) {
  Workers workers = TfLite();
  for (const Brought& model : {
           Adds("takes what nothing gives", {Add(0, 3, 1)}),
           Adds("takes its own", {Add(0, 1, 1)}),
           Adds("circle", {Add(0, 3, 2), Add(2, 0, 3), Add(3, 2, 1)}),
           Adds("wrong order", {Add(2, 2, 1), Add(0, 0, 2)}),
           Adds("one tensor twice", {Add(0, 0, 1), Add(0, 0, 1)}),
           Adds("no such tensor", {Add(0, 70'000'000, 1)}),
           Of("itself", {Loop(0, 0)}),
           Of("each other", {Loop(1, 1), Loop(0, 0)}),
           Of("no such graph", {Loop(7, -1)}),
           Of("doubling", Doubling(30)),
           Of("empty loop", Empty()),
           Of("options", LongOptions(), {Floats({1, 2, 2, 1}, {1, 1, 1, 1})}),
       }) {
    (void)workers.TryBesideHonest(model);  // some do no harm here
  }
  EXPECT_GT(workers.lost(), 0u) << workers.log();
}

// TensorFlow Lite asks whether to go on, but not in a loop without operators.
TEST(TfLiteIsolated, ALoopThatNothingInterruptsEndsWithItsWorker) {
  Workers workers = TfLite();
  EXPECT_NE(workers.TryBesideHonest(Of("empty loop", Empty())), 0u);
  EXPECT_EQ(workers.lost(), 1u) << workers.log();
}

Brought Ones(const std::string& name, const std::string& bytes) {
  const std::vector<float> ones(64, 1);
  return {.name = name, .builders = {bytes}, .inputs = {Floats({1, 4, 4, 4}, ones)}};
}

TEST(TfLiteIsolated, TruncatedAndFlippedModels) {
  Workers workers = TfLite();
  for (const char* name : {"sum.tflite", "max.tflite", "mult_outputs.tflite", "scale.tflite"}) {
    const std::string good = ModelBytes(name);
    size_t size = 0;
    workers.TryVariants(20, [&] { return Ones(name, good.substr(0, size += good.size() / 21)); });
    workers.TryDamaged(100, Ones(name, good), [](char byte, uint32_t random) {
      return static_cast<char>(byte ^ (random % 2 == 0 ? 0x01 : 0xff));
    });
  }
}

}  // namespace
}  // namespace wasinn::test
