#include "backends/native.h"
#include "reference/reference.h"

namespace wasinn::testing {

Infer OpenModel(const std::string& path, const std::string&, const std::string&) {
  const auto ort = std::make_shared<test::NativeOrt>();
  return
      [ort, model = test::ReadFile(path)](const test::Tensor& input) { return ort->Run(model, {input}).at(0).bytes; };
}

}  // namespace wasinn::testing
