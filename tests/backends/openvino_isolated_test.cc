// Models that harm the process in which OpenVINO reads, compiles or computes them: in workers.
#include <regex>

#include "backends/isolated.h"
#include "backends/openvino_models.h"
#include "support/files.h"

namespace wasinn::test {
namespace {

Brought Of(const std::string& name, const std::string& xml, const std::string& weights,
           const std::vector<Tensor>& inputs) {
  Brought model = {.name = name, .builders = {xml}, .inputs = inputs};
  if (!weights.empty()) model.builders.push_back(weights);
  return model;
}

const Tensor& SixtyFour() {
  static const Tensor tensor = Floats({1, 64}, std::vector<float>(64, 0.5f));
  return tensor;
}

std::string WeightsOf(const std::string& name) {
  const LoadOptions options = IrOptions(name);
  return options.more_bytes.empty() ? "" : options.more_bytes[0];
}

Brought MatMul(const std::string& name, const std::string& xml) {
  return Of(name, xml, WeightsOf("matmul"), {SixtyFour()});
}

Workers OpenVino() { return {Encoding::kOpenVino, MatMul("honest", IrXml("matmul"))}; }

// `matmul` with a regular expression's matches replaced.
Brought Changed(const std::string& name, const std::string& from, const std::string& to) {
  const std::string xml = std::regex_replace(IrXml("matmul"), std::regex(from), to);
  EXPECT_NE(xml, IrXml("matmul")) << from;
  return MatMul(name, xml);
}

TEST(OpenVinoIsolated, ModelsThatCrashedTheirProcess) {
  Workers workers = OpenVino();
  const std::string net = "<net name=\"x\" version=\"11\">";
  for (const Brought& model : {
           MatMul("deep", net + "<layers>" + testing::Repeated("<layer>", 100'000)),
           MatMul("elements", net + testing::Repeated("<a/>", 1 << 19) + "</net>"),
           Changed("offset", "offset=\"0\"", "offset=\"9223372036854775807\""),
           Changed("size", "size=\"8192\"", "size=\"9223372036854775800\""),
           Changed("shape", "shape=\"64, 32\"", "shape=\"4611686018427387904, 32\""),
           Changed("negative", "shape=\"1,64\"", "shape=\"-7,64\""),
           Of("huge", IrXml("huge_static"), WeightsOf("huge_static"), {Floats({1, 1}, {1})}),
       }) {
    EXPECT_NE(workers.TryBesideHonest(model), 0u) << model.name << workers.log();
  }
}

// OpenVINO interrupts none: the end of the deadline is the end of the worker.
TEST(OpenVinoIsolated, ALoopEndsWithItsWorker) {
  Workers workers = OpenVino();
  const auto loop = [](int64_t rounds) {
    return Of("loop", IrXml("loop"), WeightsOf("loop"),
              {MakeTensor<int64_t>(WASINN_DTYPE_I64, {}, {rounds}), Floats({1}, {5})});
  };
  EXPECT_EQ(workers.Try(loop(10), Workers::Time::kAll), 0u) << workers.log();
  EXPECT_EQ(workers.lost(), 0u);
  EXPECT_NE(workers.TryBesideHonest(loop(INT64_MAX)), 0u);
  EXPECT_EQ(workers.lost(), 1u) << workers.log();
}

// A name that is written so that no scan of the text finds it: its file cannot be opened.
TEST(OpenVinoIsolated, NoFileIsReadForAnIr) {
  Workers workers = OpenVino();
  const testing::TestFolder folder;
  const std::string file = folder.Write("weights.bin", WeightsOf("matmul"));
  Brought model =
      Changed("hidden", "</layers>",
              "</layers><rt_info><attribute name=\"&#95;_weights_pat&#104;\" value=\"" + file + "\"/></rt_info>");
  model.builders.resize(1);  // it would need them
  EXPECT_NE(workers.TryBesideHonest(model), 0u);
}

TEST(OpenVinoIsolated, ChangedBytes) {
  Workers workers = OpenVino();
  for (const char* name : {"matmul", "iterator", "nonzero"}) {
    workers.TryDamaged(
        30, Of(name, IrXml(name), WeightsOf(name), {SixtyFour()}),
        [](char /*byte*/, uint32_t random) { return "0123456789-<>\"a/"[random % 16]; }, 2);
  }
}

}  // namespace
}  // namespace wasinn::test
