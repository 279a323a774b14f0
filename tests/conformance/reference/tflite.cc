#include "backends/tflite_native.h"
#include "reference/reference.h"

namespace wasinn::testing {

Infer OpenModel(const std::string& path, const std::string&, const std::string&) {
  return
      [model = test::ReadFile(path)](const test::Tensor& input) { return test::RunTfLite(model, {input}).at(0).bytes; };
}

}  // namespace wasinn::testing
