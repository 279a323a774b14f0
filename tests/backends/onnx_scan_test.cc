
#include "backends/onnx_writer.h"
#include "backends/thrown.h"
#include "onnx/model_scan.h"

namespace wasinn::test {
namespace {

using onnx::ModelScan;
using onnx::Trust;

wasinn_code Scan(const std::string& model, Trust trust = Trust::kGuest, ModelScan* scan = nullptr) {
  // Exactly as long as the model, so that a sanitizer sees a read past its end.
  const std::vector<uint8_t> copy(model.begin(), model.end());
  return ThrownBy([&] {
           ModelScan result = onnx::ScanModel(copy, trust);
           if (scan != nullptr) *scan = std::move(result);
         })
      .code;
}

Graph Honest() {
  return {.nodes = {Node("Add", {"x", "w"}, {"y"})},
          .constants = {Constant<float>("w", kFloat, {1}, {1})},
          .inputs = {Value("x", kFloat, {}), Value("any", TensorTypeOfAnyRank(kFloat))},
          .outputs = {Value("y", kFloat, {1})}};
}

Proto ConstantNode(const Proto& tensor) { return Node("Constant", {}, {"w"}).Add(5, TensorAttribute("value", tensor)); }

TEST(OnnxScan, FindsTheContentsOfAModel) {
  ModelScan scan;
  ASSERT_EQ(Scan(ModelOf(Honest()), Trust::kGuest, &scan), WASINN_OK);
  EXPECT_THAT(scan.ranked, ElementsAre("x", "y"));
}

TEST(OnnxScan, RefusesWhatIsNoModel) {
  EXPECT_EQ(Scan(""), WASINN_ERROR_INVALID_ENCODING);
  EXPECT_EQ(Scan("this is not a model"), WASINN_ERROR_INVALID_ENCODING);
  EXPECT_EQ(Scan(std::string(100, '\0')), WASINN_ERROR_INVALID_ENCODING);
  EXPECT_EQ(Scan(Proto().Int(1, 8).bytes()), WASINN_ERROR_INVALID_ENCODING) << "no graph";
  EXPECT_EQ(Scan("this is not a model", Trust::kHost), WASINN_ERROR_INVALID_ENCODING);
}

TEST(OnnxScan, RefusesEveryModelThatIsCutOff) {
  const std::string model = ModelOf(Honest());
  // The last field but one is the operator set, without which a model is still one.
  const size_t graph_end = model.size() - WriteModel(Proto()).bytes().size() + 4;
  for (size_t size = 0; size < model.size(); ++size) {
    const auto code = Scan(model.substr(0, size));
    EXPECT_EQ(code, size == graph_end ? WASINN_OK : WASINN_ERROR_INVALID_ENCODING) << size;
  }
}

TEST(OnnxScan, SurvivesEveryFlippedBit) {
  std::string model = ModelOf(Honest());
  for (size_t i = 0; i < model.size() * 8; ++i) {
    model[i / 8] = static_cast<char>(model[i / 8] ^ 1 << i % 8);
    Scan(model);
    Scan(model, Trust::kHost);
    model[i / 8] = static_cast<char>(model[i / 8] ^ 1 << i % 8);
  }
}

TEST(OnnxScan, RefusesExternalDataWhereverATensorCanBe) {
  const Proto tensor = External("w", kFloat, {1}, "secret");
  const Proto sparse = Proto().Add(1, tensor).Add(2, Constant<int64_t>("", kInt64, {1}, {0})).Int(3, 1);
  const Proto sparse_indices = Proto().Add(1, Constant<float>("", kFloat, {1}, {0})).Add(2, tensor).Int(3, 1);
  const Proto holder = Graph{.constants = {tensor}}.Write();
  const auto with_attribute = [](const Proto& attribute) {
    return WriteModel(Graph{.nodes = {Node("Op", {}, {"y"}).Add(5, attribute)}}.Write()).bytes();
  };
  const auto named = [] { return Proto().Text(1, "a"); };
  const std::vector<std::pair<const char*, std::string>> models = {
      {"initializer", WriteModel(holder).bytes()},
      {"sparse values", WriteModel(Proto().Add(15, sparse)).bytes()},
      {"sparse indices", WriteModel(Proto().Add(15, sparse_indices)).bytes()},
      {"attribute", with_attribute(named().Add(5, tensor))},
      {"list of tensors", with_attribute(named().Add(10, tensor))},
      {"sparse attribute", with_attribute(named().Add(22, sparse))},
      {"list of sparse tensors", with_attribute(named().Add(23, sparse))},
      {"subgraph", with_attribute(named().Add(6, holder))},
      {"list of subgraphs", with_attribute(named().Add(11, holder))},
      {"subgraph of a subgraph",
       with_attribute(named().Add(6, Graph{.nodes = {Node("If", {}, {}).Add(5, named().Add(6, holder))}}.Write()))},
      {"function", WriteModel(Proto()).Add(25, Proto().Add(7, ConstantNode(tensor))).bytes()},
      {"default of a function", WriteModel(Proto()).Add(25, Proto().Add(11, named().Add(5, tensor))).bytes()},
      {"training, first", WriteModel(Proto()).Add(20, Proto().Add(1, holder)).bytes()},
      {"training", WriteModel(Proto()).Add(20, Proto().Add(2, holder)).bytes()},
  };
  for (const auto& [where, model] : models) {
    EXPECT_EQ(Scan(model), WASINN_ERROR_SECURITY) << where;
    EXPECT_EQ(Scan(model, Trust::kHost), WASINN_OK) << where;
  }
}

// Protocol Buffers take the low 32 bits of an enumeration and of a tag, and accept numbers that are longer than they need be.
TEST(OnnxScan, SeesThroughUnusualNumbers) {
  const auto with_tensor = [](const Proto& tensor) { return ModelOf({.constants = {tensor}}); };
  EXPECT_EQ(Scan(with_tensor(Proto().Int(14, 1))), WASINN_ERROR_SECURITY);
  EXPECT_EQ(Scan(with_tensor(Proto().Int(14, 0x100000001))), WASINN_ERROR_SECURITY);
  EXPECT_EQ(Scan(with_tensor(Proto().Raw(std::string("\x70\x81\x80\x00", 4)))), WASINN_ERROR_SECURITY);
  EXPECT_EQ(Scan(with_tensor(Proto().Raw(std::string("\xf0\x80\x00\x01", 4)))), WASINN_ERROR_SECURITY) << "a long tag";
  EXPECT_EQ(Scan(with_tensor(Proto().Raw(std::string("\xf0\x80\x80\x80\x10\x01", 6)))), WASINN_ERROR_SECURITY)
      << "a tag of more than 32 bits";
  EXPECT_EQ(Scan(with_tensor(Proto().Raw(std::string("\xf0\x80\x80\x80\x80\x00\x01", 7)))),
            WASINN_ERROR_INVALID_ENCODING)
      << "a tag of six bytes";
  EXPECT_EQ(Scan(with_tensor(Proto().Int(14, 0))), WASINN_OK);
}

TEST(OnnxScan, RefusesGroups) {
  const std::string good = ModelOf(Honest());
  EXPECT_EQ(Scan(good + "\x7b\x7c"), WASINN_ERROR_INVALID_ENCODING);
  EXPECT_EQ(Scan(good + "\x7c"), WASINN_ERROR_INVALID_ENCODING);
}

TEST(OnnxScan, RefusesNestingThatProtocolBuffersRefuse) {
  const auto nested = [](int depth) {
    Proto graph;
    for (int i = 0; i < depth; ++i) graph = Proto().Add(1, Node("If", {}, {}).Add(5, GraphAttribute("a", graph)));
    return WriteModel(graph).bytes();
  };
  EXPECT_EQ(Scan(nested(30)), WASINN_OK);
  EXPECT_EQ(Scan(nested(40)), WASINN_ERROR_INVALID_ENCODING);
  EXPECT_EQ(Scan(nested(5000)), WASINN_ERROR_INVALID_ENCODING);
}

TEST(OnnxScan, RefusesOtherWaysOut) {
  EXPECT_EQ(Scan(WriteModel(Proto()).Add(14, Proto().Text(1, "ort_config").Text(2, "{}")).bytes()),
            WASINN_ERROR_SECURITY);
  EXPECT_EQ(Scan(WriteModel(Proto()).Add(14, Proto().Text(1, "author").Text(2, "me")).bytes()), WASINN_OK);
  EXPECT_EQ(Scan(ModelOf({.nodes = {Node("EPContext", {}, {}).Text(7, "com.microsoft")}})), WASINN_ERROR_SECURITY);
}

}  // namespace
}  // namespace wasinn::test
