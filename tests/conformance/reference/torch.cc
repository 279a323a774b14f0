#include "backends/torch_models.h"
#include "reference/reference.h"

namespace wasinn::testing {

Infer OpenModel(const std::string& path, const Names&, const Names&) {
  const auto model = std::make_shared<test::NativeTorch>(test::ReadFile(path));
  return [model](const auto& inputs) { return model->Run(inputs); };
}

}  // namespace wasinn::testing
