// Models that harm the process in which TensorFlow loads or computes them: in workers.
#include <gtest/gtest.h>

#include <random>

#include "backends/isolated.h"
#include "backends/tensorflow_writer.h"
#include "backends/test_host.h"

namespace wasinn::test {
namespace {

const std::string kFloats = TypeAttribute("T", 1);

Brought Of(const std::string& name, const std::string& bytes) {
  return {.name = name, .blobs = {bytes}, .inputs = {Floats({4}, {1, 2, 3, 4})}};
}

Workers TensorFlow() { return {Encoding::kTensorFlow, Of("honest", TfGraph({TfNode("y", "Exp", {"x"}, kFloats)}))}; }

std::string Numbers(const std::string& name, const std::vector<int32_t>& values) {
  const std::string dims = BytesField(2, BytesField(2, NumberField(1, values.size())));
  const std::string content(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int32_t));
  return TfNode(
      name, "Const", {},
      TypeAttribute("dtype", 3) + Attribute("value", BytesField(8, NumberField(1, 3) + dims + BytesField(4, content))));
}

// y = x in a shape that no machine has memory for.
std::string Broadcast(const std::vector<int32_t>& shape) {
  return TfGraph({Numbers("shape", shape), TfNode("one", "Sum", {"x", "axis"}, kFloats + TypeAttribute("Tidx", 3)),
                  Numbers("axis", {0}),
                  TfNode("y", "BroadcastTo", {"one", "shape"}, kFloats + TypeAttribute("Tidx", 3))});
}

TEST(TensorFlowIsolated, WhatHarmedItsProcess) {
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

// Single bytes of good models changed.
TEST(TensorFlowIsolated, CorruptModels) {
  Workers workers = TensorFlow();
  constexpr unsigned kSeed = 5;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (const char* name : {"mean.pb", "function.pb", "unique.pb"}) {
    const std::string good = ModelBytes(name);
    workers.TryVariants(40, [&] {
      std::string bad = good;
      bad[random() % bad.size()] = static_cast<char>(random());
      return Of(name, bad);
    });
  }
}

}  // namespace
}  // namespace wasinn::test
