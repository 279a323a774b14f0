// Models that harm the process in which TensorFlow loads or computes them: in workers.
#include "backends/isolated.h"
#include "backends/tensorflow_writer.h"
#include "backends/test_host.h"
#include "support/test.h"

namespace wasinn::test {
namespace {

const std::string kFloats = TypeAttribute("T", 1);

Brought Of(const std::string& name, const std::string& bytes) {
  return {.name = name, .builders = {bytes}, .inputs = {Floats({4}, {1, 2, 3, 4})}};
}

Workers TensorFlow() { return {Encoding::kTensorFlow, Of("honest", TfGraph({TfNode("y", "Exp", {"x"}, kFloats)}))}; }

// y = x in a shape that no machine has memory for.
std::string Broadcast(const std::vector<int32_t>& shape) {
  return TfGraph({TfIntegers("shape", shape), TfNode("one", "Sum", {"x", "axis"}, kFloats + TypeAttribute("Tidx", 3)),
                  TfIntegers("axis", {0}),
                  TfNode("y", "BroadcastTo", {"one", "shape"}, kFloats + TypeAttribute("Tidx", 3))});
}

TEST(TensorFlowIsolated, ModelsThatCrashedTheirProcess) {
  Workers workers = TensorFlow();
  const std::string calls_itself = TfFunction("f", {TfNode("n", "PartitionedCall", {}, FunctionAttribute("f", "f"))});
  for (const Brought& model : {
           Of("large", Broadcast({1 << 30, 1 << 30})),
           Of("negative", Broadcast({-5, 1 << 20})),
           Of("argument", TfGraph({TfNode("bad", "_Arg")})),
           Of("compiled",
              TfGraph({TfNode("y", "Identity", {"x"}, kFloats + Attribute("_XlaMustCompile", NumberField(5, 1)))})),
           Of("recursion", TfGraph({TfNode("y", "f", {})}, {calls_itself})),
           Of("circle", TfGraph({TfNode("y", "Exp", {"z"}, kFloats), TfNode("z", "Exp", {"y"}, kFloats)})),
       }) {
    (void)workers.TryBesideHonest(model);  // some do no harm here
  }
}

TEST(TensorFlowIsolated, DamagedModels) {
  Workers workers = TensorFlow();
  for (const char* name : {"mean.pb", "function.pb", "unique.pb"}) {
    workers.TryDamaged(40, Of(name, ModelBytes(name)),
                       [](char /*byte*/, uint32_t random) { return static_cast<char>(random); });
  }
}

}  // namespace
}  // namespace wasinn::test
