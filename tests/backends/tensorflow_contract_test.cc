// The contract, on TensorFlow.
#include "backends/contract_test.h"
#include "backends/tensorflow_writer.h"

namespace wasinn::test {
namespace {

// Floats of [rows, 2].
std::string Placeholder(const std::string& name, int64_t rows) {
  const std::string shape =
      BytesField(2, NumberField(1, static_cast<uint64_t>(rows))) + BytesField(2, NumberField(1, 2));
  return TfNode(name, "Placeholder", {}, TypeAttribute("dtype", 1) + Attribute("shape", BytesField(7, shape)));
}

Subject TensorFlow(const std::string& name, int64_t rows) {
  return {.name = name,
          .bytes =
              [=] {
                return TfGraphOf({Placeholder("a", rows), Placeholder("b", rows),
                                  TfNode("difference", "Sub", {"a", "b"}, TypeAttribute("T", 1)),
                                  TfNode("sum", "AddV2", {"a", "b"}, TypeAttribute("T", 1))});
              },
          .options = {.encoding = "tensorflow"},
          .inputs = {{.name = "a", .dims = {rows, 2}}, {.name = "b", .dims = {rows, 2}}},
          .outputs = {{.name = "difference", .dims = {rows, 2}}, {.name = "sum", .dims = {rows, 2}}},
          .compute = DifferenceAndSum,
          .wants_outputs = true};
}

// An Identity hands on its input's memory.
Subject PassedOn() {
  Subject subject = TensorFlow("PassedOn", 2);
  subject.bytes = [] {
    return TfGraphOf({Placeholder("a", 2), Placeholder("b", 2),
                      TfNode("same_a", "Identity", {"a"}, TypeAttribute("T", 1)),
                      TfNode("same_b", "Identity", {"b"}, TypeAttribute("T", 1))});
  };
  subject.outputs = {{.name = "same_a"}, {.name = "same_b"}};
  subject.compute = InputsThemselves;
  return subject;
}

EXPECT_CONTRACT(TensorFlow, Contract, TensorFlow("Fixed", 2), TensorFlow("Open", -1), PassedOn());
EXPECT_CONTRACT(TensorFlow, ContractOfShapes, TensorFlow("Open", -1));
EXPECT_FRAMEWORK(TensorFlow, {.name = "TensorFlow",
                              .install = "tensorflow",
                              .subject = TensorFlow("Open", -1),
                              .guest_keys = {{"signature", "tags", "outputs"}},
                              .no_device = "target "});

}  // namespace
}  // namespace wasinn::test
