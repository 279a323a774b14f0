#include "hostile/tflite_killers.h"

#include "backends/tflite_writer.h"

namespace wasinn::testing {
namespace {

using test::TfLiteGraph;

// y = x, as long as the graph `condition` says so taken through the graph `body`.
TfLiteGraph Loop(int32_t condition, int32_t body) {
  return {.tensors = {{.name = "x", .shape = {1}}, {.name = "y", .shape = {1}}},
          .inputs = {0},
          .outputs = {1},
          .operators = {{.code = test::kOpWhile,
                         .inputs = {0},
                         .outputs = {1},
                         .options_type = test::kWhileOptions,
                         .options = {condition, body}}}};
}

}  // namespace

std::string EndlessTfLite() {
  const TfLiteGraph always = {
      .tensors = {{.name = "v", .shape = {1}}, {.name = "go", .type = test::kTfBool, .shape = {1}}},
      .inputs = {0},
      .outputs = {1},
      .operators = {{.code = test::kOpEqual, .inputs = {0, 0}, .outputs = {1}}}};
  const TfLiteGraph body = {
      .tensors = {{.name = "v", .shape = {1}}, {.name = "w", .shape = {1}}},
      .inputs = {0},
      .outputs = {1},
      .operators = {{.code = test::kOpAdd, .inputs = {0, 0}, .outputs = {1}, .options_type = test::kAddOptions}}};
  return test::WriteTfLite({Loop(1, 2), always, body});
}

}  // namespace wasinn::testing
