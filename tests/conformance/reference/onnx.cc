#include "backends/native.h"
#include "reference/reference.h"

namespace wasinn::testing {

Infer OpenModel(const std::string& path, const Names&, const Names&) {
  const auto ort = std::make_shared<test::NativeOrt>();
  return [ort, model = test::ReadFile(path)](const auto& inputs) { return ort->Run(model, inputs); };
}

}  // namespace wasinn::testing
