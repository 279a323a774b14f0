// The contract, on TensorFlow Lite.
#include "backends/contract_test.h"
#include "backends/tflite_options.h"
#include "backends/tflite_writer.h"

namespace wasinn::test {
namespace {

constexpr int32_t kOpSub = 41;
constexpr uint8_t kSubOptions = 28;

TfTensor Rows(const std::string& name, int32_t rows) {
  TfTensor tensor = {.name = name, .shape = {rows < 0 ? 1 : rows, 2}};
  if (rows < 0) tensor.signature = {-1, 2};
  return tensor;
}

Subject TfLite(const std::string& name, int32_t rows) {
  return {.name = name,
          .bytes =
              [=] {
                return WriteTfLite(
                    {{.tensors = {Rows("a", rows), Rows("b", rows), Rows("difference", rows), Rows("sum", rows)},
                      .inputs = {0, 1},
                      .outputs = {2, 3},
                      .operators = {{.code = kOpSub, .inputs = {0, 1}, .outputs = {2}, .options_type = kSubOptions},
                                    {.code = kOpAdd, .inputs = {0, 1}, .outputs = {3}, .options_type = kAddOptions}}}});
              },
          .options = TfLiteOptions(),
          .inputs = {{.name = "a", .dims = {rows, 2}}, {.name = "b", .dims = {rows, 2}}},
          .outputs = {{.name = "difference", .dims = {rows, 2}}, {.name = "sum", .dims = {rows, 2}}},
          .compute = DifferenceAndSum,
          .takes_outputs = false,
          .bindable = rows < 0 ? 0U : 2U,
          .shares_slots = true};
}

// Its outputs are its inputs, one by its own name.
Subject PassedOn() {
  return {.name = "PassedOn",
          .bytes =
              [] {
                return WriteTfLite(
                    {{.tensors = {Rows("a", 2),
                                  Rows("b", 2),
                                  Rows("same", 2),
                                  {.name = "shape", .type = kTfInt32, .shape = {2}, .data = DataOf<int32_t>({2, 2})}},
                      .inputs = {0, 1},
                      .outputs = {0, 2},
                      .operators = {{.code = kOpReshape, .inputs = {1, 3}, .outputs = {2}}}}});
              },
          .options = TfLiteOptions(),
          .inputs = {{.name = "a"}, {.name = "b"}},
          .outputs = {{.name = "a"}, {.name = "same"}},
          .compute = InputsThemselves,
          .takes_outputs = false,
          .bindable = 1,
          .shares_slots = true};
}

EXPECT_CONTRACT(TfLite, Contract, TfLite("Fixed", 2), TfLite("Open", -1), PassedOn());
EXPECT_CONTRACT(TfLite, ContractOfShapes, TfLite("Open", -1));
EXPECT_FRAMEWORK(TfLite, {.name = "TensorFlow Lite",
                          .install = "tflite",
                          .subject = TfLite("Open", -1),
                          .guest_keys = {{"threads", "signature"}},
                          .no_device = "_delegate"});

}  // namespace
}  // namespace wasinn::test
