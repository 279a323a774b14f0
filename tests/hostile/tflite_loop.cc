#include "hostile/tflite_loop.h"

#include "backends/tflite_writer.h"

namespace wasinn::testing {

std::string EndlessTfLite() {
  using namespace test;
  const TfGraph loop = {
      .tensors = {{.name = "x", .shape = {1}}, {.name = "y", .shape = {1}}},
      .inputs = {0},
      .outputs = {1},
      .operators = {
          {.code = kOpWhile, .inputs = {0}, .outputs = {1}, .options_type = kWhileOptions, .options = {1, 2}}}};
  const TfGraph always = {.tensors = {{.name = "v", .shape = {1}}, {.name = "go", .type = kTfBool, .shape = {1}}},
                          .inputs = {0},
                          .outputs = {1},
                          .operators = {{.code = kOpEqual, .inputs = {0, 0}, .outputs = {1}}}};
  const TfGraph body = {.tensors = {{.name = "v", .shape = {1}}, {.name = "w", .shape = {1}}},
                        .inputs = {0},
                        .outputs = {1},
                        .operators = {{.code = kOpAdd, .inputs = {0, 0}, .outputs = {1}, .options_type = kAddOptions}}};
  return WriteTfLite({loop, always, body});
}

}  // namespace wasinn::testing
