#include "backends/tflite_native.h"
#include "reference/reference.h"

namespace wasinn::testing {

Infer OpenModel(const std::string& path, const Names&, const Names&) {
  return [model = test::ReadFile(path)](const auto& inputs) { return test::RunTfLite(model, inputs); };
}

}  // namespace wasinn::testing
