#include "backends/tensorflow_native.h"
#include "reference/reference.h"

namespace wasinn::testing {

Infer OpenModel(const std::string& path, const std::string& input, const std::string& output) {
  using test::NativeTensorFlow;
  const auto model =
      std::make_shared<NativeTensorFlow>(path.ends_with(".pb") ? NativeTensorFlow::Graph(test::ReadFile(path))
                                                               : NativeTensorFlow::SavedModel(path, {"serve"}));
  return [=](const test::Tensor& tensor) { return model->Run({{input, tensor}}, {output}).at(0).bytes; };
}

}  // namespace wasinn::testing
