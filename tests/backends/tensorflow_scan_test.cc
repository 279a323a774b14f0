// The possible state and outputs of a run, found from the graph only.
#include "tensorflow/graph_scan.h"

#include "backends/tensorflow_writer.h"
#include "support/test.h"

namespace wasinn::test {
namespace {

using tensorflow::Effects;

Effects EffectsOf(const std::string& graph, const std::vector<std::string>& outputs) {
  const std::vector<uint8_t> bytes(graph.begin(), graph.end());
  return tensorflow::FindEffects(tensorflow::ScanGraph(bytes), outputs);
}

TEST(TensorFlowScan, WholeBuffersComeFromListedOperationsAlone) {
  const std::string graph =
      TfGraph({TfNode("a", "Relu", {"x"}), TfNode("part", "Slice", {"a"}), TfNode("b", "Neg", {"part:0"}),
               TfNode("c", "MatMul", {"a", "a"}), TfNode("d", "Relu", {"c", "^part"}), TfNode("e", "NoSuchOp", {"a"})});
  for (const char* whole : {"x", "a", "a:0", "c"}) EXPECT_FALSE(EffectsOf(graph, {whole}).gives_parts) << whole;
  // An operation may pass on the memory of its input.
  for (const char* part : {"part", "b", "b:0", "d", "e"}) EXPECT_TRUE(EffectsOf(graph, {part}).gives_parts) << part;
  EXPECT_TRUE(EffectsOf(graph, {"a", "part"}).gives_parts);
  EXPECT_FALSE(EffectsOf(graph, {"a"}).keeps_state);
}

TEST(TensorFlowScan, FunctionsGiveWhatTheirOperationsGive) {
  const std::vector<std::string> functions = {
      TfFunction("whole", {TfNode("y", "Relu")}), TfFunction("part", {TfNode("y", "Unpack")}),
      TfFunction("deep", {TfNode("y", "PartitionedCall", {}, FunctionAttribute("f", "part"))})};
  for (const char* call : {"PartitionedCall", "StatefulPartitionedCall"}) {
    for (const char* name : {"whole", "part", "deep"}) {
      const std::string graph = TfGraph({TfNode("y", call, {"x"}, FunctionAttribute("f", name))}, functions);
      EXPECT_EQ(EffectsOf(graph, {"y"}).gives_parts, name != std::string("whole")) << call << " " << name;
    }
  }
  EXPECT_FALSE(EffectsOf(TfGraph({TfNode("y", "whole", {"x"})}, functions), {"y"}).gives_parts);
  EXPECT_TRUE(EffectsOf(TfGraph({TfNode("y", "deep", {"x"})}, functions), {"y"}).gives_parts);
}

// Loading made what a variable holds. One that a run assigns may get anything.
TEST(TensorFlowScan, VariablesAreWholeWhereNothingAssignsThem) {
  const std::vector<std::string> reads = {TfNode("v", "VarHandleOp"), TfNode("w", "ReadVariableOp", {"v"}),
                                          TfNode("y", "MatMul", {"x", "w"})};
  EXPECT_FALSE(EffectsOf(TfGraph(reads), {"y"}).gives_parts);
  std::vector<std::string> writes = reads;
  writes.push_back(TfNode("set", "AssignVariableOp", {"v", "x"}));
  writes.push_back(TfNode("z", "Identity", {"w", "^set"}));
  const Effects effects = EffectsOf(TfGraph(writes), {"z"});
  EXPECT_TRUE(effects.gives_parts && effects.keeps_state && effects.keeps_inputs);
  // That other outputs' operations assign it counts for those alone.
  EXPECT_FALSE(EffectsOf(TfGraph(writes), {"y"}).keeps_state);
}

}  // namespace
}  // namespace wasinn::test
