#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/onnx_writer.h"
#include "common/error.h"
#include "onnx/model_scan.h"

namespace wasinn::test {
namespace {

using onnx::ModelScan;
using onnx::Trust;
using ::testing::ElementsAre;

wasinn_code Scan(const std::string& model, Trust trust = Trust::kGuest, ModelScan* scan = nullptr,
                 uint64_t max_parsed_bytes = UINT64_MAX) {
  // Exactly as long as the model, so that a sanitizer sees a read past its end.
  const std::vector<uint8_t> copy(model.begin(), model.end());
  try {
    ModelScan result = onnx::ScanModel(copy, trust, max_parsed_bytes);
    if (scan != nullptr) *scan = std::move(result);
    return WASINN_OK;
  } catch (const backend::Error& error) {
    return error.code();
  }
}

Graph Honest() {
  return {.nodes = {Node("Add", {"x", "w"}, {"y"})},
          .constants = {Constant<float>("w", kFloat, {1}, {1})},
          .inputs = {Value("x", kFloat, {}), Value("any", TensorTypeOfAnyRank(kFloat))},
          .outputs = {Value("y", kFloat, {1})}};
}

Proto ConstantNode(const Proto& tensor) { return Node("Constant", {}, {"w"}).Add(5, TensorAttribute("value", tensor)); }

TEST(OnnxScan, TellsWhatIsInAModel) {
  ModelScan scan;
  ASSERT_EQ(Scan(ModelOf(Honest()), Trust::kGuest, &scan), WASINN_OK);
  EXPECT_EQ(scan.nodes, 1u);
  EXPECT_THAT(scan.ranked, ElementsAre("x", "y"));
}

TEST(OnnxScan, RefusesWhatIsNoModel) {
  EXPECT_EQ(Scan(""), WASINN_INVALID_ENCODING);
  EXPECT_EQ(Scan("this is not a model"), WASINN_INVALID_ENCODING);
  EXPECT_EQ(Scan(std::string(100, '\0')), WASINN_INVALID_ENCODING);
  EXPECT_EQ(Scan(Proto().Int(1, 8).bytes()), WASINN_INVALID_ENCODING) << "no graph";
  EXPECT_EQ(Scan("this is not a model", Trust::kHost), WASINN_INVALID_ENCODING);
}

TEST(OnnxScan, RefusesEveryModelThatIsCutOff) {
  const std::string model = ModelOf(Honest());
  // The last field but one is the operator set, without which a model is still one.
  const size_t graph_end = model.size() - WriteModel(Proto()).bytes().size() + 4;
  for (size_t size = 0; size < model.size(); ++size) {
    const auto code = Scan(model.substr(0, size));
    EXPECT_EQ(code, size == graph_end ? WASINN_OK : WASINN_INVALID_ENCODING) << size;
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
    EXPECT_EQ(Scan(model), WASINN_SECURITY) << where;
    EXPECT_EQ(Scan(model, Trust::kHost), WASINN_OK) << where;
  }
}

// Protocol Buffers take the low 32 bits of an enumeration, and accept numbers that are longer than they need be.
TEST(OnnxScan, SeesThroughUnusualNumbers) {
  const auto with_tensor = [](const Proto& tensor) { return ModelOf({.constants = {tensor}}); };
  EXPECT_EQ(Scan(with_tensor(Proto().Int(14, 1))), WASINN_SECURITY);
  EXPECT_EQ(Scan(with_tensor(Proto().Int(14, 0x100000001))), WASINN_SECURITY);
  EXPECT_EQ(Scan(with_tensor(Proto().Raw(std::string("\x70\x81\x80\x00", 4)))), WASINN_SECURITY);
  EXPECT_EQ(Scan(with_tensor(Proto().Raw(std::string("\xf0\x80\x00\x01", 4)))), WASINN_SECURITY) << "a long tag";
  EXPECT_EQ(Scan(with_tensor(Proto().Raw(std::string("\xf0\x80\x80\x80\x10\x01", 6)))), WASINN_INVALID_ENCODING)
      << "a tag of more than 32 bits";
  EXPECT_EQ(Scan(with_tensor(Proto().Int(14, 0))), WASINN_OK);
}

// A message that comes twice is one to Protocol Buffers, merged: what we see of each half is not what ONNX Runtime
// sees.
TEST(OnnxScan, RefusesFieldsThatStandTwice) {
  const std::string graph = Proto().Add(7, Honest().Write()).bytes();
  EXPECT_EQ(Scan(graph + graph), WASINN_INVALID_ENCODING);
  EXPECT_EQ(Scan(graph + graph, Trust::kHost), WASINN_OK);
  const Proto twice = Proto()
                          .Text(1, "body")
                          .Add(6, Graph{.inputs = {Value("x", kFloat, {})}}.Write())
                          .Add(6, Graph{.outputs = {Value("x", kFloat, {})}}.Write());
  EXPECT_EQ(Scan(ModelOf({.nodes = {Node("Loop", {}, {}).Add(5, twice)}})), WASINN_INVALID_ENCODING);
}

TEST(OnnxScan, RefusesGroups) {
  const std::string good = ModelOf(Honest());
  EXPECT_EQ(Scan(good + "\x7b\x7c"), WASINN_INVALID_ENCODING);
  EXPECT_EQ(Scan(good + "\x7c"), WASINN_INVALID_ENCODING);
}

TEST(OnnxScan, RefusesLoopsThatNothingCouldStop) {
  const auto loop = [](const Graph& body) {
    return ModelOf({.nodes = {Node("Loop", {"n", "go", "x"}, {"y"}).Add(5, GraphAttribute("body", body.Write()))}});
  };
  const std::vector<Proto> inputs = {Value("i", kInt64, {}), Value("go", kBool, {}), Value("v", kFloat, {1})};
  EXPECT_EQ(Scan(loop({.inputs = inputs, .outputs = {inputs[1], inputs[2]}})), WASINN_UNSUPPORTED_OPERATION);
  // Nodes that lead to no output do not last.
  EXPECT_EQ(
      Scan(loop({.nodes = {Node("Identity", {"v"}, {"dead"})}, .inputs = inputs, .outputs = {inputs[1], inputs[2]}})),
      WASINN_UNSUPPORTED_OPERATION);
  const Graph good = {
      .nodes = {Node("Identity", {"v"}, {"w"})}, .inputs = inputs, .outputs = {inputs[1], Value("w", kFloat, {1})}};
  EXPECT_EQ(Scan(loop(good)), WASINN_OK);
  // Branches of an If have no inputs.
  EXPECT_EQ(Scan(loop({.nodes = {Node("Identity", {"v"}, {"w"})}, .outputs = {Value("w", kFloat, {1})}})), WASINN_OK);
}

Proto Function(const std::string& name, const std::vector<Proto>& nodes) {
  Proto function = Proto().Text(1, name).Text(4, "a").Text(5, "b").Text(10, "local");
  for (const Proto& node : nodes) function.Add(7, node);
  return function;
}
Proto Call(const std::string& name) { return Node(name, {"a"}, {"b"}).Text(7, "local"); }

// Each function calls the next one `calls` times; the last has one operator.
std::string Chain(int functions, int calls) {
  Proto model = WriteModel(Graph{.nodes = {Call("f0")}}.Write());
  for (int i = 0; i < functions; ++i) {
    const bool last = i + 1 == functions;
    const std::string next = "f" + std::to_string(i + 1);
    model.Add(25, Function("f" + std::to_string(i),
                           std::vector<Proto>(last ? 1 : calls, last ? Node("Relu", {"a"}, {"b"}) : Call(next))));
  }
  return model.bytes();
}

TEST(OnnxScan, RefusesFunctionsThatExplode) {
  ModelScan scan;
  ASSERT_EQ(Scan(Chain(3, 2), Trust::kGuest, &scan), WASINN_OK);
  EXPECT_EQ(scan.nodes, 1u + 2 + 2 * 2 + 2 * 2);
  EXPECT_EQ(Scan(Chain(40, 2)), WASINN_TOO_LARGE);
  EXPECT_EQ(Scan(Chain(60, 1)), WASINN_OK);
  EXPECT_EQ(Scan(Chain(70, 1)), WASINN_TOO_LARGE);
  EXPECT_EQ(Scan(Chain(100000, 1)), WASINN_TOO_LARGE) << "its own stack";
  EXPECT_EQ(Scan(Chain(40, 2), Trust::kHost), WASINN_OK);
  const Proto main = Graph{.nodes = {Call("f")}}.Write();
  EXPECT_EQ(Scan(WriteModel(main).Add(25, Function("f", {Call("f")})).bytes()), WASINN_INVALID_ENCODING);
}

TEST(OnnxScan, CountsWhatGrowsWhenItIsParsed) {
  const auto sparse = [](const Proto& dims) {
    return Proto().Add(1, Constant<float>("w", kFloat, {1}, {1})).Raw(dims.bytes());
  };
  const auto more = [](const Proto& model) {
    ModelScan scan;
    EXPECT_EQ(Scan(model.bytes(), Trust::kGuest, &scan), WASINN_OK);
    return scan.more_bytes;
  };
  EXPECT_EQ(more(WriteModel(Proto())), 0u);
  EXPECT_EQ(more(WriteModel(Proto().Add(15, sparse(Proto().Int(3, 10).Int(3, 20))))), 10u * 20 * 8);
  EXPECT_EQ(more(WriteModel(Proto().Add(15, sparse(Proto().Text(3, "\x0a\x14"))))), 10u * 20 * 8) << "packed";
  EXPECT_EQ(more(WriteModel(Proto().Add(15, sparse(Proto().Int(3, 1ull << 40).Int(3, 1ull << 40))))), UINT64_MAX);
  EXPECT_EQ(more(WriteModel(Proto().Add(15, sparse(Proto().Int(3, UINT64_MAX))))), UINT64_MAX) << "-1";
  // Of one byte each in the file, of eight or four once they are read; one by one they are the same.
  const auto tensor = [](const Proto& numbers) { return Proto().Add(5, numbers); };
  EXPECT_EQ(more(WriteModel(tensor(Proto().Text(7, std::string(1000, '\x01'))))), 8000u);
  EXPECT_EQ(more(WriteModel(tensor(Proto().Text(11, "\x80\x01\x02")))), 16u);
  EXPECT_EQ(more(WriteModel(tensor(Proto().Text(5, std::string(1000, '\x01'))))), 4000u);
  EXPECT_EQ(more(WriteModel(tensor(Proto().Int(7, 1).Int(7, 2)))), 16u);
  EXPECT_EQ(more(WriteModel(tensor(Proto().Text(9, std::string(1000, '\x01'))))), 0u) << "raw data are what they are";
  const Proto ints = Proto().Text(1, "value_ints").Text(8, std::string(1000, '\x01'));
  EXPECT_EQ(more(WriteModel(Graph{{Node("Constant", {}, {"c"}).Add(5, ints)}}.Write())), 8000u);
  // Once for each call.
  const Proto attribute = Proto().Text(1, "sparse_value").Add(22, sparse(Proto().Int(3, 100)));
  const Proto function = Function("f", {Node("Constant", {}, {"b"}).Add(5, attribute)});
  const Graph main = {.nodes = {Call("f"), Call("f"), Call("f")}};
  EXPECT_EQ(more(WriteModel(main.Write()).Add(25, function)), 3 * (uint64_t{100} * 8 + function.bytes().size()));
  // Sums of 2^63 and 2^63: of two overloads, and of a function and what it calls.
  const Proto half = Proto().Text(1, "sparse_value").Add(22, sparse(Proto().Int(3, uint64_t{1} << 60)));
  const Proto large = Node("Constant", {}, {"b"}).Add(5, half);
  const Proto overload = Function("f", {large}), caller = Function("f", {large, Call("g")});
  const Proto one = WriteModel(Graph{.nodes = {Call("f")}}.Write());
  EXPECT_EQ(more(Proto(one).Add(25, overload).Add(25, overload)), UINT64_MAX);
  EXPECT_EQ(more(Proto(one).Add(25, caller).Add(25, Function("g", {large}))), UINT64_MAX);
}

TEST(OnnxScan, RefusesWhatGrowsTooLargeWhenItIsParsed) {
  const auto scan = [](const Proto& graph, uint64_t max_parsed_bytes) {
    return Scan(WriteModel(graph).bytes(), Trust::kGuest, nullptr, max_parsed_bytes);
  };
  Proto nodes, values, names, dims;
  for (int i = 0; i < 1000; ++i) {
    nodes.Add(1, Proto());
    values.Add(13, Proto());
    names.Text(1, "");
    dims.Add(1, Proto());
  }
  const Proto tensor_type = Proto().Add(1, Proto().Int(1, kFloat).Add(2, dims));
  for (const Proto& graph : {nodes, values, Proto().Add(1, names), Proto().Add(11, Proto().Add(2, tensor_type))}) {
    EXPECT_EQ(scan(graph, 8 << 20), WASINN_OK);
    EXPECT_EQ(scan(graph, 60'000), WASINN_TOO_LARGE);
  }
}

TEST(OnnxScan, RefusesNestingThatProtocolBuffersRefuse) {
  const auto nested = [](int depth) {
    Proto graph;
    for (int i = 0; i < depth; ++i) graph = Proto().Add(1, Node("If", {}, {}).Add(5, GraphAttribute("a", graph)));
    return WriteModel(graph).bytes();
  };
  EXPECT_EQ(Scan(nested(30)), WASINN_OK);
  EXPECT_EQ(Scan(nested(40)), WASINN_INVALID_ENCODING);
  EXPECT_EQ(Scan(nested(5000)), WASINN_INVALID_ENCODING);
}

TEST(OnnxScan, RefusesOtherWaysOut) {
  EXPECT_EQ(Scan(WriteModel(Proto()).Add(14, Proto().Text(1, "ort_config").Text(2, "{}")).bytes()), WASINN_SECURITY);
  EXPECT_EQ(Scan(WriteModel(Proto()).Add(14, Proto().Text(1, "author").Text(2, "me")).bytes()), WASINN_OK);
  EXPECT_EQ(Scan(ModelOf({.nodes = {Node("EPContext", {}, {}).Text(7, "com.microsoft")}})), WASINN_SECURITY);
}

// Operators beside the standard's are in ONNX Runtime for those who know what they feed them.
TEST(OnnxScan, RefusesOperatorsOfOtherDomains) {
  const Proto foreign = Node("Gelu", {"a"}, {"b"}).Text(7, "com.microsoft");
  const Proto in_subgraph = Node("If", {"c"}, {"d"}).Add(5, GraphAttribute("then_branch", Graph{{foreign}}.Write()));
  const auto with_function = [](const Proto& node, const Proto& function) {
    return WriteModel(Graph{{node}}.Write()).Add(25, function).bytes();
  };
  for (const std::string& model :
       {ModelOf({{foreign}}), ModelOf({{in_subgraph}}), with_function(Call("f"), Function("f", {foreign})),
        with_function(Call("f"), Function("f", {in_subgraph})), ModelOf({{Call("f")}}),
        with_function(Call("g"), Function("f", {}))}) {
    EXPECT_EQ(Scan(model), WASINN_SECURITY);
    EXPECT_EQ(Scan(model, Trust::kHost), WASINN_OK);
  }
  for (const char* domain :
       {"com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc", "ai.onnx.preview.training", "ai.onnx.training",
        "org.pytorch.aten", "ai.onnx.contrib", "ai.onnx ", "AI.ONNX", "nobody's"}) {
    EXPECT_EQ(Scan(ModelOf({{Node("Relu", {"a"}, {"b"}).Text(7, domain)}})), WASINN_SECURITY) << domain;
  }
  // ONNX Runtime's own operator would be computed.
  EXPECT_EQ(Scan(with_function(foreign, Proto().Text(1, "Gelu").Text(10, "com.microsoft"))), WASINN_SECURITY);
  // What is declared only does nothing.
  const Proto declared = WriteModel(Graph{{Node("Relu", {"a"}, {"b"})}}.Write());
  EXPECT_EQ(Scan(Proto(declared).Add(8, Proto().Text(1, "com.microsoft").Int(2, 1)).bytes()), WASINN_OK);
  for (const char* domain : {"", "ai.onnx", "ai.onnx.ml"}) {
    EXPECT_EQ(Scan(ModelOf({{Node("Relu", {"a"}, {"b"}).Text(7, domain)}})), WASINN_OK) << domain;
  }
  EXPECT_EQ(Scan(with_function(Call("f"), Function("f", {Node("Relu", {"a"}, {"b"})}))), WASINN_OK);
}

// Nothing counts the bytes of ONNX Runtime's strings.
TEST(OnnxScan, RefusesStringsThatBecomeMany) {
  const auto tensor = [](size_t n) {
    return WriteModel(Proto().Add(5, Proto().Text(6, "short").Text(6, std::string(n, 'a')))).bytes();
  };
  const auto attribute = [](const char* name, int field, size_t n) {
    const Proto written = Proto().Text(field, std::string(n, 'a')).Text(1, name);
    return ModelOf({{Node("LabelEncoder", {"a"}, {"b"}).Text(7, "ai.onnx.ml").Add(5, written)}});
  };
  EXPECT_EQ(Scan(tensor(64)), WASINN_OK);
  EXPECT_EQ(Scan(attribute("values_strings", 9, 64)), WASINN_OK);
  EXPECT_EQ(Scan(attribute("equation", 4, 1000)), WASINN_OK) << "it never is an element";
  for (const std::string& model : {tensor(65), attribute("values_strings", 9, 65), attribute("default_string", 4, 65),
                                   attribute("value_string", 4, 65)}) {
    EXPECT_EQ(Scan(model), WASINN_TOO_LARGE);
    EXPECT_EQ(Scan(model, Trust::kHost), WASINN_OK);
  }
  const std::string concat = ModelOf({{Node("StringConcat", {"a", "a"}, {"b"})}});
  EXPECT_EQ(Scan(concat), WASINN_SECURITY);
  EXPECT_EQ(Scan(concat, Trust::kHost), WASINN_OK);
}

TEST(OnnxScan, TakesOrtFormatFromTheHostOnly) {
  const std::string model = std::string("\x18\0\0\0ORTM", 8) + std::string(100, 'x');
  EXPECT_EQ(Scan(model), WASINN_UNSUPPORTED_OPERATION);
  EXPECT_EQ(Scan(model, Trust::kHost), WASINN_OK);
}

}  // namespace
}  // namespace wasinn::test
