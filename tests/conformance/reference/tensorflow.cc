#include "backends/tensorflow_native.h"
#include "reference/reference.h"

namespace wasinn::testing {

Infer OpenModel(const std::string& path, const Names& inputs, const Names& outputs) {
  using test::NativeTensorFlow;
  const auto model =
      std::make_shared<NativeTensorFlow>(path.ends_with(".pb") ? NativeTensorFlow::Graph(test::ReadFile(path))
                                                               : NativeTensorFlow::SavedModel(path, {"serve"}));
  return [=](const std::vector<test::Tensor>& tensors) {
    test::NamedTensors named;
    for (size_t i = 0; i < tensors.size(); ++i) named.emplace_back(inputs.at(i), tensors[i]);
    return model->Run(named, outputs);
  };
}

}  // namespace wasinn::testing
