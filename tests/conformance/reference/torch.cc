#include "backends/torch_models.h"
#include "reference/reference.h"

namespace wasinn::testing {

Infer OpenModel(const std::string& path, const std::string&, const std::string&) {
  const auto model = std::make_shared<test::NativeTorch>(test::ReadFile(path));
  return [model](const test::Tensor& input) { return model->Run({input}).at(0).bytes; };
}

}  // namespace wasinn::testing
